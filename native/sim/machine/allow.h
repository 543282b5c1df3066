// Comments in kernels that allow what a rule would find there.
#ifndef MLUSIM_MACHINE_ALLOW_H_
#define MLUSIM_MACHINE_ALLOW_H_

namespace mlusim {

bool any_allowed();

// Whether a comment in the source of an instruction allows what this rule finds in its line.
bool is_allowed(const void *pc, const char *checker, const char *rule);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_ALLOW_H_
