#include "cpu/level.h"

#include <cstdlib>
#include <cstring>

namespace mluops {
namespace {

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
  const char *wanted = std::getenv(kLevelVariable);
  if (wanted == nullptr) return best;
  for (const char *const &name : kLevelNames) {
    const Level level = static_cast<Level>(&name - kLevelNames);
    if (std::strcmp(wanted, name) == 0) return level < best ? level : best;
  }
  return best;
}

const Level chosen = choose_level();

}  // namespace

Level active_level() { return chosen; }

const char *name_of(Level level) { return kLevelNames[static_cast<int>(level)]; }

}  // namespace mluops
