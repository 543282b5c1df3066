// What every ops/<family>/cpu.cpp starts from.
//
// These files are compiled once per instruction level. A function with external linkage that two of them share would be kept in
// one copy by the linker, perhaps the one with instructions that the CPU lacks: so everything lives in the namespace of the
// level, and containers, algorithms and other inline code of the C++ library stay out.
#ifndef MLUOPS_CPU_KERNEL_H_
#define MLUOPS_CPU_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/reason.h"
#include "cpu/call.h"
#include "cpu/level.h"
#include "cpu/pool.h"

#ifndef MLUOPS_LEVEL
#error "MLUOPS_LEVEL is the namespace of the instruction level this file is compiled for"
#endif

// Opens and closes the namespace of the level.
#define MLUOPS_BEGIN_LEVEL \
  namespace mluops {       \
  namespace MLUOPS_LEVEL {
#define MLUOPS_END_LEVEL \
  }                      \
  }

// Defines `launch`, the function that entry code calls, as a choice between the levels' `kernel`. It takes effect in the
// compilation for the baseline only. `function` is the one of the ABI that a message names; it may be a member of `problem`.
#if !defined(MLUOPS_LEVEL_IS_BASELINE)
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function) \
  static_assert(true, "the baseline compilation defines the launch function")
#elif defined(MLUOPS_HAVE_X86_64_LEVELS)
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function)   \
  namespace mluops {                                              \
  namespace x86_64_v3 {                                           \
  mluOpStatus_t kernel(const Problem &problem);                   \
  }                                                               \
  namespace x86_64_v4 {                                           \
  mluOpStatus_t kernel(const Problem &problem);                   \
  }                                                               \
  mluOpStatus_t launch(mluOpHandle_t, const Problem &problem) {   \
    const Call call;                                              \
    switch (active_level()) {                                     \
      case Level::kX86V4:                                         \
        return call.status(x86_64_v4::kernel(problem), function); \
      case Level::kX86V3:                                         \
        return call.status(x86_64_v3::kernel(problem), function); \
      case Level::kBaseline:                                      \
        break;                                                    \
    }                                                             \
    return call.status(MLUOPS_LEVEL::kernel(problem), function);  \
  }                                                               \
  }                                                               \
  static_assert(true, "the macro ends with a semicolon")
#else
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function)  \
  namespace mluops {                                             \
  mluOpStatus_t launch(mluOpHandle_t, const Problem &problem) {  \
    const Call call;                                             \
    return call.status(MLUOPS_LEVEL::kernel(problem), function); \
  }                                                              \
  }                                                              \
  static_assert(true, "the macro ends with a semicolon")
#endif

namespace mluops {
namespace MLUOPS_LEVEL {

template <typename T>
static inline T smaller(T a, T b) {
  return a < b ? a : b;
}

template <typename T>
static inline T larger(T a, T b) {
  return a < b ? b : a;
}

constexpr std::size_t kCacheLine = 64;

// Memory that lives as long as its scope and starts at a cache line; `data` is NULL when there was none to be had: a kernel then returns
// out_of_memory(), and must not have written anything yet. A little of it is
// there already: what a call on tiny arrays takes is not worth asking for.
template <typename T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : data_(bytes(count) <= sizeof near_ ? reinterpret_cast<T *>(near_)
                                           : static_cast<T *>(std::aligned_alloc(kCacheLine, bytes(count)))) {}
  ~Scratch() {
    if (data_ != reinterpret_cast<T *>(near_)) std::free(data_);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  T *data() const { return data_; }

 private:
  static std::size_t bytes(std::int64_t count) {
    const std::size_t wanted = static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(T);
    return (wanted + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t kNearBytes = kCacheLine;  // so that nearly all of it is watched to the byte
#else
  static constexpr std::size_t kNearBytes = 8192;
#endif
  alignas(kCacheLine) mutable unsigned char near_[kNearBytes];  // the memory of a constant Scratch is written as well
  T *data_;
};

// Deals out one piece of memory, each part at the start of a cache line. Without memory it only counts.
class Dealer {
 public:
  explicit Dealer(char *memory) : memory_(memory) {}

  template <typename Value>
  Value *deal(std::int64_t count) {
    char *start = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * static_cast<std::int64_t>(sizeof(Value)) + kLine - 1) / kLine * kLine;
    return reinterpret_cast<Value *>(start);
  }
  std::int64_t used() const { return used_; }

 private:
  static constexpr std::int64_t kLine = kCacheLine;
  char *memory_;
  std::int64_t used_ = 0;
};

// Calls body(slot, task) for every task, where two calls that run at the same time have different slots below `slots`. For
// kernels that need scratch memory per running task.
template <typename Body>
static inline void parallel_slots(std::int64_t tasks, std::int64_t slots, const Body &body) {
  run_in_slots(
      tasks, slots,
      [](void *context, int slot, std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) (*static_cast<const Body *>(context))(slot, task);
      },
      const_cast<Body *>(&body));
}

// For loops whose rounds are too short to ask interrupted() every time: asks once for about so many values.
class Patience {
 public:
  // Whether to leave the loop; `values` were worked on since the last time.
  [[gnu::always_inline]] bool ends(std::int64_t values) {
    left_ -= values;
    if (__builtin_expect(left_ > 0, 1)) return false;
    left_ = kValues;
    return interrupted();
  }

 private:
  static constexpr std::int64_t kValues = 1 << 17;
  std::int64_t left_ = kValues;
};

// Calls body(first, behind the last) for stretches of begin .. end, until the call is interrupted: for loops over much in which each
// round takes a few nanoseconds.
template <typename Body>
[[gnu::always_inline]] static inline void for_stretches(std::int64_t begin, std::int64_t end, const Body &body) {
  constexpr std::int64_t kStretch = 1 << 16;
  for (std::int64_t first = begin; first < end && (first == begin || !interrupted()); first += kStretch) {
    body(first, smaller(first + kStretch, end));
  }
}

// The number at `place`, which is used after it was checked. An input may change while it is read: so it is read once.
static inline std::int32_t read_once(const std::int32_t *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

static inline float read_once(const float *place) {
  float value;
  __atomic_load(place, &value, __ATOMIC_RELAXED);
  return value;
}

// Slots worth having: one a thread, no more than tasks, and no second one for work that is done before it gets started.
// `values_per_task` is about how many numbers a task reads or writes.
static inline std::int64_t useful_slots(std::int64_t tasks, std::int64_t values_per_task) {
  constexpr std::int64_t kValuesPerSlot = 16384;
  const std::int64_t worth = values_per_task >= kValuesPerSlot ? tasks : tasks * values_per_task / kValuesPerSlot + 1;
  return smaller(smaller<std::int64_t>(thread_count(), tasks), worth);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_KERNEL_H_
