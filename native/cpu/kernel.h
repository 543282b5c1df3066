// Common helpers of all ops/<family>/cpu.cpp files.
//
// These files are compiled once per instruction level. The linker keeps one copy of an inline
// function with external linkage, possibly one with instructions that the CPU lacks. So everything
// is in the namespace of the level, and containers, algorithms and other inline code of the C++
// library are not used here.
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

// Open and close the namespace of the level.
#define MLUOPS_BEGIN_LEVEL \
  namespace mluops {       \
  namespace MLUOPS_LEVEL {
#define MLUOPS_END_LEVEL \
  }                      \
  }

// MLUOPS_DEFINE_LAUNCH defines `launch`, the function that entry code calls: it selects the
// `kernel` of the active level. Only the baseline compilation defines it. `function` is the ABI
// function that messages name; it may be a member of `problem`.
//
// MLUOPS_DEFINE_COLD_LAUNCH is for kernels whose speed matters less than the time of their
// compilation. Their file is not compiled for x86-64-v4, where they run as compiled for x86-64-v3;
// the build looks for this name in the file.
#if !defined(MLUOPS_LEVEL_IS_BASELINE)
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function) \
  static_assert(true, "the baseline compilation defines the launch function")
#define MLUOPS_DEFINE_COLD_LAUNCH MLUOPS_DEFINE_LAUNCH
#elif defined(MLUOPS_HAVE_X86_64_LEVELS)
#define MLUOPS_DEFINE_LAUNCH_OF(launch, kernel, Problem, function, highest) \
  namespace mluops {                                                        \
  namespace x86_64_v3 {                                                     \
  mluOpStatus_t kernel(const Problem &problem);                             \
  }                                                                         \
  namespace highest {                                                       \
  mluOpStatus_t kernel(const Problem &problem);                             \
  }                                                                         \
  mluOpStatus_t launch(mluOpHandle_t, const Problem &problem) {             \
    const Call call;                                                        \
    switch (active_level()) {                                               \
      case Level::kX86V4:                                                   \
        return call.status(highest::kernel(problem), function);             \
      case Level::kX86V3:                                                   \
        return call.status(x86_64_v3::kernel(problem), function);           \
      case Level::kBaseline:                                                \
        break;                                                              \
    }                                                                       \
    return call.status(MLUOPS_LEVEL::kernel(problem), function);            \
  }                                                                         \
  }                                                                         \
  static_assert(true, "the macro ends with a semicolon")
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function) \
  MLUOPS_DEFINE_LAUNCH_OF(launch, kernel, Problem, function, x86_64_v4)
#define MLUOPS_DEFINE_COLD_LAUNCH(launch, kernel, Problem, function) \
  MLUOPS_DEFINE_LAUNCH_OF(launch, kernel, Problem, function, x86_64_v3)
#else
#define MLUOPS_DEFINE_LAUNCH(launch, kernel, Problem, function)  \
  namespace mluops {                                             \
  mluOpStatus_t launch(mluOpHandle_t, const Problem &problem) {  \
    const Call call;                                             \
    return call.status(MLUOPS_LEVEL::kernel(problem), function); \
  }                                                              \
  }                                                              \
  static_assert(true, "the macro ends with a semicolon")
#define MLUOPS_DEFINE_COLD_LAUNCH MLUOPS_DEFINE_LAUNCH
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

// Scratch memory of a scope, aligned to a cache line. `data` is NULL if the allocation failed: a
// kernel then returns out_of_memory() before it writes anything. Small requests use an inline
// buffer, so that calls on tiny arrays do not allocate.
template <typename T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : data_(bytes(count) <= sizeof inline_ ? reinterpret_cast<T *>(inline_)
                                             : static_cast<T *>(std::aligned_alloc(kCacheLine, bytes(count)))) {}
  ~Scratch() {
    if (data_ != reinterpret_cast<T *>(inline_)) std::free(data_);
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
  static constexpr std::size_t kInlineBytes = kCacheLine;  // so that the sanitizer checks nearly all of it to the byte
#else
  static constexpr std::size_t kInlineBytes = 8192;
#endif
  alignas(kCacheLine) mutable unsigned char inline_[kInlineBytes];  // a constant Scratch has writable memory as well
  T *data_;
};

// Divides one block of memory into parts that start at cache lines. Without memory it only computes
// the size.
class Arena {
 public:
  explicit Arena(char *memory) : memory_(memory) {}

  template <typename Value>
  Value *allocate(std::int64_t count) {
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

// Calls body(slot, task) for every task. Calls that run concurrently have different slots below
// `slots`, so a slot can own scratch memory.
template <typename Body>
static inline void parallel_slots(std::int64_t tasks, std::int64_t slots, const Body &body) {
  run_in_slots(
      tasks, slots,
      [](void *context, int slot, std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) (*static_cast<const Body *>(context))(slot, task);
      },
      const_cast<Body *>(&body));
}

// Calls body(slot, begin, end) for pieces of about `grain` of the indices below `count`. Slots are
// below the number of threads.
template <typename Body>
static inline void parallel_ranges(std::int64_t count, std::int64_t grain, const Body &body) {
  run_parallel(
      count, grain,
      [](void *context, int slot, std::int64_t begin, std::int64_t end) {
        (*static_cast<const Body *>(context))(slot, begin, end);
      },
      const_cast<Body *>(&body));
}

// Polls interrupted() in loops whose iterations are too short to poll each time: once per about
// kValues values.
class InterruptPoll {
 public:
  // Whether to leave the loop; `values` were processed since the last call.
  [[gnu::always_inline]] bool interrupted(std::int64_t values) {
    left_ -= values;
    if (__builtin_expect(left_ > 0, 1)) return false;
    left_ = kValues;
    return mluops::interrupted();
  }

 private:
  static constexpr std::int64_t kValues = 1 << 17;
  std::int64_t left_ = kValues;
};

// Calls body(begin of slice, end of slice) for slices of begin .. end until the call is
// interrupted: for long loops with iterations of a few nanoseconds.
template <typename Body>
[[gnu::always_inline]] static inline void for_slices(std::int64_t begin, std::int64_t end, const Body &body) {
  constexpr std::int64_t kSlice = 1 << 16;
  for (std::int64_t first = begin; first < end && (first == begin || !interrupted()); first += kSlice) {
    body(first, smaller(first + kSlice, end));
  }
}

// Reads an input once. Inputs may change during a call: a value that was checked must not be read
// again.
static inline std::int32_t read_once(const std::int32_t *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

static inline float read_once(const float *place) {
  float value;
  __atomic_load(place, &value, __ATOMIC_RELAXED);
  return value;
}

static inline double read_once(const double *place) {
  double value;
  __atomic_load(place, &value, __ATOMIC_RELAXED);
  return value;
}

// Copies inputs, so that what is checked is what is used.
static inline void copy_once(std::int32_t *to, const std::int32_t *from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *to);
  asm volatile("" : : "r"(to) : "memory");  // the compiler must not read the inputs again
}

// Useful number of slots: at most one per thread and per task, and one for work too small to share.
// `values_per_task` is the approximate number of values that a task reads or writes.
static inline std::int64_t useful_slots(std::int64_t tasks, std::int64_t values_per_task) {
  constexpr std::int64_t kValuesPerSlot = 16384;
  const std::int64_t worth = values_per_task >= kValuesPerSlot ? tasks : tasks * values_per_task / kValuesPerSlot + 1;
  return smaller(smaller<std::int64_t>(thread_count(), tasks), worth);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_KERNEL_H_
