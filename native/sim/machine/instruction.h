// What one instruction of a kernel is called and works on, for intrinsics and checkers.
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
  const char *rule;  // by which the align checker knows it: the name, but for forms with rules of their own
};

struct Operand {
  const char *role;  // for people: "dst", "src0", "offset"
  Kind kind;
  Space space;  // where it has to lie
  Region region;
};

// A copy between two memories.
struct Transfer {
  Operand source, target;
};

// How much an intrinsic works on, for the rules about multiples; `bytes` are those of what has to be a multiple.
struct Amount {
  std::int64_t elements;
  std::int64_t bytes;
  std::int64_t operations = 0;  // where it does others than one for each element, for profiles
};

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_INSTRUCTION_H_
