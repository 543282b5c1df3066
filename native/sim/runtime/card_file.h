// Reads descriptions of devices from files, as pymluops.sim.set_device does.
#ifndef MLUSIM_RUNTIME_CARD_FILE_H_
#define MLUSIM_RUNTIME_CARD_FILE_H_

#include <string>

#include "mlusim.h"

namespace mlusim {

// Reads a file of at most 1 MiB with lines `key = number` and `key = "text"`, the part of TOML that
// such a file needs: the fields of a model, and `base`, the model that has the other figures. False
// with a phrase in `*reason` if that is impossible, or if there can be no such device.
bool read_card_file(const std::string &path, mlusimDeviceModel *model, std::string *reason);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_CARD_FILE_H_
