#include "runtime/memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "base/thread_state.h"
#include "check/checks.h"
#include "machine/fiber.h"
#include "machine/heap.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "machine/place.h"
#include "machine/trap.h"
#include "runtime/error.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

// ---- Host memory --------------------------------------------------------------------------------

constexpr std::size_t kHostAlignment = 4096;

// The memory allocated by cnrtHostMalloc.
class HostMemory {
 public:
  void *allocate(std::size_t bytes) {
    if (bytes > SIZE_MAX - kHostAlignment) return nullptr;
    const std::size_t rounded = (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
    char *begin = static_cast<char *>(std::aligned_alloc(kHostAlignment, rounded));
    if (begin == nullptr) return nullptr;
    try {
      const std::lock_guard<ForkMutex> lock(mutex_);
      blocks_.emplace(begin, bytes);
    } catch (...) {
      std::free(begin);
      throw;
    }
    return begin;
  }

  bool free(void *begin) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    if (blocks_.erase(static_cast<char *>(begin)) == 0) return false;
    std::free(begin);
    return true;
  }

  // Finds the block that holds the address.
  bool find(const void *address, Range *block) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    auto entry = blocks_.upper_bound(static_cast<char *>(const_cast<void *>(address)));
    if (entry == blocks_.begin()) return false;
    --entry;
    *block = {entry->first, entry->first + entry->second};
    return block->holds(address);
  }

 private:
  ForkMutex mutex_;
  std::map<char *, std::size_t> blocks_;
};

HostMemory &g_host_memory = *new HostMemory;

ForkMutex &g_protection_mutex = *new ForkMutex;

// ---- Device memory ------------------------------------------------------------------------------

// Allocates memory of the thread's device.
cnrtRet_t allocate(const char *function, void **pointer, std::size_t bytes, const void *pc) {
  if (pointer == nullptr) return refuse_null(function, "pointer");
  if (bytes == 0) return explain(cnrtErrorArgsInvalid, "%s: bytes: expected at least 1, got 0", function);
  if (!prepare_device_memory()) return explain(cnrtErrorSysNoMem, "%s: no addresses for device memory", function);
  const int device = thread_state().device;
  void *begin = heap_allocate(bytes, device, pc);
  if (begin == nullptr) {
    return explain(cnrtErrorNoMem, "%s: bytes: expected at most the %llu that are free, got %zu", function,
                   static_cast<unsigned long long>(heap_free_bytes(device)), bytes);
  }
  *pointer = begin;
  return cnrtSuccess;
}

std::string name(const void *pointer) {
  Allocation allocation;
  return heap_find(pointer, &allocation) ? "the " + allocation_name(allocation) : "it";
}

cnrtRet_t tell(const char *function, void *pointer, Freed freed) {
  switch (freed) {
    case Freed::kDone:
      return cnrtSuccess;
    case Freed::kTwice:
      return blame_host(function, "double-free", pointer, 0, "pointer: " + name(pointer) + " was freed before");
    case Freed::kUnknown:
      break;
  }
  return blame_host(function, "invalid-free", pointer, 0,
                    "pointer: expected the start of an allocation, got " + describe(pointer));
}

cnrtRet_t free_now(const char *function, void *pointer) { return tell(function, pointer, heap_free(pointer)); }

bool is_allocation(const void *pointer) {
  Allocation allocation;
  return heap_find(pointer, &allocation) && allocation.live && allocation.begin == pointer;
}

cnrtRet_t free_when_unused(const char *function, void *pointer) {
  if (pointer == nullptr) return cnrtSuccess;
  // A pointer that cannot be freed needs no wait.
  if (!is_allocation(pointer)) return free_now(function, pointer);
  if (serves_queues()) {
    return explain(cnrtErrorOpsNotPermitted, "%s: a function that a queue runs must not wait", function);
  }
  return tell(function, pointer, free_after_work(pointer));
}

cnrtRet_t free_in_queue(const char *function, void *pointer, cnrtQueue_t handle) {
  const QueueRef queue = queue_of(function, handle);
  if (queue == nullptr) return cnrtErrorInvalidResourceHandle;
  if (pointer == nullptr) return cnrtSuccess;
  if (!is_allocation(pointer)) return free_now(function, pointer);
  Task task;
  task.after_errors = true;
  task.work = [function, pointer] { return free_now(function, pointer); };
  return enqueue(queue, std::move(task));
}

void describe_device_pointer(const void *pointer, cnrtPointerAttributes_t *attributes) {
  Allocation allocation;
  if (!heap_holds(pointer, 1) || !heap_find(pointer, &allocation)) return;
  attributes->type = cnrtMemTypeDevice;
  attributes->device = allocation.device;
  attributes->size = allocation.bytes;
  attributes->devicePointer = const_cast<void *>(pointer);
  attributes->deviceBasePointer = allocation.begin;
}

}  // namespace

