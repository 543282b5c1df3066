// Results that are known although an operand is undefined.
//
// Kernels fill the padding of one coordinate with infinity, leave the others undefined, and compare
// distances: (inf - x)^2 + u^2 is infinite or NaN for every u, so it is below no radius. Memory
// that was never written is finite (it reads as zeros), so an undefined element that is infinite or
// NaN got its value from a defined one. And nothing but 0 comes out of `and` with a defined 0, or
// out of the product of a defined 0 and the result of a comparison, which is 0 or 1 whatever it is.
#ifndef MLUSIM_INTRINSICS_SETTLED_H_
#define MLUSIM_INTRINSICS_SETTLED_H_

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {

// Create it before the instruction, whose target may be a source. Shorter sources repeat; `value`
// is the second operand of a form with one value, which has no second source.
class Settled {
 public:
  Settled(const BinaryWork &work, const ShadowSource &a, const ShadowSource &b, const void *value, std::int64_t count);
  // Whether result i is settled, which is 0 or not.
  bool holds(std::int64_t i, bool zero) const {
    return known_ != nullptr && (known_[i] == kAlways || (zero && known_[i] == kIfZero));
  }
  // Marks the settled elements of a vector of results as defined.
  void define(void *dst, Type type, std::int64_t count) const;

 private:
  // Whether the result of an element is settled.
  enum Known : unsigned char {
    kNever,
    kTruth,   // not so, but it is 0 or 1
    kIfZero,  // and else 0 or 1
    kAlways
  };
  static Known of_comparison(Binary op, float a, bool a_defined, float b, bool b_defined);
  static bool of_logic(Binary op, const void *element, Type type);
  static Known of_product(Binary op, Type type, const void *a, bool a_defined, const void *b, bool b_defined);
  template <typename Decide>
  void each(Type type, const ShadowSource &a, const ShadowSource &b, std::int64_t count, const Decide &decide);

  unsigned char *known_ = nullptr;  // by element; null: no element is settled
};

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_SETTLED_H_
