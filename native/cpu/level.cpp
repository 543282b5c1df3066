#include "cpu/level.h"

#include <cstdlib>
#include <cstring>

namespace mluops {
namespace {

constexpr Level kLevels[] = {Level::kBaseline, Level::kX86V3, Level::kX86V4};

Level best_level() {
#if defined(MLUOPS_HAVE_X86_64_LEVELS)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
                  __builtin_cpu_supports("movbe");
#if defined(MLUOPS_EMULATE_AVX512)
  const bool v4 = v3;
#else
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
#endif
  if (v4) return Level::kX86V4;
  if (v3) return Level::kX86V3;
#endif
  return Level::kBaseline;
}

Level choose_level() {
  const Level best = best_level();
  const char *wanted = std::getenv("PYMLUOPS_INSTRUCTION_LEVEL");
  if (wanted == nullptr) return best;
  for (const Level level : kLevels) {
    if (std::strcmp(wanted, name_of(level)) == 0) return level < best ? level : best;
  }
  return best;
}

const Level chosen = choose_level();

}  // namespace

Level active_level() { return chosen; }

const char *name_of(Level level) {
  switch (level) {
    case Level::kX86V4:
      return "x86-64-v4";
    case Level::kX86V3:
      return "x86-64-v3";
    case Level::kBaseline:
      break;
  }
#if defined(__x86_64__)
  return "x86-64";
#else
  return "portable";
#endif
}

}  // namespace mluops
