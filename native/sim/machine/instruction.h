// Describes an instruction of a kernel, with name and operands, to intrinsics and checkers.
#ifndef MLUSIM_MACHINE_INSTRUCTION_H_
#define MLUSIM_MACHINE_INSTRUCTION_H_

#include <cstdint>

#include "machine/copy.h"
#include "machine/core.h"
#include "machine/observer.h"

namespace mlusim {

// One call of an intrinsic by a kernel.
struct Call {
  Core &core;
  const char *name;
  const void *pc;
  const char *rule;  // its name in the align rules: as above, except for forms with rules of their own
};

struct Operand {
  const char *role;  // its name in messages: "dst", "src0", "offset"
  Kind kind;
  Space space;  // the space that it must lie in
  Region region;
};

// A copy between two memories.
struct Transfer {
  Operand source, target;
};

// The size of an instruction's work, for the rules about multiples; `bytes` counts the operand that
// the rule is about.
struct Amount {
  std::int64_t elements;
  std::int64_t bytes;
  std::int64_t operations = 0;  // for profiles, unless it is one for each element
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_INSTRUCTION_H_
