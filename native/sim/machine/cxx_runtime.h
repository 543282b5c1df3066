// Functions of the C++ runtime that kernels find in this library first.
#ifndef MLUSIM_MACHINE_CXX_RUNTIME_H_
#define MLUSIM_MACHINE_CXX_RUNTIME_H_

namespace mlusim {

// The static variables whose constructors a core runs. Those that it never ends would be waited for by all who come later.
struct Constructions {
  static constexpr int kMost = 8;
  void *guards[kMost] = {};
  int count = 0;
};

// When a core is left for good: its constructions begin anew with whoever needs them next.
void abandon(Constructions &constructions);

// Whether the address is in an exception that a kernel of this launch made. The memory is the host's, but no kernel asked for it.
bool is_exception(const void *address);
// When a launch begins.
void forget_exceptions();

// Where a core threw this exception, like a return address; null if that is unknown.
const void *throw_place(const void *object);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_CXX_RUNTIME_H_
