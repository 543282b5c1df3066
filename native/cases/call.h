// One call of an operator that cases are dumped of. The generated entry point of the operator makes
// it while dumping is on; the case is written when the checks have passed and a kernel is about to
// be launched, so that a crash leaves it behind.
#ifndef MLUOPS_CASES_CALL_H_
#define MLUOPS_CASES_CALL_H_

#include <vector>

#include "cases/files.h"
#include "cases/switches.h"
#include "cases/table.h"

namespace mluops {

// Lives on the stack of the calling thread. Only the outermost call of a thread writes a case.
class CaseCall {
 public:
  CaseCall(const CaseOperator &the_operator, const CaseValue *values);
  ~CaseCall();
  CaseCall(const CaseCall &) = delete;
  CaseCall &operator=(const CaseCall &) = delete;

  // Writes the outputs if that is wanted and the call succeeded. Returns `status`.
  mluOpStatus_t finish(mluOpStatus_t status) noexcept;

  // The call of this thread, NULL if there is none.
  static CaseCall *current();

  // Writes the case, once. A case that cannot be written is a line on standard error.
  void write() noexcept;

 private:
  const CaseOperator &operator_;
  const CaseValue *const values_;
  CaseMode mode_ = kCasesOff;
  bool outermost_ = false;
  bool written_ = false;
  std::vector<CaseOutput> outputs_;
};

// Every launch of a kernel calls it first.
inline void about_to_launch() {
  if (!dumping_cases()) return;
  CaseCall *const call = CaseCall::current();
  if (call != nullptr) call->write();
}

}  // namespace mluops

#endif  // MLUOPS_CASES_CALL_H_
