// Instruction levels. Each ops/<family>/cpu.cpp is compiled once per level, into the namespace mluops::<level>.
#ifndef MLUOPS_CPU_LEVEL_H_
#define MLUOPS_CPU_LEVEL_H_

namespace mluops {

enum class Level {
  kBaseline,
  kX86V3,
  kX86V4
};

// The level that kernels run at: the best of this CPU, or the lower one that PYMLUOPS_INSTRUCTION_LEVEL names.
Level active_level();
const char *name_of(Level level);

}  // namespace mluops

#endif  // MLUOPS_CPU_LEVEL_H_
