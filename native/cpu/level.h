// Instruction levels. Each ops/<family>/cpu.cpp is compiled once per level, into the namespace
// mluops::<level>.
#ifndef MLUOPS_CPU_LEVEL_H_
#define MLUOPS_CPU_LEVEL_H_

#include "core/environment.h"

namespace mluops {

enum class Level {
  kBaseline,
  kX86V3,
  kX86V4
};

// Their names, in the order of Level.
#if defined(__x86_64__)
constexpr const char *kLevelNames[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
#else
constexpr const char *kLevelNames[] = {"portable"};
#endif

// The level of the kernels: the best of this CPU, or the lower one named by
// PYMLUOPS_INSTRUCTION_LEVEL.
constexpr const char *kLevelVariable = "PYMLUOPS_INSTRUCTION_LEVEL";
Level active_level();
const char *name_of(Level level);

// NOT_INITIALIZED if that variable names no level.
inline mluOpStatus_t check_level_variable(const char *function) {
  const char *text = std::getenv(kLevelVariable);
  if (text == nullptr || text[0] == '\0') return MLUOP_STATUS_SUCCESS;
  for (const char *name : kLevelNames) {
    if (std::strcmp(text, name) == 0) return MLUOP_STATUS_SUCCESS;
  }
#if defined(__x86_64__)
  constexpr const char *kExpected = "x86-64, x86-64-v3 or x86-64-v4";
#else
  constexpr const char *kExpected = "portable";
#endif
  return refuse(MLUOP_STATUS_NOT_INITIALIZED, function, kLevelVariable, kExpected, NumberVariable::shown(text));
}

}  // namespace mluops

#endif  // MLUOPS_CPU_LEVEL_H_
