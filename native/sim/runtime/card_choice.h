// The device that is simulated: the one that somebody chose, else a card of the architecture that
// the loaded libraries were compiled for.
#ifndef MLUSIM_RUNTIME_CARD_CHOICE_H_
#define MLUSIM_RUNTIME_CARD_CHOICE_H_

#include <string>

#include "mlusim.h"

namespace mlusim {

// Changes the device; -1 with an explanation if the figures are wrong or it is in use.
int change_device(const char *function, const mlusimDeviceModel &model);

// Finds the model of this name, or reads it from a TOML file, whose name ends with ".toml" or has a
// slash; if there is none, `*reason` says why, behind "expected".
bool find_named_card(const std::string &name, mlusimDeviceModel *model, std::string *reason);

// The model that PYMLUOPS_SIM_DEVICE names. False if it names none; `*reason` is empty if the
// variable is not set, else it says why it cannot be followed.
bool card_of_environment(mlusimDeviceModel *model, std::string *reason);

// Has the device of the environment, if there is one. When the library is loaded.
void take_card_of_environment();

// Returns cnrtErrorNoDevice, with a text, if the environment asks for devices that do not exist and
// nobody has chosen another; tells that once on stderr.
cnrtRet_t check_environment(const char *function) noexcept;

// Libraries do not change the device from now on; or they do again.
void note_choice(bool chosen);
bool is_chosen();

// Before a thread uses the device: if a library was loaded that has no kernels for it, and it is
// free to change, it becomes a card of that library.
void follow_libraries() noexcept;

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_CARD_CHOICE_H_
