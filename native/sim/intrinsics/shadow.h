// The propagation of the shadow of initialised bytes by instructions: an element that depends on
// undefined bytes is undefined as a whole. Bit masks, and results of bitwise operations, are
// defined bit by bit. Call these functions only while shadows are kept (g_observers.init);
// addresses are those of the data.
#ifndef MLUSIM_INTRINSICS_SHADOW_H_
#define MLUSIM_INTRINSICS_SHADOW_H_

#include <cstddef>
#include <cstdint>

#include "machine/memory.h"

namespace mlusim {

// A vector operand of `count` elements, repeated if the instruction works on more. A null `base`
// means no operand.
struct ShadowSource {
  const void *base = nullptr;
  std::size_t element = 0;
  std::int64_t count = 0;
};

// Marks dst[i] as defined if it is defined in all sources. dst may start at the address of a
// source.
void shadow_elements(void *dst, std::size_t dst_element, std::int64_t count, const ShadowSource &a,
                     const ShadowSource &b = {}, const ShadowSource &c = {});

// Copies the shadow from src to dst, bit by bit.
void shadow_copy(void *dst, const void *src, std::int64_t bytes);

// Marks all bytes as defined or undefined.
void shadow_set(void *dst, std::int64_t bytes, bool defined);

// Whether all bytes are defined; true if no shadow is kept.
bool shadow_defined(const void *address, std::int64_t bytes);

// For domain_check().
template <typename T>
float read_element(const void *base, std::int64_t number, bool *defined) {
  const T *element = static_cast<const T *>(base) + number;
  *defined = shadow_defined(element, sizeof(T));
  return static_cast<float>(*element);
}

// Whether the space has a shadow: constants and arguments have none and count as defined.
inline bool has_shadow(Space space) { return space != Space::kCode && space != Space::kParam; }

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_SHADOW_H_
