// What is known of a device: the figures that kernels, host policies and checkers ask for.
#ifndef MLUSIM_MACHINE_MODEL_H_
#define MLUSIM_MACHINE_MODEL_H_

#include <cstdint>

#include "mlusim.h"

namespace mlusim {

constexpr int kMaxClusters = 16;
constexpr int kMaxCoresPerCluster = 4;
constexpr std::int64_t kKiB = 1024;

// The models that have a name, ending with one whose name is empty.
const mlusimDeviceModel *known_models();

// The model of that name, case ignored; null if there is none.
const mlusimDeviceModel *find_model(const char *name);

// The device that this process simulates. It changes only while no memory is allocated and nothing runs.
const mlusimDeviceModel &device();

// Takes another device; false, with the reason in `*reason`, if its figures make no machine.
bool valid_model(const mlusimDeviceModel &model, const char **reason);
void set_device(const mlusimDeviceModel &model);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MODEL_H_
