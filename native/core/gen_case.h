// The switches for records of test cases, for code that writes such records.
#ifndef MLUOPS_CORE_GEN_CASE_H_
#define MLUOPS_CORE_GEN_CASE_H_

#include <string>

namespace mluops {

// 0 off, 1 shapes, 2 shapes and data, 3 print only.
int gen_case_mode();

// The directory for records, with placeholders replaced; the working directory if none was set;
// empty if that cannot be read.
std::string gen_case_directory();

}  // namespace mluops

#endif  // MLUOPS_CORE_GEN_CASE_H_
