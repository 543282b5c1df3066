// Functions of the C++ runtime that this library overrides for kernels.
#ifndef MLUSIM_MACHINE_CXX_RUNTIME_H_
#define MLUSIM_MACHINE_CXX_RUNTIME_H_

namespace mlusim {

// The static variables that a core is constructing. Without a record, later users would wait
// forever for a construction that never ends.
struct Constructions {
  static constexpr int kMost = 8;
  void *guards[kMost] = {};
  int count = 0;
};

// Called when a core is abandoned: the next user starts its constructions anew.
void abandon(Constructions &constructions);

// Whether the address belongs to an exception that a kernel of this launch made. Its memory is the
// host's, but the kernel did not ask for it.
bool is_exception(const void *address);
// Called when a launch begins.
void forget_exceptions();

// Returns the place where a core threw this exception, as a return address; null if unknown.
const void *throw_place(const void *object);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_CXX_RUNTIME_H_
