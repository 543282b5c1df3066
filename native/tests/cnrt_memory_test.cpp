// Memory of the device: allocations, copies, fills.
#include "cnrt.h"

#include <algorithm>
#include <climits>
#include <cstdint>

#include "harness.h"
#include "machine/memory.h"
#include "mlusim.h"
#include "mlusim_source.h"
#include "sim_runtime.h"

TEST(allocations_are_counted_and_freed) {
  const mlusimCounters before = counters();
  std::size_t free_before = 0, free_now = 0, total = 0;
  CHECK_EQ(cnrtMemGetInfo(&free_before, &total), cnrtSuccess);
  CHECK(free_before <= total);
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations + 1);
  CHECK_EQ(counters().live_bytes, before.live_bytes + 1000);
  CHECK_EQ(cnrtMemGetInfo(&free_now, nullptr), cnrtSuccess);
  CHECK_EQ(free_before - free_now, 1024u);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(counters().live_allocations, before.live_allocations);
  CHECK_EQ(cnrtMalloc(&pointer, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMalloc(&pointer, total + 1), cnrtErrorNoMem);
  CHECK_EQ(cnrtMalloc(&pointer, SIZE_MAX), cnrtErrorNoMem);
  CHECK_EQ(cnrtMallocConstant(&pointer, 16), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
}

TEST(what_cannot_be_freed) {
  int on_host = 0;
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(cnrtFree(static_cast<char *>(pointer) + 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtFree(&on_host), cnrtErrorArgsInvalid);
  CHECK(says("got host memory"));
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  CHECK(says(" of 1000 bytes"));
  CHECK(says(" was freed before"));
  CHECK_EQ(cnrtMemFreeAsync(pointer, nullptr), cnrtErrorArgsInvalid);
}

TEST(a_double_free_is_a_finding_of_the_memory_checker) {
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_MEMORY), 0);
  mlusimClearFindings();
  void *pointer = nullptr;
  CHECK_EQ(cnrtMalloc(&pointer, 1000), cnrtSuccess);
  CHECK_EQ(cnrtFree(pointer), cnrtSuccess);
  CHECK_EQ(mlusimGetFindingCount(), 0u);
  CHECK_EQ(cnrtFree(pointer), cnrtErrorArgsInvalid);
  int value = 0;
  CHECK_EQ(cnrtMemcpy(&value, pointer, 4, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  mlusimFinding findings[2];
  CHECK_EQ(mlusimGetFindingCount(), 2u);
  CHECK_EQ(mlusimGetFinding(0, &findings[0]), 0);
  CHECK_EQ(mlusimGetFinding(1, &findings[1]), 0);
  CHECK_EQ(std::string(findings[0].checker) + " " + findings[0].rule, "memory double-free");
  CHECK_EQ(findings[0].offset, std::int64_t{0});
  CHECK_EQ(std::string(findings[1].rule), "use-after-free");
  CHECK_EQ(findings[1].size, 4u);
  CHECK_EQ(mlusimSetChecks(0), 0);
  mlusimClearFindings();
}

TEST(host_memory_for_copies) {
  void *pointer = nullptr;
  CHECK_EQ(cnrtHostMalloc(&pointer, 5000), cnrtSuccess);
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 4096, 0u);
  std::memset(pointer, 1, 5000);
  cnrtPointerAttributes_t attributes;
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, static_cast<char *>(pointer) + 4999), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeHost && attributes.size == 5000);
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, static_cast<char *>(pointer) + 5000), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeUnregistered);
  CHECK_EQ(cnrtFreeHost(static_cast<char *>(pointer) + 1), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtFreeHost(pointer), cnrtSuccess);
  CHECK_EQ(cnrtFreeHost(pointer), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtHostMalloc(&pointer, 0), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtHostMalloc(&pointer, SIZE_MAX), cnrtErrorSysNoMem);
}

