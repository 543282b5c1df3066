// A heap array whose allocation can fail without an exception. Throwing itself may need memory: if
// the C++ library was loaded at run time, a thread's first exception allocates thread-local data.
#ifndef MLUOPS_CORE_ARRAY_H_
#define MLUOPS_CORE_ARRAY_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace mluops {

template <typename T>
class Array {
  static_assert(std::is_trivially_copyable<T>::value, "values are copied as bytes");

 public:
  Array() = default;
  ~Array() { std::free(data_); }
  Array(Array &&other) noexcept { swap(other); }
  Array &operator=(Array &&other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }

  // Allocates `count` zeros; false if there is no memory.
  bool make(std::size_t count) {
    Array made;
    if (count > 0) {
      made.data_ = static_cast<T *>(std::calloc(count, sizeof(T)));
      if (made.data_ == nullptr) return false;
    }
    made.size_ = count;
    swap(made);
    return true;
  }

  // The same with a copy of `values`.
  bool copy(const T *values, std::size_t count) {
    if (!make(count)) return false;
    if (count > 0) std::memcpy(data_, values, count * sizeof(T));
    return true;
  }

  std::size_t size() const { return size_; }
  T *begin() const { return data_; }
  T *end() const { return data_ + size_; }
  T &operator[](std::size_t i) const { return data_[i]; }

 private:
  void swap(Array &other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T *data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mluops

#endif  // MLUOPS_CORE_ARRAY_H_
