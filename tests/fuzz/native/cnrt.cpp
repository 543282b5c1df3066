// The runtime and the simulator's control functions: memory, copies, queues, notifiers, host
// functions, launches, devices.
#include "cnrt.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include "abi.h"
#include "bytes.h"
#include "device_model.h"
#include "finding.h"
#include "mlusim.h"
#include "objects.h"

namespace fuzz {
namespace {

constexpr int kMostCalls = 40;
const std::string kQueue = "cnrtQueue_t", kNotifier = "cnrtNotifier_t";

DeviceModel g_memory;
std::atomic<std::uint64_t> g_called{0};

extern "C" void count_call(void *) { ++g_called; }
extern "C" void count_launch(void **) { ++g_called; }

// Functions that wait are refused where a queue runs them.
extern "C" void wait_inside(void *) {
  ++g_called;
  if (call_by_name("cnrtSyncDevice") != cnrtErrorOpsNotPermitted) finding("a host function may wait for the device");
}

mlusimCounters counters() {
  mlusimCounters found = {};
  if (call_by_name("mlusimGetCounters", static_cast<const void *>(&found)) != 0) finding("mlusimGetCounters fails");
  return found;
}

bool is_default(const void *queue) { return reinterpret_cast<std::uintptr_t>(queue) <= 2; }

class Run {
 public:
  Run(Objects &objects, Bytes &bytes) : objects_(objects), bytes_(bytes) {}

  void step() {
    switch (bytes_.below(20)) {
      case 0:
      case 1:
        return g_memory.allocate(bytes_);
      case 2:
        return g_memory.free(bytes_);
      case 3:
      case 4:
        return g_memory.copy(bytes_, nullptr, false);
      case 5:
        return g_memory.copy(bytes_, living_queue(), bytes_.one_in(4));
      case 6:
        return g_memory.copy_box(bytes_, true);
      case 7:
      case 8:
        return g_memory.copy_box(bytes_, false);
      case 9:
        return g_memory.set(bytes_, bytes_.one_in(2) ? living_queue() : nullptr, bytes_.one_in(4));
      case 10:
        return g_memory.ask(bytes_);
      case 11:
        return host_memory();
      case 12:
        return use_queue();
      case 13:
      case 14:
        return use_notifier();
      case 15:
        return host_function();
      case 16:
        return launch();
      case 17:
        return settings();
      case 18:
        return async_memory();
      default:
        return bytes_.one_in(4) ? reset() : set_device();
    }
  }

  // Everything is waited for, told and given back.
  void end() {
    for (int i = 0; i < 3; ++i) call_by_name("cnrtSyncDevice");
    if (call_by_name("cnrtSyncDevice") != 0) finding("an error of a queue is told without end");
    g_memory.settled();
    g_memory.check_all();
    g_memory.end_run();
    objects_.destroy_all();
    const mlusimCounters left = counters();
    if (left.live_allocations != 0)
      finding("%llu allocations are left", static_cast<unsigned long long>(left.live_allocations));
    if (left.live_queues != 0) finding("%llu queues are left", static_cast<unsigned long long>(left.live_queues));
    if (left.live_notifiers != 0)
      finding("%llu notifiers are left", static_cast<unsigned long long>(left.live_notifiers));
    if (changed_ && call_by_name("mlusimSetDeviceByName", static_cast<const void *>("MLU370-X8")) != 0) {
      finding("the device cannot be set at the end of a run: %s", error());
    }
  }

 private:
  static const char *error() { return reinterpret_cast<const char *>(call_by_name("mlusimGetLastError")); }

  const void *living_queue() { return objects_.living(kQueue, bytes_); }

  // A status for what may be no living handle.
  void judge(const char *function, const std::string &type, const void *handle, std::int64_t status, bool default_too) {
    explain("%s %p = %lld", function, handle, static_cast<long long>(status));
    const bool good = objects_.lives(type, handle) || (default_too && type == kQueue && is_default(handle));
    if (!good && status != cnrtErrorInvalidResourceHandle && status != cnrtErrorArgsInvalid) {
      finding("%s answers %lld for what is no living handle", function, static_cast<long long>(status));
    }
    if (good && status == cnrtErrorInvalidResourceHandle) finding("%s takes a living handle for a dead one", function);
  }

