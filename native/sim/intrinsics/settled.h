// Comparisons of undefined elements whose result is known all the same.
//
// Kernels fill the padding of one coordinate with infinity, leave the others undefined, and compare distances: (inf - x)^2 + u^2 is
// infinite or NaN for every u, so it is below no radius. Memory that was never written is finite (it reads as zeros), so an undefined
// element that is infinite or NaN got that from a defined one.
#ifndef MLUSIM_INTRINSICS_SETTLED_H_
#define MLUSIM_INTRINSICS_SETTLED_H_

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {

// Made before the comparison, whose target may be a source. Sources are repeated where they have fewer elements.
class Settled {
 public:
  Settled(const BinaryWork &work, const ShadowSource &a, const ShadowSource &b, std::int64_t count);
  // Whether element i is settled if the comparison came to 0.
  bool holds(std::int64_t i) const { return known_ != nullptr && known_[i] != 0; }
  // Makes the zeros of a vector of results defined.
  void define_zeros(void *dst, Type type, std::int64_t count) const;

 private:
  const unsigned char *known_ = nullptr;  // by element; null: none is
};

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_SETTLED_H_
