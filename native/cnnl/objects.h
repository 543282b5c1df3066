// Objects behind handles. A value that is no live object is recognised without an access to memory.
#ifndef CNNL_OBJECTS_H_
#define CNNL_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "reason.h"

namespace cnnl {

template <typename Object, typename Handle>
class Objects {
 public:
  explicit Objects(const char *kind) : kind_(kind) {}

  cnnlStatus_t create(const char *function, Handle *handle) {
    if (handle == nullptr) return refuse_null(function, kind_);
    auto object = std::make_unique<Object>();
    *handle = reinterpret_cast<Handle>(object.get());
    const std::lock_guard<std::mutex> lock(mutex_);
    objects_[*handle] = std::move(object);
    return CNNL_STATUS_SUCCESS;
  }

  cnnlStatus_t destroy(const char *function, Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return objects_.erase(handle) != 0 ? CNNL_STATUS_SUCCESS : dead(function, kind_);
  }

  // Calls change(object) while no other thread uses the object.
  template <typename Change>
  cnnlStatus_t with(const char *function, const char *argument, Handle handle, const Change &change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = objects_.find(handle);
    return entry != objects_.end() ? change(*entry->second) : dead(function, argument);
  }

  // Copies the object.
  cnnlStatus_t get(const char *function, const char *argument, Handle handle, Object *object) {
    return with(function, argument, handle, [object](const Object &found) {
      *object = found;
      return CNNL_STATUS_SUCCESS;
    });
  }

 private:
  static cnnlStatus_t dead(const char *function, const char *argument) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected a living object of this kind", function, argument);
  }

  const char *kind_;
  std::mutex mutex_;
  std::unordered_map<Handle, std::unique_ptr<Object>> objects_;
};

}  // namespace cnnl

#endif  // CNNL_OBJECTS_H_
