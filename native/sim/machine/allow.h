// Comments in kernels that allow a finding in their line.
#ifndef MLUSIM_MACHINE_ALLOW_H_
#define MLUSIM_MACHINE_ALLOW_H_

namespace mlusim {

bool any_allowed();

// Whether a comment in the source allows this rule to be broken by the instruction at `pc`.
bool is_allowed(const void *pc, const char *checker, const char *rule);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ALLOW_H_
