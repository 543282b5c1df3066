// Several devices: the device of a thread's calls, separate memories and queues, copies between
// them, and the finding of the memory checker for a kernel that leaves its device.
#include <cstdint>
#include <thread>

#include "cn_api.h"
#include "cnrt.h"
#include "harness.h"
#include "machine/launch.h"
#include "machine/observer.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

namespace {

// Sets a device for as long as this lives.
struct OnDevice {
  explicit OnDevice(int device) {
    CHECK_EQ(cnrtGetDevice(&before), cnrtSuccess);
    CHECK_EQ(cnrtSetDevice(device), cnrtSuccess);
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice() { CHECK_EQ(cnrtSetDevice(before), cnrtSuccess); }
  int before = 0;
};

int device_of(const void *pointer) {
  cnrtPointerAttributes_t attributes;
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, pointer), cnrtSuccess);
  return attributes.device;
}

std::size_t free_bytes() {
  std::size_t free = 0;
  CHECK_EQ(cnrtMemGetInfo(&free, nullptr), cnrtSuccess);
  return free;
}

std::string last_rule() {
  mlusimFinding finding;
  const std::uint64_t count = mlusimGetFindingCount();
  CHECK(count > 0);
  CHECK_EQ(mlusimGetFinding(count - 1, &finding), 0);
  return std::string(finding.checker) + "/" + finding.rule;
}

// What the hook of a scalar load does.
void note_load(const int *address) {
  const mlusim::Core &core = mlusim::self("kernel", nullptr);
  mlusim::observe({core, mlusim::kScalar, mlusim::Kind::kRead, mlusim::Space::kGdram, mlusim::Region::plain(address, 4),
                   "scalar load", nullptr});
}

}  // namespace

TEST(a_thread_s_device) {
  const OnDevice third(3);
  int device = 0;
  CHECK_EQ(cnrtGetDevice(&device), cnrtSuccess);
  CHECK_EQ(device, 3);
  std::thread([] {
    int fresh = 7;
    CHECK_EQ(cnrtGetDevice(&fresh), cnrtSuccess);
    CHECK_EQ(fresh, 0);
  }).join();
  CHECK_EQ(cnrtSetDevice(-1), cnrtErrorDeviceInvalid);
  CHECK_EQ(cnrtGetDevice(&device), cnrtSuccess);
  CHECK_EQ(device, 3);
}

TEST(devices_are_told_apart) {
  char first[16], second[16];
  cnrtDeviceProp_t here, there;
  CHECK_EQ(cnrtDeviceGetPCIBusId(first, 16, 0), cnrtSuccess);
  CHECK_EQ(cnrtDeviceGetPCIBusId(second, 16, 7), cnrtSuccess);
  CHECK_EQ(std::string(second), "0000:08:00.0");
  CHECK(std::string(first) != second);
  CHECK_EQ(cnrtGetDeviceProperties(&here, 0), cnrtSuccess);
  CHECK_EQ(cnrtGetDeviceProperties(&there, 7), cnrtSuccess);
  CHECK_EQ(std::string(here.name), there.name);
  CHECK(std::memcmp(here.uuid.uuid, there.uuid.uuid, sizeof here.uuid.uuid) != 0);
  CHECK_EQ(cnrtGetDeviceProperties(&there, 8), cnrtErrorDeviceInvalid);
}

TEST(memories_are_separate) {
  const std::size_t before = free_bytes();
  const OnDevice second(1);
  const std::size_t there = free_bytes();
  {
    Device<char> memory(1 << 20);
    CHECK_EQ(device_of(memory.data), 1);
    CHECK_EQ(free_bytes(), there - (1 << 20));
    const OnDevice first(0);
    CHECK_EQ(free_bytes(), before);
    void *all = nullptr;
    CHECK_EQ(cnrtMalloc(&all, before), cnrtSuccess);
    CHECK_EQ(device_of(all), 0);
    CHECK_EQ(free_bytes(), std::size_t{0});
    void *more = nullptr;
    CHECK_EQ(cnrtMalloc(&more, 1), cnrtErrorNoMem);
    const OnDevice again(1);
    CHECK_EQ(cnrtMalloc(&more, 1), cnrtSuccess);
    CHECK_EQ(cnrtFree(more), cnrtSuccess);
    CHECK_EQ(cnrtFree(all), cnrtSuccess);  // memory of any device can be freed
  }
  CHECK_EQ(free_bytes(), there);
}

