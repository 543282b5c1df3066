// Common start of every file of loops/: all code lives in the namespace of the instruction level,
// see cpu/kernel.h.
#ifndef MLUSIM_INTRINSICS_LOOPS_LEVEL_H_
#define MLUSIM_INTRINSICS_LOOPS_LEVEL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/level.h"
#include "cpu/vector.h"
#include "intrinsics/loops.h"

#define MLUSIM_BEGIN_LEVEL \
  namespace mlusim {       \
  namespace MLUOPS_LEVEL {
#define MLUSIM_END_LEVEL \
  }                      \
  }

// Defines `name()`, which chooses between the tables `name` of the levels, in the baseline
// compilation.
#if !defined(MLUOPS_LEVEL_IS_BASELINE)
#define MLUSIM_CHOOSE_TABLE(Table, name) static_assert(true, "the baseline compilation chooses")
#elif defined(MLUOPS_HAVE_X86_64_LEVELS)
#define MLUSIM_CHOOSE_TABLE(Table, name) \
  namespace mlusim {                     \
  namespace x86_64_v3 {                  \
  extern const Table name;               \
  }                                      \
  namespace x86_64_v4 {                  \
  extern const Table name;               \
  }                                      \
  const Table &name() {                  \
    switch (mluops::active_level()) {    \
      case mluops::Level::kX86V4:        \
        return x86_64_v4::name;          \
      case mluops::Level::kX86V3:        \
        return x86_64_v3::name;          \
      case mluops::Level::kBaseline:     \
        break;                           \
    }                                    \
    return MLUOPS_LEVEL::name;           \
  }                                      \
  }                                      \
  static_assert(true, "the macro ends with a semicolon")
#else
#define MLUSIM_CHOOSE_TABLE(Table, name)             \
  namespace mlusim {                                 \
  const Table &name() { return MLUOPS_LEVEL::name; } \
  }                                                  \
  static_assert(true, "the macro ends with a semicolon")
#endif

namespace mlusim {
namespace MLUOPS_LEVEL {

namespace vec = mluops::MLUOPS_LEVEL;

}  // namespace MLUOPS_LEVEL
}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_LOOPS_LEVEL_H_
