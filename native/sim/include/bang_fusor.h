// Elementwise operations in a chain: bang::experimental::fusor<float>(dst, src,
// n).mul(2).add(1).sqrt();
#ifndef BANG_FUSOR_H_
#define BANG_FUSOR_H_

#include "bang.h"

namespace bang {
namespace experimental {

// The first operation reads src, each later one reads dst. Each happens when it is called, and is
// rounded separately.
template <typename T>
class fusor {
 public:
  MLUSIM_API fusor(T *dst, const T *src, int elem_count) : dst_(dst), src_(src), count_(elem_count) {}
  MLUSIM_API fusor &add(T value);
  MLUSIM_API fusor &sub(T value);
  MLUSIM_API fusor &mul(T value);
  MLUSIM_API fusor &div(T value);
  MLUSIM_API fusor &sqrt();

 private:
  T *dst_;
  const T *src_;
  int count_;
};

extern template class fusor<half>;
extern template class fusor<float>;

}  // namespace experimental
}  // namespace bang

#endif  // BANG_FUSOR_H_
