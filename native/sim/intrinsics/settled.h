// Comparisons with a known result although an element is undefined.
//
// Kernels fill the padding of one coordinate with infinity, leave the others undefined, and compare
// distances: (inf - x)^2 + u^2 is infinite or NaN for every u, so it is below no radius. Memory
// that was never written is finite (it reads as zeros), so an undefined element that is infinite or
// NaN got its value from a defined one.
#ifndef MLUSIM_INTRINSICS_SETTLED_H_
#define MLUSIM_INTRINSICS_SETTLED_H_

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {

// Create it before the comparison, whose target may be a source. Shorter sources repeat.
class Settled {
 public:
  Settled(const BinaryWork &work, const ShadowSource &a, const ShadowSource &b, std::int64_t count);
  // Whether element i is settled if the comparison gives 0.
  bool holds(std::int64_t i) const { return known_ != nullptr && known_[i] != 0; }
  // Marks the zeros of a vector of results as defined.
  void define_zeros(void *dst, Type type, std::int64_t count) const;

 private:
  const unsigned char *known_ = nullptr;  // by element; null: no element is settled
};

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_SETTLED_H_
