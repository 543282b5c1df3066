// bang::experimental::fusor: each step is a vector instruction of its own.
#include "bang_fusor.h"

#include "intrinsics/vector.h"

namespace bang {
namespace experimental {

#define MLUSIM_DEFINE_FUSOR_STEP(name, op)                                                                          \
  template <typename T>                                                                                             \
  fusor<T> &fusor<T>::name(T value) {                                                                               \
    const ::mlusim::BinaryWork work = {::mlusim::arithmetic_loops(), ::mlusim::Binary::op, ::mlusim::type_of<T>()}; \
    ::mlusim::vector_scalar(MLUSIM_CALL("fusor::" #name), work, dst_, src_, &value, count_);                        \
    src_ = dst_;                                                                                                    \
    return *this;                                                                                                   \
  }
MLUSIM_DEFINE_FUSOR_STEP(add, kAdd)
MLUSIM_DEFINE_FUSOR_STEP(sub, kSub)
MLUSIM_DEFINE_FUSOR_STEP(mul, kMul)
MLUSIM_DEFINE_FUSOR_STEP(div, kDiv)

template <typename T>
fusor<T> &fusor<T>::sqrt() {
  ::mlusim::vector_unary(MLUSIM_CALL("fusor::sqrt"), ::mlusim::Unary::kSqrt, ::mlusim::type_of<T>(), dst_, src_,
                         count_);
  src_ = dst_;
  return *this;
}

template class fusor<half>;
template class fusor<float>;

}  // namespace experimental
}  // namespace bang
