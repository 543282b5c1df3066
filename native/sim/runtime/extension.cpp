// Functions of mlusim.h about the device, its time limit and its counters.
#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/model.h"
#include "mlusim.h"
#include "runtime/error.h"
#include "runtime/notifier.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

int refuse(const char *function, const char *sentence) {
  explain(cnrtErrorArgsInvalid, "%s: %s", function, sentence);
  return -1;
}

int change_device(const char *function, const mlusimDeviceModel &model) {
  const char *reason = "";
  if (!valid_model(model, &reason)) return refuse(function, reason);
  const char *obstacle = while_idle([&]() -> const char * {
    if (heap_totals().live_allocations != 0) return "device memory is still allocated";
    if (queue_count() != 0) return "there are still queues";
    if (notifier_count() != 0) return "there are still notifiers";
    heap_reset();
    release_memory();
    set_device(model);
    return nullptr;
  });
  return obstacle == nullptr ? 0 : refuse(function, obstacle);
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

int mlusimGetKnownModel(int index, mlusimDeviceModel *model) {
  if (model == nullptr) return refuse(__func__, "model: expected a pointer, got NULL");
  const mlusimDeviceModel *known = known_models();
  for (int i = 0; i < index && known->name[0] != '\0'; ++i) ++known;
  if (index < 0 || known->name[0] == '\0') return refuse(__func__, "index: no model has this number");
  *model = *known;
  return 0;
}

int mlusimGetDevice(mlusimDeviceModel *model) {
  if (model == nullptr) return refuse(__func__, "model: expected a pointer, got NULL");
  const DeviceUse use;
  *model = device();
  return 0;
}

int mlusimSetDevice(const mlusimDeviceModel *model) {
  if (model == nullptr) return refuse(__func__, "model: expected a pointer, got NULL");
  return change_device(__func__, *model);
}

int mlusimSetDeviceByName(const char *name) {
  if (name == nullptr) return refuse(__func__, "name: expected a string, got NULL");
  const mlusimDeviceModel *model = find_model(name);
  if (model != nullptr) return change_device(__func__, *model);
  explain(cnrtErrorArgsInvalid, "%s: name: no model is called '%s'", __func__, name);
  return -1;
}

double mlusimGetTimeLimit(void) { return time_limit(); }

int mlusimSetTimeLimit(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds >= 0 && seconds <= kMost)) return refuse(__func__, "seconds: expected a number from 0 to 1e9");
  set_time_limit(seconds);
  return 0;
}

int mlusimGetCounters(mlusimCounters *counters) {
  if (counters == nullptr) return refuse(__func__, "counters: expected a pointer, got NULL");
  const DeviceUse use;
  const HeapTotals totals = heap_totals();
  counters->launches = launch_count();
  counters->failed_launches = failed_launch_count();
  counters->tasks = task_count();
  counters->live_allocations = totals.live_allocations;
  counters->live_bytes = totals.live_bytes;
  counters->live_queues = queue_count();
  counters->live_notifiers = notifier_count();
  return 0;
}
