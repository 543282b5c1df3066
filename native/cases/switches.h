// The switches for dumped cases: environment variables, and functions that set mode and directory.
#ifndef MLUOPS_CASES_SWITCHES_H_
#define MLUOPS_CASES_SWITCHES_H_

#include <atomic>
#include <string>

namespace mluops {

enum CaseMode {
  kCasesOff = 0,
  kCaseShapes = 1,
  kCaseData = 2,
  kCasePrint = 3
};

// How much of the data mode 2 writes: of tensors whose contents matter, or of all inputs, as
// decimal or hexadecimal numbers.
enum class CaseDump {
  kReal,
  kDecimal,
  kHexadecimal
};

// Read by every operator, so it is a number of its own.
extern std::atomic<int> current_case_mode;

inline bool dumping_cases() { return current_case_mode.load(std::memory_order_relaxed) != kCasesOff; }

// The mode for one operator: of the process, or what MLUOP_GEN_CASE_OP_NAME says about it.
CaseMode case_mode_of(const char *operator_name);

CaseDump case_dump();
// Whether data go to files of their own, and whether outputs are written.
bool case_data_in_files();
bool case_outputs_wanted();

// The directory for cases, with placeholders replaced; the working directory if none was set; empty
// if that cannot be read.
std::string case_directory();

}  // namespace mluops

#endif  // MLUOPS_CASES_SWITCHES_H_
