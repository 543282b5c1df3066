// Handles of the C interface: each pointer type of the C interface is a number that is never used
// twice.
//
// So a handle that was destroyed, one of another kind, and any other value are recognised without
// an access to memory. No pointer of a program has such a value, because addresses are not that
// large.
#ifndef MLUSIM_RUNTIME_HANDLES_H_
#define MLUSIM_RUNTIME_HANDLES_H_

#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork.h"

namespace mlusim {

template <typename Object, typename Handle>
class Handles {
 public:
  // `kind` distinguishes the handles of one class from those of others.
  explicit Handles(std::uint8_t kind) : next_((std::uint64_t{0x4d} << 56) | (std::uint64_t{kind} << 48)) {}

  Handle add(std::shared_ptr<Object> object) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    constexpr std::uint64_t kStep = 16;  // as if handles were aligned
    objects_.emplace(next_ + kStep, std::move(object));
    next_ += kStep;
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(next_));
  }

  // Returns the object; null if the handle is not live.
  std::shared_ptr<Object> find(Handle handle) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    const auto entry = objects_.find(key(handle));
    return entry == objects_.end() ? nullptr : entry->second;
  }

  // Returns the object and ends the handle's life. If two threads remove a handle at once, one gets
  // the object.
  std::shared_ptr<Object> remove(Handle handle) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    const auto entry = objects_.find(key(handle));
    if (entry == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(entry->second);
    objects_.erase(entry);
    return object;
  }

  // Ends the life of all handles of a device, and returns their objects.
  std::vector<std::shared_ptr<Object>> remove_all(int device) {
    const std::lock_guard<ForkMutex> lock(mutex_);
    std::vector<std::shared_ptr<Object>> removed;
    removed.reserve(objects_.size());
    for (auto entry = objects_.begin(); entry != objects_.end();) {
      const bool matches = entry->second->device() == device;
      if (matches) removed.push_back(std::move(entry->second));
      entry = matches ? objects_.erase(entry) : std::next(entry);
    }
    return removed;
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
