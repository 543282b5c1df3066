// Models of devices: the figures that kernels, host policies and checkers use.
#ifndef MLUSIM_MACHINE_MODEL_H_
#define MLUSIM_MACHINE_MODEL_H_

#include <cstdint>

#include "mlusim.h"

namespace mlusim {

constexpr int kMaxDevices = 16;
constexpr int kMaxClusters = 16;
constexpr int kMaxCoresPerCluster = 4;
constexpr std::int64_t kKiB = 1024;

// The named models, in a list that ends with an empty name.
const mlusimDeviceModel *known_models();

// Returns the model of that name, ignoring case; null if there is none.
const mlusimDeviceModel *find_model(const char *name);

// Returns the model of that architecture; null if there is none, for which the other function has
// the words.
const mlusimDeviceModel *find_card(int arch);
const char *arch_reason();

const mlusimDeviceModel &default_model();

// The device that this process simulates. It changes only while no memory is allocated and nothing
// runs.
const mlusimDeviceModel &device();

// Whether it is of the family of MLU270 and MLU290.
bool is_2xx();

// The number of devices, which all have the figures of device(): PYMLUOPS_SIM_DEVICES, or 8. They
// have memories and queues of their own; one thread runs their kernels, one at a time.
int device_count();
// The text of PYMLUOPS_SIM_DEVICES if it is no such number, else null.
const char *wrong_device_count();

// Whether the figures of the model describe a possible device; if not, `*reason` says why.
bool valid_model(const mlusimDeviceModel &model, const char **reason);
void set_device(const mlusimDeviceModel &model);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MODEL_H_