TEST(attributes_of_pointers) {
  const Device<char> memory(1000);
  cnrtPointerAttributes_t attributes;
  CHECK_EQ(cnrtPointerGetAttributes(&attributes, memory.data + 10), cnrtSuccess);
  CHECK(attributes.type == cnrtMemTypeDevice && attributes.device == 0 && attributes.size == 1000);
  CHECK(attributes.deviceBasePointer == memory.data && attributes.devicePointer == memory.data + 10);
  CHECK(attributes.hostPointer == nullptr);
  for (const void *other : {static_cast<const void *>(memory.data + 1000), static_cast<const void *>(&attributes),
                            static_cast<const void *>(nullptr)}) {
    CHECK_EQ(cnrtPointerGetAttributes(&attributes, other), cnrtSuccess);
    CHECK(attributes.type == cnrtMemTypeUnregistered && attributes.devicePointer == nullptr);
  }
}

TEST(copies_in_all_directions) {
  const Bytes bytes = random_bytes(10007, 1);
  Device<unsigned char> first(bytes.size()), second(bytes.size());
  first.set(bytes);
  CHECK(first.get() == bytes);
  CHECK_EQ(cnrtMemcpy(second.data, first.data, bytes.size(), cnrtMemcpyDevToDev), cnrtSuccess);
  CHECK(second.get() == bytes);
  CHECK_EQ(cnrtMemset(second.data, 0x1ff, 5), cnrtSuccess);
  CHECK_EQ(second.get()[4], 0xff);
  CHECK_EQ(second.get()[5], bytes[5]);
  CHECK_EQ(cnrtMemcpy(second.data, first.data, bytes.size(), cnrtMemcpyPeerToPeer), cnrtSuccess);
  CHECK(second.get() == bytes);
  Bytes host(bytes.size());
  CHECK_EQ(cnrtMemcpy(host.data(), const_cast<unsigned char *>(bytes.data()), bytes.size(), cnrtMemcpyHostToHost),
           cnrtSuccess);
  CHECK(host == bytes);
  // Overlapping pieces of one allocation.
  CHECK_EQ(cnrtMemcpy(first.data + 1, first.data, bytes.size() - 1, cnrtMemcpyDevToDev), cnrtSuccess);
  CHECK(std::equal(bytes.begin(), bytes.end() - 1, first.get().begin() + 1));
  for (Device<unsigned char> *source : {&first, &second}) {
    CHECK_EQ(cnrtMemcpy(host.data(), source->data, host.size(), cnrtMemcpyNoDirection), cnrtSuccess);
    CHECK(host == source->get());
    CHECK_EQ(cnrtMemcpyPeer(second.data, 0, first.data, 0, host.size()), cnrtSuccess);
  }
  CHECK_EQ(cnrtMemcpyPeer(second.data, 0, first.data, 8, host.size()), cnrtErrorDeviceInvalid);
}

