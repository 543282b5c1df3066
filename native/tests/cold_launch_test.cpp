// A cold kernel runs as compiled for x86-64-v3 where x86-64-v4 is active, and as every other kernel
// below.
#include "cold_kernel.h"
#include "cpu/level.h"
#include "harness.h"

TEST(the_level_that_a_cold_kernel_runs_on) {
  const char *level = "none";
  CHECK_EQ(mluops::launch_cold_kernel(nullptr, {"mluOpCold", &level}), MLUOP_STATUS_SUCCESS);
#if defined(MLUOPS_HAVE_X86_64_LEVELS)
  const bool is_lowest = mluops::active_level() == mluops::Level::kBaseline;
#else
  const bool is_lowest = true;
#endif
  CHECK_EQ(std::string(level), std::string(is_lowest ? "baseline" : "x86_64_v3"));
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
