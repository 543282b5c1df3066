// What tests of the simulator's runtime start from: objects that give themselves back, launches,
// functions of the host.
#ifndef MLUOPS_TESTS_SIM_RUNTIME_H_
#define MLUOPS_TESTS_SIM_RUNTIME_H_

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cnrt.h"
#include "harness.h"
#include "mlusim.h"
#include "mlusim_source.h"

using Bytes = std::vector<unsigned char>;

constexpr cnrtDim3_t kOne = {1, 1, 1};

inline const std::string sentence() { return mlusimGetLastError(); }

inline bool says(const char *part) { return sentence().find(part) != std::string::npos; }

template <typename Enum>
Enum number(int value) {
  Enum result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

inline mlusimCounters counters() {
  mlusimCounters result;
  CHECK_EQ(mlusimGetCounters(&result), 0);
  return result;
}

// Device memory that lives as long as this.
template <typename T>
struct Device {
  explicit Device(std::size_t elements) : count(elements) {
    void *pointer = nullptr;
    CHECK_EQ(cnrtMalloc(&pointer, elements * sizeof(T)), cnrtSuccess);
    data = static_cast<T *>(pointer);
  }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device() { CHECK_EQ(cnrtFree(data), cnrtSuccess); }

  void set(const std::vector<T> &values) {
    CHECK_EQ(cnrtMemcpy(data, const_cast<T *>(values.data()), values.size() * sizeof(T), cnrtMemcpyHostToDev),
             cnrtSuccess);
  }
  std::vector<T> get() const {
    std::vector<T> values(count);
    CHECK_EQ(cnrtMemcpy(values.data(), data, count * sizeof(T), cnrtMemcpyDevToHost), cnrtSuccess);
    return values;
  }

  std::size_t count;
  T *data = nullptr;
};

struct OwnedQueue {
  explicit OwnedQueue(int priority = 7) { CHECK_EQ(cnrtQueueCreateWithPriority(&handle, 0, priority), cnrtSuccess); }
  OwnedQueue(const OwnedQueue &) = delete;
  OwnedQueue &operator=(const OwnedQueue &) = delete;
  ~OwnedQueue() { CHECK_EQ(cnrtQueueDestroy(handle), cnrtSuccess); }
  operator cnrtQueue_t() const { return handle; }
  cnrtQueue_t handle = nullptr;
};

struct OwnedNotifier {
  explicit OwnedNotifier(unsigned flags = 0) { CHECK_EQ(cnrtNotifierCreateWithFlags(&handle, flags), cnrtSuccess); }
  OwnedNotifier(const OwnedNotifier &) = delete;
  OwnedNotifier &operator=(const OwnedNotifier &) = delete;
  ~OwnedNotifier() { CHECK_EQ(cnrtNotifierDestroy(handle), cnrtSuccess); }
  operator cnrtNotifier_t() const { return handle; }
  cnrtNotifier_t handle = nullptr;
};

template <typename Call, typename... Values>
void launch(cnrtQueue_t queue, Call call, Values... values) {
  mlusim::mlusim_launch("test_kernel", &mlusim::mlusim_unit, kOne, cnrtFuncTypeBlock, queue, call, values...);
}

// A kernel that the device has to end.
inline void launch_crash(cnrtQueue_t queue) {
  launch(queue, [] {
    const volatile std::uintptr_t nowhere = 64;
    *reinterpret_cast<volatile int *>(nowhere) = 1;
  });
}

// A function that a queue calls.
inline void call_from(cnrtQueue_t queue, std::function<void()> function) {
  auto *copy = new std::function<void()>(std::move(function));
  const cnrtRet_t error = cnrtInvokeHostFunc(
      queue,
      [](void *argument) {
        const std::unique_ptr<std::function<void()>> called(static_cast<std::function<void()> *>(argument));
        (*called)();
      },
      copy);
  CHECK_EQ(error, cnrtSuccess);
}

// The same where the queue may drop it: it owns nothing.
inline void set_from(cnrtQueue_t queue, bool *flag) {
  CHECK_EQ(cnrtInvokeHostFunc(queue, [](void *argument) { *static_cast<bool *>(argument) = true; }, flag), cnrtSuccess);
}

// Stops the queue until it is opened.
class Gate {
 public:
  explicit Gate(cnrtQueue_t queue) {
    call_from(queue, [open = open_] {
      while (!*open) std::this_thread::yield();
    });
  }
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;
  ~Gate() { *open_ = true; }
  void open() { *open_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

// Keeps the device busy with a kernel of the queue until it is opened.
class BusyDevice {
 public:
  explicit BusyDevice(cnrtQueue_t queue) {
    launch(
        queue,
        [](std::atomic<bool> *open) {
          while (!*open) std::this_thread::yield();
        },
        open_.get());
  }
  BusyDevice(const BusyDevice &) = delete;
  BusyDevice &operator=(const BusyDevice &) = delete;
  ~BusyDevice() {
    *open_ = true;
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
  }

 private:
  std::unique_ptr<std::atomic<bool>> open_ = std::make_unique<std::atomic<bool>>(false);
};

inline Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

inline void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// Runs `body` in the child of a fork and returns how it ended, as waitpid() tells it.
inline int status_of_child(const std::function<void()> &body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    harness::failures = 0;
    body();
    _exit(harness::failures == 0 ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return status;
}

#endif  // MLUOPS_TESTS_SIM_RUNTIME_H_