bool prepare_device_memory() {
  if (!ensure_memory()) return false;
  ensure_host_handlers();  // from now on the host may touch device memory
  prepare_memory(checks());
  // Closing a large heap takes time, so it is closed only where mistakes are to be found.
  static std::atomic<int> known{-1};
  if (known == ((checks() & MLUSIM_CHECK_MEMORY) != 0 ? 1 : 0)) return true;
  const std::lock_guard<ForkMutex> lock(g_protection_mutex);
  const int on = (checks() & MLUSIM_CHECK_MEMORY) != 0 ? 1 : 0;
  if (known.exchange(on) == on) return true;
  set_heap_protection(on != 0);
  // The setting takes effect when the heap is next closed or opened: do both now.
  open_heap();
  close_heap();
  return true;
}

bool of_device(const void *address) {
  const char *at = static_cast<const char *>(address);
  return at >= onchip_range().begin && at < heap_range().end;
}

cnrtRet_t blame_host(const char *function, const char *rule, const void *pointer, std::size_t bytes,
                     const std::string &sentence) {
  if ((checks() & MLUSIM_CHECK_MEMORY) != 0) {
    FindingText text = {"memory", rule};
    text.address = pointer;
    text.size = bytes;
    text.message = std::string(function) + ": " + sentence;
    report_from_host(text);
  }
  return explain(cnrtErrorArgsInvalid, "%s: %s", function, sentence.c_str());
}

std::string describe(const void *address) {
  const Location location = locate(address);
  if (location.space == Space::kHost) return of_device(address) ? "an address that holds nothing" : "host memory";
  return std::string(name_of(location.space)) + ": " + describe_allocation(address);
}

}  // namespace mlusim

using namespace mlusim;

cnrtRet_t cnrtMalloc(void **pointer, size_t bytes) {
  const void *const pc = __builtin_return_address(0);
  return guarded(__func__, [&](const char *function) { return allocate(function, pointer, bytes, pc); });
}

cnrtRet_t cnrtMallocConstant(void **pointer, size_t bytes) {
  const void *const pc = __builtin_return_address(0);
  return guarded(__func__, [&](const char *function) { return allocate(function, pointer, bytes, pc); });
}

cnrtRet_t cnrtFree(void *pointer) {
  return guarded(__func__, [&](const char *function) { return free_when_unused(function, pointer); });
}

cnrtRet_t cnrtMemAllocAsync(void **pointer, size_t bytes, cnrtQueue_t queue) {
  const void *const pc = __builtin_return_address(0);
  return guarded(__func__, [&](const char *function) {
    if (queue_of(function, queue) == nullptr) return cnrtErrorInvalidResourceHandle;
    return allocate(function, pointer, bytes, pc);
  });
}

cnrtRet_t cnrtMemFreeAsync(void *pointer, cnrtQueue_t queue) {
  return guarded(__func__, [&](const char *function) { return free_in_queue(function, pointer, queue); });
}

cnrtRet_t cnrtHostMalloc(void **pointer, size_t bytes) {
  return guarded(__func__, [&](const char *function) {
    if (pointer == nullptr) return refuse_null(function, "pointer");
    if (bytes == 0) return explain(cnrtErrorArgsInvalid, "%s: bytes: expected at least 1, got 0", function);
    void *begin = g_host_memory.allocate(bytes);
    if (begin == nullptr) return explain(cnrtErrorSysNoMem, "%s: no %zu bytes of host memory", function, bytes);
    *pointer = begin;
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtFreeHost(void *pointer) {
  return guarded(__func__, [&](const char *function) {
    if (pointer == nullptr || g_host_memory.free(pointer)) return cnrtSuccess;
    return explain(cnrtErrorArgsInvalid, "%s: pointer: expected memory from cnrtHostMalloc, got another address",
                   function);
  });
}

cnrtRet_t cnrtMemGetInfo(size_t *free, size_t *total) {
  return guarded(__func__, [&](const char *) {
    if (free != nullptr) *free = heap_free_bytes(thread_state().device);
    if (total != nullptr) *total = static_cast<std::size_t>(device().memory_mib) << 20;
    return cnrtSuccess;
  });
}

cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *attributes, const void *pointer) {
  return guarded(__func__, [&](const char *function) {
    if (attributes == nullptr) return refuse_null(function, "attributes");
    *attributes = {};
    attributes->device = -1;
    Range block;
    if (ensure_memory() && of_device(pointer)) {
      describe_device_pointer(pointer, attributes);
      return cnrtSuccess;
    }
    attributes->hostPointer = const_cast<void *>(pointer);
    if (g_host_memory.find(pointer, &block)) {
      attributes->type = cnrtMemTypeHost;
      attributes->size = block.size();
    }
    return cnrtSuccess;
  });
}
