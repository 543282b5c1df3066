// Handles: what the C interface calls a pointer is a number that no object ever gets again.
//
// So a handle that was destroyed, that belongs to something else or that is no handle at all is told from a living one without
// looking at what it points to. No pointer of a program has such a value, because addresses do not reach that far.
#ifndef MLUSIM_RUNTIME_HANDLES_H_
#define MLUSIM_RUNTIME_HANDLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/fork.h"

namespace mlusim {

template <typename Object, typename Handle>
class Handles {
 public:
  // `kind` tells the handles of one kind of object from those of another.
  explicit Handles(std::uint8_t kind) : next_((std::uint64_t{0x4d} << 56) | (std::uint64_t{kind} << 48)) {}

  Handle add(std::shared_ptr<Object> object) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    constexpr std::uint64_t kStep = 16;  // as if it were aligned
    objects_.emplace(next_ + kStep, std::move(object));
    next_ += kStep;
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(next_));
  }

  // Null if that is no living object's.
  std::shared_ptr<Object> find(Handle handle) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    const auto entry = objects_.find(key(handle));
    return entry == objects_.end() ? nullptr : entry->second;
  }

  // The same, and it is no handle any more. Of two threads that do this, one gets the object.
  std::shared_ptr<Object> remove(Handle handle) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    const auto entry = objects_.find(key(handle));
    if (entry == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(entry->second);
    objects_.erase(entry);
    return object;
  }

  // Ends the life of all handles.
  std::unordered_map<std::uint64_t, std::shared_ptr<Object>> remove_all() {
    const std::lock_guard<ForkMutex> lock(mutex_);
    return std::exchange(objects_, {});
  }

  std::uint64_t count() {
    const std::lock_guard<ForkMutex> lock(mutex_);
    return objects_.size();
  }

 private:
  static std::uint64_t key(Handle handle) { return reinterpret_cast<std::uintptr_t>(handle); }

  ForkMutex mutex_;
  std::uint64_t next_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Object>> objects_;
};

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_HANDLES_H_