  void use_queue() {
    const void *queue = objects_.any(kQueue, bytes_);
    int priority = -5;
    switch (bytes_.below(5)) {
      case 0:
        return judge("cnrtQueueSync", kQueue, queue, call_by_name("cnrtQueueSync", queue), true);
      case 1:
        return judge("cnrtQueueQuery", kQueue, queue, call_by_name("cnrtQueueQuery", queue), true);
      case 2: {
        const std::int64_t status = call_by_name("cnrtQueueGetPriority", queue, static_cast<const void *>(&priority));
        if (status != 0 && priority != -5) finding("cnrtQueueGetPriority writes and then refuses");
        if (status == 0 && (priority < 0 || priority > 7)) finding("a queue has the priority %d", priority);
        return judge("cnrtQueueGetPriority", kQueue, queue, status, true);
      }
      case 3: {
        const std::int64_t status = call_by_name("cnrtQueueDestroy", queue);
        judge("cnrtQueueDestroy", kQueue, queue, status, false);
        if (status == 0) objects_.buried(kQueue, queue);
        return;
      }
      default:
        return create_queue();
    }
  }

  void create_queue() {
    const void *made = nullptr;
    const auto flags = static_cast<std::uint32_t>(bytes_.one_in(6) ? bytes_.number(1) : 0);
    const auto priority = static_cast<std::int32_t>(bytes_.number(static_cast<std::int64_t>(bytes_.below(8))));
    const std::int64_t status =
        call_by_name("cnrtQueueCreateWithPriority", static_cast<const void *>(&made), std::int64_t{flags}, priority);
    const bool legal = flags == 0 && priority >= 0 && priority <= 7;
    if ((status == 0) != legal)
      finding("a queue of priority %d with flags %u: %lld", priority, flags, static_cast<long long>(status));
    if (status != 0 && made != nullptr) finding("cnrtQueueCreateWithPriority writes and then refuses");
    if (status == 0) objects_.adopt(kQueue, made);
  }

  void use_notifier() {
    const void *notifier = objects_.any(kNotifier, bytes_), *queue = living_queue();
    float time = 0;
    const auto flags = static_cast<std::uint32_t>(bytes_.number(static_cast<std::int64_t>(bytes_.below(2))));
    switch (bytes_.below(8)) {
      case 0:
      case 1:
        return judge("cnrtPlaceNotifier", kNotifier, notifier, call_by_name("cnrtPlaceNotifier", notifier, queue),
                     false);
      case 2:
        return judge("cnrtPlaceNotifierWithFlags", kNotifier, notifier,
                     call_by_name("cnrtPlaceNotifierWithFlags", notifier, queue, std::int64_t{flags}), false);
      case 3:
        return judge("cnrtQueueWaitNotifier", kNotifier, notifier,
                     call_by_name("cnrtQueueWaitNotifier", notifier, queue, std::int64_t{flags}), false);
      case 4:
        return judge("cnrtWaitNotifier", kNotifier, notifier, call_by_name("cnrtWaitNotifier", notifier), false);
      case 5:
        return judge("cnrtQueryNotifier", kNotifier, notifier, call_by_name("cnrtQueryNotifier", notifier), false);
      case 6: {
        const char *function = bytes_.one_in(2) ? "cnrtNotifierElapsedTime" : "cnrtNotifierDuration";
        const void *end = objects_.living(kNotifier, bytes_);
        const std::int64_t status = call_by_name(function, notifier, end, static_cast<const void *>(&time));
        if (status == 0 && !std::isfinite(time)) finding("%s gives a time that is none", function);
        return judge(function, kNotifier, notifier, status, false);
      }
      default: {
        const std::int64_t status = call_by_name("cnrtNotifierDestroy", notifier);
        judge("cnrtNotifierDestroy", kNotifier, notifier, status, false);
        if (status == 0) objects_.buried(kNotifier, notifier);
        return;
      }
    }
  }

