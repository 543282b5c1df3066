// Functions of mlusim.h about the device, its time limit and its counters.
#include <string>

#include "machine/heap.h"
#include "machine/launch.h"
#include "machine/model.h"
#include "mlusim.h"
#include "runtime/card_choice.h"
#include "runtime/error.h"
#include "runtime/notifier.h"
#include "runtime/queue.h"

namespace mlusim {
namespace {

int refuse(const char *function, const char *sentence) {
  explain(cnrtErrorArgsInvalid, "%s: %s", function, sentence);
  return -1;
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
  mlusimDeviceModel wanted = {};
  std::string reason;
  if (model == nullptr && card_of_environment(&wanted, &reason)) model = &wanted;
  if (!reason.empty()) return refuse(__func__, ("PYMLUOPS_SIM_DEVICE: " + reason).c_str());
  const int changed = change_device(__func__, model != nullptr ? *model : default_model());
  if (changed == 0) note_choice(model != nullptr);
  return changed;
}

int mlusimSetDeviceByName(const char *name) {
  if (name == nullptr) return refuse(__func__, "name: expected a string, got NULL");
  mlusimDeviceModel model = {};
  std::string reason;
  if (find_named_card(name, &model, &reason)) return mlusimSetDevice(&model);
  return refuse(__func__, ("name: " + reason).c_str());
}

int mlusimPreferArch(int32_t arch) {
  mlusimDeviceModel present = {};
  mlusimGetDevice(&present);
  if (present.arch == arch) return 0;
  const mlusimDeviceModel *model = find_card(arch);
  if (model == nullptr) return refuse(__func__, arch_reason());
  if (!is_chosen()) return change_device(__func__, *model);
  explain(cnrtErrorArgsInvalid, "%s: %s was chosen, whose architecture is %d", __func__, present.name, present.arch);
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
