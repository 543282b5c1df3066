// What the host functions of kernels under test share.
#ifndef KERNELS_HOST_H_
#define KERNELS_HOST_H_

#include <cstddef>
#include <vector>

#include "cnrt.h"

// Device memory for `count` elements; not written unless there is a value to fill it with.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    cnrtMalloc(reinterpret_cast<void **>(&data), count * sizeof(T));
  }
  Buffer(std::size_t count, T value) : Buffer(count) { write(std::vector<T>(count, value)); }
  ~Buffer() { cnrtFree(data); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void write(std::vector<T> values) { cnrtMemcpy(data, values.data(), values.size() * sizeof(T), cnrtMemcpyHostToDev); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    cnrtMemcpy(values.data(), data, count_ * sizeof(T), cnrtMemcpyDevToHost);
    return values;
  }

  T *data = nullptr;

 private:
  std::size_t count_;
};

// Waits for the launches and returns the status of the first one that failed.
inline int finish() { return cnrtQueueSync(nullptr); }

// The same, or 1 if all went well but the buffer does not hold `value` throughout.
template <typename T>
int finish_with(const Buffer<T> &buffer, T value) {
  if (const int code = finish()) return code;
  for (const T &found : buffer.read()) {
    if (found != value) return 1;
  }
  return 0;
}

constexpr cnrtDim3_t kOneTask = {1, 1, 1};
constexpr cnrtDim3_t kTwoTasks = {2, 1, 1};
constexpr cnrtDim3_t kCluster = {4, 1, 1};
constexpr cnrtDim3_t kTwoClusters = {8, 1, 1};

#endif  // KERNELS_HOST_H_