  void host_function() {
    static void (*const kFunctions[])(void *) = {count_call, wait_inside, nullptr};
    void (*const function)(void *) = kFunctions[bytes_.below(3)];
    const void *queue = objects_.any(kQueue, bytes_);
    const std::uint64_t before = g_called;
    const std::int64_t status = call_by_name("cnrtInvokeHostFunc", queue, reinterpret_cast<const void *>(function),
                                             static_cast<const void *>(nullptr));
    judge("cnrtInvokeHostFunc", kQueue, queue, status, true);
    if (status == 0 && function == nullptr) finding("cnrtInvokeHostFunc accepts NULL");
    if (status != 0) return;
    if (call_by_name("cnrtQueueSync", queue) == 0 && g_called != before + 1)
      finding("a host function was not called once");
  }

  void launch() {
    const cnrtDim3_t dim = {static_cast<unsigned>(bytes_.number(4)), static_cast<unsigned>(bytes_.number(1)),
                            static_cast<unsigned>(bytes_.number(1))};
    const bool endless = static_cast<double>(dim.x) * dim.y * dim.z > 4096;
    if (endless && !bytes_.one_in(16)) return;
    const Value limit = value_of(endless ? 0.2 : 0.0);
    call_values("mlusimSetTimeLimit", &limit, 1);
    const auto type = static_cast<std::int32_t>(bytes_.number(cnrtFuncTypeUnion1));
    const void *queue = objects_.any(kQueue, bytes_);
    const void *kernel = bytes_.one_in(8) ? nullptr : reinterpret_cast<const void *>(count_launch);
    void *arguments[] = {nullptr};
    const std::int64_t status =
        call_by_name("cnrtInvokeKernel", kernel, static_cast<const void *>(&dim), type,
                     static_cast<const void *>(arguments), bytes_.one_in(8) ? bytes_.number(1) : 0, queue);
    judge("cnrtInvokeKernel", kQueue, queue, status, true);
    if (status == 0 && endless) {  // the time limit ends it, and a later call would tell so
      for (int i = 0; i < 3; ++i) call_by_name("cnrtSyncDevice");
    }
    if (status == 0 && kernel == nullptr) finding("cnrtInvokeKernel accepts NULL");
    if (status == 0 && (dim.x == 0 || dim.y == 0 || dim.z == 0)) finding("cnrtInvokeKernel accepts a grid of no tasks");
  }

  void host_memory() {
    const std::int64_t size = bytes_.number(static_cast<std::int64_t>(1 + bytes_.below(5000)));
    const void *memory = nullptr;
    const std::int64_t status = call_by_name("cnrtHostMalloc", static_cast<const void *>(&memory), size);
    explain("cnrtHostMalloc %lld = %lld", static_cast<long long>(size), static_cast<long long>(status));
    if (status == 0 && (size == 0 || memory == nullptr)) finding("cnrtHostMalloc gives no memory");
    if (status != 0 && memory != nullptr) finding("cnrtHostMalloc writes and then refuses");
    if (status != 0) return;
    const auto *inside = static_cast<const char *>(memory) + 8;
    if (call_by_name("cnrtFreeHost", static_cast<const void *>(inside)) == 0) finding("cnrtFreeHost frees the middle");
    if (call_by_name("cnrtFree", memory) == 0) finding("cnrtFree frees host memory");
    if (call_by_name("cnrtFreeHost", memory) != 0) finding("cnrtFreeHost refuses its memory");
    if (call_by_name("cnrtFreeHost", memory) == 0) finding("cnrtFreeHost frees twice");
  }

  void async_memory() {
    const void *queue = objects_.any(kQueue, bytes_);
    const void *memory = nullptr;
    const std::int64_t size = bytes_.number(static_cast<std::int64_t>(1 + bytes_.below(5000)));
    const std::int64_t status = call_by_name("cnrtMemAllocAsync", static_cast<const void *>(&memory), size, queue);
    judge("cnrtMemAllocAsync", kQueue, queue, status, true);
    if (status != 0) return;
    if (call_by_name("cnrtMemFreeAsync", memory, queue) != 0) finding("cnrtMemFreeAsync refuses: %s", error());
    const std::int64_t end = call_by_name("cnrtQueueSync", queue);
    explain("  then cnrtQueueSync = %lld", static_cast<long long>(end));
    if (end != 0 || bytes_.one_in(2)) call_by_name("cnrtSyncDevice");
  }

