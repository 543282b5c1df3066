// The device that is simulated: the one that somebody chose, else a card of the architecture that
// the loaded libraries were compiled for.
#ifndef MLUSIM_RUNTIME_CARD_CHOICE_H_
#define MLUSIM_RUNTIME_CARD_CHOICE_H_

#include "mlusim.h"

namespace mlusim {

// Changes the device; -1 with an explanation if the figures are wrong or it is in use.
int change_device(const char *function, const mlusimDeviceModel &model);

// The model that PYMLUOPS_SIM_DEVICE names; null if it names none.
const mlusimDeviceModel *card_of_environment();

// Has the device of the environment, if there is one. When the library is loaded.
void take_card_of_environment();

// Libraries do not change the device from now on; or they do again.
void note_choice(bool chosen);
bool is_chosen();

// Before a thread uses the device: if a library was loaded that has no kernels for it, and it is
// free to change, it becomes a card of that library.
void follow_libraries() noexcept;

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_CARD_CHOICE_H_