TEST(queues_belong_to_devices) {
  const OwnedQueue here;
  const OnDevice second(1);
  const OwnedQueue queue;
  Device<int> memory(1);
  memory.set({1});
  {
    Gate gate(here);
    launch(queue, [](int *value) { *value += 1; }, memory.data);
    launch(nullptr, [](int *) {}, memory.data);
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);  // does not wait for the other device
    CHECK_EQ(cnrtQueueQuery(here), cnrtErrorNotReady);
    CHECK(memory.get() == std::vector<int>{2});
  }
  launch_crash(nullptr);
  {
    const OnDevice first(0);
    CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);  // the failure is not this device's
  }
  CHECK_EQ(cnrtSyncDevice(), cnrtErrorKernelTrap);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(copies_between_devices) {
  Device<int> here(4);
  here.set({1, 2, 3, 4});
  const OnDevice second(1);
  Device<int> there(4);
  CHECK_EQ(cnrtMemcpyPeer(there.data, 1, here.data, 0, 16), cnrtSuccess);
  CHECK(there.get() == (std::vector<int>{1, 2, 3, 4}));
  there.set({5, 6, 7, 8});
  const OwnedQueue queue;
  CHECK_EQ(cnrtMemcpyPeerAsync(here.data, 0, there.data, 1, 16, queue), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(here.get() == (std::vector<int>{5, 6, 7, 8}));
  CHECK_EQ(cnrtMemcpy(there.data, here.data, 16, cnrtMemcpyPeerToPeer), cnrtSuccess);
  CHECK_EQ(cnrtMemcpy(there.data, here.data, 16, cnrtMemcpyNoDirection), cnrtSuccess);
  CHECK_EQ(cnrtMemcpyPeer(there.data, 1, there.data, 1, 16), cnrtSuccess);
  CHECK_EQ(cnrtMemcpy(there.data, here.data, 16, cnrtMemcpyDevToDev), cnrtErrorArgsInvalid);
  CHECK(says("dir: expected cnrtMemcpyPeerToPeer for a copy from device 0 to device 1, got cnrtMemcpyDevToDev"));
  CHECK_EQ(cnrtMemcpyPeer(there.data, 0, here.data, 0, 16), cnrtErrorArgsInvalid);
  CHECK(says("dst: expected memory of device 0, got memory of device 1"));
  CHECK_EQ(cnrtMemcpyPeer(there.data, 1, here.data, 8, 16), cnrtErrorDeviceInvalid);
  CHECK(says("src_device: expected 0 to 7, got 8"));
  CHECK_EQ(cnrtMemcpyPeer(there.data, 1, nullptr, 0, 16), cnrtErrorArgsInvalid);
}

TEST(a_reset_is_for_one_device) {
  Device<int> here(1);
  here.set({9});
  const OwnedQueue queue;
  const OnDevice second(1);
  void *lost = nullptr;
  cnrtQueue_t gone = nullptr;
  cnrtNotifier_t notifier = nullptr;
  CHECK_EQ(cnrtMalloc(&lost, 100), cnrtSuccess);
  CHECK_EQ(cnrtQueueCreate(&gone), cnrtSuccess);
  CHECK_EQ(cnrtNotifierCreate(&notifier), cnrtSuccess);
  CHECK_EQ(cnrtDeviceReset(), cnrtSuccess);
  CHECK_EQ(cnrtQueueSync(gone), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtNotifierDestroy(notifier), cnrtErrorInvalidResourceHandle);
  CHECK_EQ(cnrtFree(lost), cnrtErrorArgsInvalid);
  CHECK_EQ(counters().live_allocations, std::uint64_t{1});
  CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
  CHECK(here.get() == std::vector<int>{9});
}

TEST(a_kernel_stays_on_its_device) {
  const unsigned checks = mlusimGetChecks();
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_MEMORY), 0);
  Device<int> here(8);
  here.set(std::vector<int>(8, 1));
  {
    const OnDevice second(1);
    const OwnedQueue queue;
    Device<int> there(8);
    const auto copy = [](int *to, const int *from) {
      note_load(from);
      *to = *from;
    };
    there.set(std::vector<int>(8, 2));
    launch(queue, copy, there.data, static_cast<const int *>(there.data));
    CHECK_EQ(cnrtQueueSync(queue), cnrtSuccess);
    launch(queue, copy, there.data, static_cast<const int *>(here.data));
    CHECK_EQ(cnrtQueueSync(queue), cnrtErrorKernelTrap);
    CHECK_EQ(last_rule(), "memory/other-device");
  }
  CHECK_EQ(mlusimSetChecks(checks), 0);
}

TEST(contexts_of_the_driver) {
  CNcontext first = nullptr, second = nullptr, of_queue = nullptr;
  CNdev device = 7;
  int count = 0;
  CHECK_EQ(cnDeviceGetCount(&count), CN_SUCCESS);
  CHECK_EQ(count, 8);
  CHECK_EQ(cnDeviceGet(&device, 5), CN_SUCCESS);
  CHECK_EQ(device, 5);
  CHECK_EQ(cnDeviceGet(&device, 8), CN_ERROR_INVALID_DEVICE);
  CHECK_EQ(cnCtxGetCurrent(&first), CN_SUCCESS);
  CHECK_EQ(cnSharedContextAcquire(&second, 1), CN_SUCCESS);
  CHECK(first != second);
  CHECK_EQ(cnCtxSetCurrent(second), CN_SUCCESS);
  CHECK_EQ(cnCtxGetDevice(&device), CN_SUCCESS);
  CHECK_EQ(device, 1);
  {
    const OwnedQueue queue;
    CHECK_EQ(cnCtxSetCurrent(first), CN_SUCCESS);
    CHECK_EQ(cnQueueGetContext(queue, &of_queue), CN_SUCCESS);
    CHECK(of_queue == second);
  }
  CHECK_EQ(cnCtxSetCurrent(reinterpret_cast<CNcontext>(reinterpret_cast<std::uintptr_t>(first) + 8)),
           CN_CONTEXT_ERROR_INVALID);
  CHECK_EQ(cnCtxGetDevice(&device), CN_SUCCESS);
  CHECK_EQ(device, 0);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
