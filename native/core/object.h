// Lifetime of the objects behind opaque handles.
//
// Objects live in slabs that are reused but never freed, so the magic word of a destroyed object
// stays readable: a destroyed handle, or one of another kind, is recognised without touching freed
// memory.
#ifndef MLUOPS_CORE_OBJECT_H_
#define MLUOPS_CORE_OBJECT_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/reason.h"

namespace mluops {

// First member of every object. Each kind has its own `magic` while alive.
struct ObjectHeader {
  std::atomic<std::uint32_t> magic{0};
};

constexpr std::uint32_t kDeadMagic = 0xdeadbeefu;

// Whether `object` points to a living T. The memory must be readable, except for null-like and
// misaligned pointers.
template <typename T>
inline bool alive(const T *object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  constexpr std::uintptr_t kFirstPage = 4096;
  if (address < kFirstPage || address % alignof(T) != 0) return false;
  return object->header.magic.load(std::memory_order_acquire) == T::kMagic;
}

template <typename T>
class Pool {
 public:
  // NULL if there is no memory.
  static T *create() {
    Slot *slot = instance().take();
    if (slot == nullptr) return nullptr;
    T *object = new (slot) T();
    object->header.magic.store(T::kMagic, std::memory_order_release);
    return object;
  }

  // For functions that create an object; `object` is unchanged if there is no memory.
  static mluOpStatus_t create(const char *function, T **object) {
    T *const made = create();
    if (made == nullptr) return out_of_memory(function);
    *object = made;
    return MLUOP_STATUS_SUCCESS;
  }

  // False if `object` is not a living T; if two threads destroy the same object, exactly one
  // succeeds.
  static bool destroy(T *object) {
    if (!alive(object)) return false;
    std::uint32_t expected = T::kMagic;
    if (!object->header.magic.compare_exchange_strong(expected, kDeadMagic)) return false;
    object->release();
    instance().give(reinterpret_cast<Slot *>(object));
    return true;
  }

  // An object of this type at namespace scope creates the pool when the library is loaded. A child
  // forked during a lazy creation would wait forever for a thread that does not exist in it.
  struct AtLoad {
    AtLoad() { instance(); }
  };

 private:
  // A free slot keeps the dead object's header; the link of the free list follows it.
  struct alignas(alignof(std::max_align_t)) Slot {
    ObjectHeader header;
    Slot *next;
    unsigned char rest[sizeof(T)];
  };
  static_assert(sizeof(Slot) >= sizeof(T), "a slot holds an object");
  static constexpr std::size_t kSlotsPerSlab = 128;

  // Never destroyed, since descriptors may outlive static destruction. A fork waits until no thread
  // holds the lock, so that the child's pool is consistent and unlocked.
  static Pool &instance() {
    alignas(Pool) static unsigned char memory[sizeof(Pool)];
    static Pool *pool = [] {
      Pool *made = new (memory) Pool();
      pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
      return made;
    }();
    return *pool;
  }
  static void lock_for_fork() { instance().mutex_.lock(); }
  static void unlock_after_fork() { instance().mutex_.unlock(); }

  Slot *take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_ == nullptr) grow();
    Slot *slot = free_;
    if (slot == nullptr) return nullptr;
    free_ = slot->next;
    return slot;
  }

  void give(Slot *slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    slot->next = free_;
    free_ = slot;
  }

  void grow() {
    struct Slab {
      Slab *previous;
      alignas(Slot) unsigned char slots[kSlotsPerSlab * sizeof(Slot)];
    };
    Slab *slab = static_cast<Slab *>(std::malloc(sizeof(Slab)));
    if (slab == nullptr) return;
    slab->previous = static_cast<Slab *>(slabs_);
    slabs_ = slab;  // keeps every slab reachable
    for (std::size_t i = kSlotsPerSlab; i-- > 0;) {
      Slot *slot = new (slab->slots + i * sizeof(Slot)) Slot;
      slot->next = free_;
      free_ = slot;
    }
  }

  std::mutex mutex_;
  Slot *free_ = nullptr;
  void *slabs_ = nullptr;
};

}  // namespace mluops

#endif  // MLUOPS_CORE_OBJECT_H_
