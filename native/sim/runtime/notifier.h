// The notifiers behind the handles of the C interface.
#ifndef MLUSIM_RUNTIME_NOTIFIER_H_
#define MLUSIM_RUNTIME_NOTIFIER_H_

#include <cstdint>

namespace mlusim {

std::uint64_t notifier_count();

// Destroys the notifiers of the device.
void destroy_notifiers(int device);

}  // namespace mlusim

#endif  // MLUSIM_RUNTIME_NOTIFIER_H_
