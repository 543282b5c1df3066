// The device is changed while other threads use it: either the change is refused, or the call sees
// the new device.
#include <algorithm>

#include "sim_runtime.h"

namespace {

// Changes the device again and again until this ends.
class Changes {
 public:
  Changes() = default;
  Changes(const Changes &) = delete;
  Changes &operator=(const Changes &) = delete;
  ~Changes() {
    stop_ = true;
    thread_.join();
    CHECK(changed_ > 0);
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
    CHECK_EQ(mlusimSetDeviceByName("MLU370-X8"), 0);
  }

 private:
  void run() {
    while (!stop_) {
      for (const char *name : {"MLU590", "MLU370-X8"}) changed_ += mlusimSetDeviceByName(name) == 0;
      std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> changed_{0};
  std::thread thread_{[this] { run(); }};
};

constexpr auto kTime = std::chrono::milliseconds(700);

template <typename Body>
void for_a_while(const Body &body) {
  const auto end = std::chrono::steady_clock::now() + kTime;
  while (std::chrono::steady_clock::now() < end) {
    body();
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // in which the device may change
  }
}

}  // namespace

TEST(memory_and_launches_while_the_device_changes) {
  const Changes changes;
  for_a_while([] {
    Device<int> memory(1000);
    memory.set(std::vector<int>(1000, 3));
    launch(nullptr, [](int *values) { values[999] += 1; }, memory.data);
    CHECK_EQ(memory.get()[999], 4);
  });
}

TEST(cores_do_not_outlive_their_memory) {
  const auto run = [] {
    launch(nullptr, [] {});
    CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  };
  run();
  for (int i = 0; i < 50; ++i) {  // the system gives the same addresses again
    CHECK_EQ(mlusimSetDeviceByName("MLU370-X8"), 0);
    run();
  }
}

TEST(launches_without_memory_while_the_device_changes) {
  const Changes changes;
  for_a_while([] {
    launch(nullptr, [] {});
    CHECK_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  });
}

TEST(queues_and_checkers_while_the_device_changes) {
  std::atomic<bool> stop{false};
  std::thread checks([&stop] {
    while (!stop) {
      for (const std::uint32_t mask : {0u, static_cast<std::uint32_t>(MLUSIM_CHECK_ALL), 3u}) mlusimSetChecks(mask);
    }
    mlusimSetChecks(0);
  });
  {
    const Changes changes;
    for_a_while([] {
      const OwnedQueue queue;
      const Device<int> memory(100);
      CHECK_EQ(cnrtMemsetAsync(memory.data, 0, 400, queue), cnrtSuccess);
      launch(queue, [](int *values) { values[99] = 1; }, memory.data);
      CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
    });
  }
  stop = true;
  checks.join();
}

TEST(what_is_told_of_a_device_is_of_one) {
  const Changes changes;
  for_a_while([] {
    mlusimDeviceModel model;
    CHECK_EQ(mlusimGetDevice(&model), 0);
    CHECK_EQ(model.clusters, std::string(model.name) == "MLU590" ? 12 : 4);
    cnrtDeviceProp_t properties;
    CHECK_EQ(cnrtGetDeviceProperties(&properties, 0), cnrtSuccess);
    CHECK_EQ(properties.clusterCount, std::string(properties.name) == "MLU590" ? 12 : 4);
  });
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
