// The shadow of initialised bytes, as instructions carry it along: an element that came out of undefined bytes is undefined as a
// whole. Bit masks, and what bitwise operations give, are defined bit by bit. To be called only while shadows are kept (g_observers.init); addresses are those of the data.
#ifndef MLUSIM_INTRINSICS_SHADOW_H_
#define MLUSIM_INTRINSICS_SHADOW_H_

#include <cstddef>
#include <cstdint>

#include "machine/memory.h"

namespace mlusim {

// A vector operand: `count` elements, repeated if the instruction works on more. None if `base` is null.
struct ShadowSource {
  const void *base = nullptr;
  std::size_t element = 0;
  std::int64_t count = 0;
};

// dst[i] is defined where all sources are. dst may start where a source does.
void shadow_elements(void *dst, std::size_t dst_element, std::int64_t count, const ShadowSource &a,
                     const ShadowSource &b = {}, const ShadowSource &c = {});

// The bytes of dst are defined, bit for bit, where those of src are.
void shadow_copy(void *dst, const void *src, std::int64_t bytes);

// All bytes become defined or undefined.
void shadow_set(void *dst, std::int64_t bytes, bool defined);

// Whether all bytes are defined; true while no shadow is kept.
bool shadow_defined(const void *address, std::int64_t bytes);

// Whether bytes of the space have a shadow: constants and arguments have none and count as defined.
inline bool has_shadow(Space space) { return space != Space::kCode && space != Space::kParam; }

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_SHADOW_H_