TEST(copies_that_are_refused) {
  const Device<char> memory(100), other(100);
  std::vector<char> host(200);
  const auto copy = [](void *dst, void *src, std::size_t bytes, cnrtMemTransDir_t dir) {
    return cnrtMemcpy(dst, src, bytes, dir);
  };
  CHECK_EQ(copy(memory.data, host.data(), 101, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("cnrtMemcpy: dst: expected 101 bytes of device memory") && says("of 100 bytes"));
  CHECK_EQ(copy(memory.data + 1, host.data(), 100, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(memory.data - 1, host.data(), 2, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), memory.data + 99, 2, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), host.data() + 100, 8, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("got host memory"));
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  CHECK(says("src: expected 8 bytes of host memory"));
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), memory.data, SIZE_MAX, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  CHECK_EQ(copy(host.data(), mlusim::onchip_range().begin, 8, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  // The other way round.
  CHECK_EQ(copy(memory.data, host.data(), 8, cnrtMemcpyDevToHost), cnrtErrorMemcpyDirectionInvalid);
  CHECK(says("expected a direction from host to device memory, got cnrtMemcpyDevToHost"));
  CHECK_EQ(copy(host.data(), memory.data, 8, cnrtMemcpyHostToDev), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(copy(memory.data, other.data, 8, cnrtMemcpyHostToHost), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(copy(host.data(), host.data(), 8, cnrtMemcpyDevToDev), cnrtErrorMemcpyDirectionInvalid);
  for (const int dir : {-1, 6, INT_MAX}) {
    CHECK_EQ(copy(memory.data, host.data(), 8, number<cnrtMemTransDir_t>(dir)), cnrtErrorMemcpyDirectionInvalid);
  }
  CHECK_EQ(cnrtMemset(host.data(), 0, 8), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMemset(memory.data, 0, 101), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtMemsetAsync(memory.data + 101, 0, 1, nullptr), cnrtErrorArgsInvalid);
  CHECK_EQ(cnrtSyncDevice(), cnrtSuccess);
}

TEST(rectangles) {
  constexpr std::size_t kHostPitch = 37, kDevicePitch = 64, kWidth = 29, kHeight = 17;
  const Bytes bytes = random_bytes(kHostPitch * kHeight, 2);
  Device<unsigned char> memory(kDevicePitch * (kHeight - 1) + kWidth);
  CHECK_EQ(cnrtMemset(memory.data, 9, memory.count), cnrtSuccess);
  CHECK_EQ(cnrtMemcpy2D(memory.data, kDevicePitch, bytes.data(), kHostPitch, kWidth, kHeight, cnrtMemcpyHostToDev),
           cnrtSuccess);
  const Bytes on_device = memory.get();
  for (std::size_t i = 0; i < on_device.size(); ++i) {
    const std::size_t row = i / kDevicePitch, column = i % kDevicePitch;
    CHECK_EQ(on_device[i], column < kWidth ? bytes[row * kHostPitch + column] : 9);
  }
  Bytes back(kHeight * kWidth);
  CHECK_EQ(cnrtMemcpy2D(back.data(), kWidth, memory.data, kDevicePitch, kWidth, kHeight, cnrtMemcpyDevToHost),
           cnrtSuccess);
  for (std::size_t i = 0; i < back.size(); ++i) CHECK_EQ(back[i], bytes[i / kWidth * kHostPitch + i % kWidth]);
  const auto refused = [&](std::size_t pitch, std::size_t width, std::size_t height) {
    return cnrtMemcpy2D(memory.data, pitch, bytes.data(), width, width, height, cnrtMemcpyHostToDev);
  };
  CHECK_EQ(refused(kDevicePitch, kWidth + 1, kHeight), cnrtErrorArgsInvalid);  // one byte behind the end
  CHECK_EQ(refused(kWidth - 1, kWidth, kHeight), cnrtErrorArgsInvalid);        // rows overlap
  CHECK_EQ(refused(SIZE_MAX, kWidth, 3), cnrtErrorArgsInvalid);
  CHECK_EQ(refused(SIZE_MAX / 2 + 1, 1, 3), cnrtErrorArgsInvalid);
  CHECK_EQ(refused(1, 1, SIZE_MAX), cnrtErrorArgsInvalid);
}

TEST(boxes) {
  constexpr std::size_t kPitch = 20, kRows = 7, kPlanes = 5, kWidth = 6, kHeight = 3, kDepth = 2;
  const Bytes bytes = random_bytes(kPitch * kRows * kPlanes, 3);
  Device<unsigned char> memory(kPitch * kRows * kPlanes);
  memory.set(bytes);
  Bytes host(9 * 4 * 3, 7);
  cnrtMemcpy3dParam_t box = {};
  box.srcPtr = {memory.data, kPitch, kPitch, kRows};
  box.srcPos = {3, 2, 1};
  box.dstPtr = {host.data(), 9, 9, 4};
  box.dstPos = {1, 1, 1};
  box.extent = {kWidth, kHeight, kDepth};
  box.dir = cnrtMemcpyDevToHost;
  CHECK_EQ(cnrtMemcpy3D(&box), cnrtSuccess);
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 9; ++x) {
        const bool inside = x >= 1 && x < 1 + kWidth && y >= 1 && z >= 1;
        const std::size_t from = ((z - 1 + 1) * kRows + (y - 1 + 2)) * kPitch + (x - 1 + 3);
        CHECK_EQ(host[(z * 4 + y) * 9 + x], inside ? bytes[from] : 7);
      }
    }
  }
  const auto with = [&box](auto change) {
    cnrtMemcpy3dParam_t changed = box;
    change(changed);
    return cnrtMemcpy3D(&changed);
  };
  CHECK_EQ(with([](auto &b) { b.srcPos.z = 4; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPos = {14, 4, 3}; }), cnrtSuccess);  // the last corner
  CHECK_EQ(with([](auto &b) { b.srcPos = {15, 4, 3}; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPtr.ysize = 2; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPos.y = SIZE_MAX; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.srcPtr.pitch = SIZE_MAX / 4; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.dstPtr.ptr = nullptr; }), cnrtErrorArgsInvalid);
  CHECK_EQ(with([](auto &b) { b.dir = cnrtMemcpyHostToDev; }), cnrtErrorMemcpyDirectionInvalid);
  CHECK_EQ(with([](auto &b) { b.extent.depth = 0; }), cnrtSuccess);
  const auto leaves_the_device = [](auto &b) {
    b.dir = cnrtMemcpyNoDirection;
    b.srcPos.z = std::size_t{1} << 38;
  };
  CHECK_EQ(with(leaves_the_device), cnrtErrorArgsInvalid);
  const auto taken_for_host_memory =
      [](auto &b) {  // a device pointer, and a box so far behind it that it leaves the device
        b.dir = cnrtMemcpyHostToHost;
        b.srcPos.z = std::size_t{1} << 38;
      };
  CHECK_EQ(with(taken_for_host_memory), cnrtErrorArgsInvalid);
}

TEST(what_is_copied_or_set_is_initialised) {
  CHECK_EQ(mlusimSetChecks(MLUSIM_CHECK_INIT), 0);
  {
    Device<char> first(300), second(300);
    const auto written = [](const Device<char> &memory) {
      const unsigned char *shadow = mlusim::init_shadow(memory.data);
      return std::count(shadow, shadow + memory.count, 0xff);
    };
    CHECK(mlusim::init_delta() != 0);
    CHECK_EQ(written(first), 0);
    std::vector<char> host(300);
    CHECK_EQ(cnrtMemcpy2D(first.data, 30, host.data(), 10, 10, 10, cnrtMemcpyHostToDev), cnrtSuccess);
    CHECK_EQ(written(first), 100);
    CHECK_EQ(cnrtMemcpy(second.data, first.data, 295, cnrtMemcpyDevToDev), cnrtSuccess);
    CHECK_EQ(written(second), 100);
    CHECK_EQ(cnrtMemset(second.data, 0, 200), cnrtSuccess);
    CHECK_EQ(written(second), 200 + 30);
    // What is not initialised may be copied to the host, and makes its copy not initialised.
    CHECK_EQ(cnrtMemcpy(host.data(), first.data, 300, cnrtMemcpyDevToHost), cnrtSuccess);
    CHECK_EQ(cnrtMemcpy(second.data, first.data + 10, 20, cnrtMemcpyDevToDev), cnrtSuccess);
    CHECK_EQ(written(second), 180 + 30);
  }
  CHECK_EQ(mlusimSetChecks(0), 0);
}

TEST(the_host_cannot_touch_device_memory_while_it_is_checked) {
  const auto touch = [](std::uint32_t checks) {
    return status_of_child([checks] {
      mlusimSetChecks(checks);
      const Device<int> memory(1000);
      CHECK_EQ(cnrtMemset(memory.data, 0, 4000), cnrtSuccess);
      const volatile int *data = memory.data;
      CHECK_EQ(data[0], 0);
    });
  };
  CHECK_EQ(touch(0), 0);
  const int status = touch(MLUSIM_CHECK_MEMORY);
  CHECK(status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM));
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