  void settings() {
    mlusimDeviceModel model;
    mlusimFinding found;
    std::memset(&found, 0x5a, sizeof found);
    switch (bytes_.below(5)) {
      case 0: {
        const std::int64_t status =
            call_by_name("mlusimGetFinding", bytes_.number(0), static_cast<const void *>(&found));
        if (status == 0 && call_by_name("mlusimGetFindingCount") == 0) finding("there is a finding among none");
        if (status != 0 && found.count != 0x5a5a5a5a5a5a5a5a) finding("mlusimGetFinding writes and then refuses");
        return;
      }
      case 1:
        call_by_name("mlusimGetKnownModel", static_cast<std::int32_t>(bytes_.number(1)),
                     static_cast<const void *>(&model));
        return;
      case 2: {
        const auto checks = static_cast<std::uint32_t>(bytes_.number(31));
        const bool accepted = call_by_name("mlusimSetChecks", std::int64_t{checks}) == 0;
        if (accepted != ((checks & ~31u) == 0)) finding("mlusimSetChecks answers wrongly for %u", checks);
        return;
      }
      case 3: {
        const Value value = value_of(bytes_.real(30));
        const double limit = value.real;
        const bool accepted = call_values("mlusimSetTimeLimit", &value, 1) == 0;
        if (accepted != (limit >= 0 && limit <= 1e9)) finding("mlusimSetTimeLimit answers wrongly for %g", limit);
        const Value none = value_of(0.0);
        call_values("mlusimSetTimeLimit", &none, 1);
        return;
      }
      default:
        call_by_name("mlusimClearFindings");
        if (call_by_name("mlusimGetReport") == 0) finding("mlusimGetReport gives NULL");
        return;
    }
  }

  void set_device() {
    mlusimDeviceModel model = {};
    call_by_name("mlusimGetDevice", static_cast<const void *>(&model));
    const mlusimDeviceModel before = model;
    std::int32_t *const figures[] = {&model.arch,      &model.clusters,  &model.cores_per_cluster,
                                     &model.nram_kib,  &model.wram_kib,  &model.sram_kib,
                                     &model.stack_kib, &model.clock_mhz, &model.bandwidth_gb_s};
    for (std::int32_t *figure : figures) {
      if (bytes_.one_in(4)) *figure = static_cast<std::int32_t>(bytes_.number(*figure));
    }
    if (bytes_.one_in(4)) model.memory_mib = bytes_.number(model.memory_mib);
    if (bytes_.one_in(8)) std::memset(model.name, bytes_.byte(), sizeof model.name);
    const mlusimCounters alive = counters();
    const bool busy = alive.live_allocations + alive.live_queues + alive.live_notifiers != 0;
    const std::int64_t status = call_by_name("mlusimSetDevice", static_cast<const void *>(&model));
    explain("mlusimSetDevice = %lld", static_cast<long long>(status));
    changed_ = changed_ || status == 0;
    if (status == 0 && busy) finding("mlusimSetDevice changes a device that is in use");
    mlusimDeviceModel after = {};
    call_by_name("mlusimGetDevice", static_cast<const void *>(&after));
    if (std::memcmp(&after, status == 0 ? &model : &before, sizeof after) != 0) finding("the device is another one");
  }

  void reset() {
    const std::int64_t status = call_by_name("cnrtDeviceReset");
    explain("cnrtDeviceReset = %lld", static_cast<long long>(status));
    objects_.bury_all(kQueue);
    objects_.bury_all(kNotifier);
    g_memory.forget_all();
    const mlusimCounters left = counters();
    if (left.live_allocations + left.live_queues + left.live_notifiers != 0)
      finding("cnrtDeviceReset leaves something");
  }

  Objects &objects_;
  Bytes &bytes_;
  bool changed_ = false;  // the device is another one than at the beginning
};

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  fuzz::load_library();
  if (!fuzz::is_simulator()) fuzz::finding("this target needs the library of the simulator");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  fuzz::Objects objects;
  fuzz::g_memory.begin_run();
  // Random calls in several queues race with each other, which is no fault of the library.
  fuzz::call_by_name("mlusimSetRules", static_cast<const void *>("race/between-queues=record"));
  fuzz::Run run(objects, bytes);
  try {
    for (int i = 0; i < fuzz::kMostCalls && !bytes.done(); ++i) run.step();
    run.end();
  } catch (const fuzz::OpenFinding &) {
    objects.forget_all();
    fuzz::call_by_name("cnrtDeviceReset");
  }
  return 0;
}
