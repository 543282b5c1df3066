// The files of dumped cases: the case itself, and data beside it.
#ifndef MLUOPS_CASES_FILES_H_
#define MLUOPS_CASES_FILES_H_

#include <string>
#include <vector>

#include "cases/switches.h"
#include "cases/table.h"
#include "cases/text.h"

namespace mluops {

// Why a case cannot be written: a path or a thing, and the number of the error.
struct CannotWrite {
  std::string path;
  int error;
};

// An output that is written when the call has ended.
struct CaseOutput {
  std::string path;
  CaseTensorView view;
};

// Writes the files of one case. Throws CannotWrite or std::bad_alloc.
class CaseFiles {
 public:
  CaseFiles(const CaseOperator &the_operator, const CaseValue *values, CaseMode mode)
      : operator_(the_operator), values_(values), mode_(mode) {}

  // Writes the case and the data of its inputs; returns the outputs that are still to be written.
  std::vector<CaseOutput> write();

 private:
  std::string tensors();
  CaseData input_data(const CaseTensor &tensor, const CaseTensorView &view, int index, std::vector<char> *bytes) const;

  const CaseOperator &operator_;
  const CaseValue *const values_;
  const CaseMode mode_;
  std::string folder_;
  std::string name_;
  std::vector<CaseOutput> outputs_;
};

// Writes the data of an output.
void write_case_output(const CaseOutput &output);

}  // namespace mluops

#endif  // MLUOPS_CASES_FILES_H_
