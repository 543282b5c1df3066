#include "machine/launch.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "machine/model.h"
#include "machine/trap.h"
#include "mlusim.h"
#include "profile/session.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/memory.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

// A launch in a queue; it owns its arguments.
struct QueuedLaunch {
  Launch launch;
  void (*destroy)(void *arguments) = nullptr;

  QueuedLaunch() = default;
  QueuedLaunch(const QueuedLaunch &) = delete;
  QueuedLaunch &operator=(const QueuedLaunch &) = delete;
  ~QueuedLaunch() {
    leave_profile(launch.profile);
    if (destroy != nullptr) destroy(const_cast<void *>(launch.arguments));
  }
};

cnrtRet_t run(const Launch &launch) {
  const cnrtRet_t error = run_launch(launch);
  if (error == cnrtSuccess) return error;
  tell_failure();
  if (error == cnrtErrorSysNoMem) return explain(error, "kernel %s: out of host memory", launch.kernel.c_str());
  return explain(error, "kernel %s failed; mlusimGetReport() tells why", launch.kernel.c_str());
}

cnrtRet_t check(const Launch &launch) {
  std::string reason;
  const cnrtRet_t error = check_launch(launch, &reason);
  return error == cnrtSuccess ? error : explain(error, "%s", reason.c_str());
}

cnrtRet_t put_into_queue(const char *function, std::shared_ptr<QueuedLaunch> entry, cnrtQueue_t handle) {
  const QueueRef queue = queue_of(function, handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  const cnrtRet_t error = check(entry->launch);
  if (error != cnrtSuccess) return error;
  // The checkers may have changed since the last call that used device memory.
  if (!prepare_device_memory()) return explain(cnrtErrorSysNoMem, "%s: no addresses for device memory", function);
  entry->launch.device = queue->device();
  entry->launch.profile = enter_profile();
  Task task;
  task.work = [entry = std::move(entry)] { return run(entry->launch); };
  return enqueue(queue, std::move(task));
}

// ---- Kernels that were announced ----------------------------------------------------------------

cnrtRet_t refuse_arch(const char *function, const Kernel &kernel) {
  const mlusimDeviceModel &present = device();
  return explain(cnrtErrorInvalidKernel,
                 "%s: kernel %s was compiled for architecture %d, and the device is %s, whose architecture is %d",
                 function, kernel.name, kernel.arch, present.name, present.arch);
}

// Notes the pointers among the arguments. A launch in a source passes the function to call before
// them.
void note_pointers(const Kernel &kernel, void *const *arguments, Launch *launch) {
  const int first = kernel.address == &kernel ? 1 : 0;
  launch->argument_count = kernel.calls.count - first;
  for (int i = first; i < kernel.calls.count; ++i) {
    const std::size_t target = kernel.calls.targets[i];
    if (target == 0) continue;
    const void *value;
    std::memcpy(&value, arguments[i], sizeof value);
    launch->pointers.push_back({value, target, i - first});
  }
}

// Queues a launch with a copy of the arguments, so that the caller need not wait.
cnrtRet_t launch_kernel(const char *function, const Kernel &kernel, cnrtDim3_t dim, cnrtFunctionType_t type,
                        void *const *arguments, cnrtQueue_t handle) {
  if (kernel.arch != 0 && kernel.arch != device().arch) return refuse_arch(function, kernel);
  if (kernel.calls.copy == nullptr) {
    return explain(cnrtErrorInvalidKernel, "%s: kernel: the arguments of %s cannot be copied", function, kernel.name);
  }
  if (arguments == nullptr && kernel.calls.count != 0) return refuse_null(function, "arguments");
  auto entry = std::make_shared<QueuedLaunch>();
  entry->launch.kernel = kernel.name;
  entry->launch.dim = dim;
  entry->launch.type = type;
  entry->launch.invoke = kernel.calls.invoke;
  entry->launch.unit = kernel.unit;
  entry->launch.argument_bytes = kernel.calls.bytes;
  entry->launch.arguments = kernel.calls.copy(arguments);
  entry->destroy = kernel.calls.destroy;  // before the next line, which may throw
  note_pointers(kernel, arguments, &entry->launch);
  return put_into_queue(function, std::move(entry), handle);
}

// ---- Functions that are no kernels --------------------------------------------------------------

using Wrapper = void (*)(void **arguments);

struct WrapperCall {
  Wrapper wrapper;
  void **arguments;
};

void call_wrapper(const void *call) {
  const auto *entry = static_cast<const WrapperCall *>(call);
  entry->wrapper(entry->arguments);
}

// Returns the linker symbol of a function, if it has one.
std::string name_of_function(const void *address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != address) {
    return "(function without a name)";
  }
  const std::unique_ptr<char, void (*)(void *)> readable(abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr),
                                                         std::free);
  return readable != nullptr ? readable.get() : info.dli_sname;
}

cnrtRet_t invoke(const char *function, const void *kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void **arguments,
                 std::size_t reserved, cnrtQueue_t handle) {
  if (kernel == nullptr) return refuse_null(function, "kernel");
  if (reserved != 0) return explain(cnrtErrorArgsInvalid, "%s: reserved: expected 0, got %zu", function, reserved);
  if (const Kernel *known = find_kernel(kernel, device().arch)) {
    return launch_kernel(function, *known, dim, type, arguments, handle);
  }
  if (serves_queues()) {
    return explain(cnrtErrorOpsNotPermitted, "%s: a function that a queue runs must not wait", function);
  }
  const QueueRef queue = queue_of(function, handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  const WrapperCall call = {reinterpret_cast<Wrapper>(reinterpret_cast<std::uintptr_t>(kernel)), arguments};
  Launch launch;
  launch.kernel = name_of_function(kernel);
  launch.dim = dim;
  launch.type = type;
  launch.invoke = call_wrapper;
  launch.arguments = &call;
  launch.argument_bytes = sizeof call;
  const cnrtRet_t error = check(launch);
  if (error != cnrtSuccess) return error;
  Task task;
  task.work = [&launch] { return run(launch); };
  std::uint64_t ticket = 0;
  const cnrtRet_t queued = enqueue(queue, std::move(task), &ticket);
  return queued == cnrtSuccess ? wait_for_ticket(queue, ticket) : queued;
}

}  // namespace
}  // namespace mlusim

cnrtRet_t cnrtInvokeKernel(const void *kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void **arguments,
                           size_t reserved, cnrtQueue_t queue) {
  return mlusim::guarded(__func__, [&](const char *function) {
    return mlusim::invoke(function, kernel, dim, type, arguments, reserved, queue);
  });
}

// Tells on the standard error that a launch was refused, whose error a source cannot see in what
// stands behind `<<<`. A loop of such launches is told in part.
extern "C" MLUSIM_API void mlusim_tellRefusal(const char *kernel) {
  constexpr int kMost = 20;
  static std::atomic<int> told{0};
  const int number = told.fetch_add(1);
  if (number >= kMost) return;
  std::fprintf(stderr, "mlusim: %s was not launched: %s\n", kernel, mlusimGetLastError());
  if (number == kMost - 1) std::fprintf(stderr, "mlusim: further launches that are refused are not told\n");
}
