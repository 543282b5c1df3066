#include "cases/call.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cases/files.h"
#include "core/data_type.h"
#include "core/handle.h"
#include "core/target.h"

namespace mluops {
namespace {

// In the initial TLS block, as the state of calls is: it needs no memory when a thread first uses
// it.
thread_local CaseCall *current_call __attribute__((tls_model("initial-exec"))) = nullptr;

void report(const char *operator_name, const CannotWrite &reason) {
  std::fprintf(stderr, "mluops: the case of %s was not written: %s: %s\n", operator_name, reason.path.c_str(),
               std::strerror(reason.error));
}

void print_line(const CaseOperator &the_operator, const CaseValue *values) {
  std::string line = std::string("mluops: gen_case ") + the_operator.function + "(";
  const char *separator = "";
  for (const auto *tensors : {&the_operator.inputs, &the_operator.outputs}) {
    for (const CaseTensor &tensor : *tensors) {
      if (!case_has(tensor, values)) continue;
      const CaseTensorView view = case_tensor(tensor, values);
      line += std::string(separator) + tensor.id + " " + name_of(view.dtype) + " [";
      for (int i = 0; i < view.rank; ++i) line += (i == 0 ? "" : ", ") + std::to_string(view.dims[i]);
      line += "]";
      separator = ", ";
    }
  }
  std::fprintf(stderr, "%s)\n", line.c_str());
}

cnrtQueue_t queue_of(const CaseValue *values) {  // the first argument is the handle
  return static_cast<const mluOpContext *>(values[0].pointer())->queue;
}

}  // namespace

CaseCall::CaseCall(const CaseOperator &the_operator, const CaseValue *values)
    : operator_(the_operator), values_(values) {
  outermost_ = current_call == nullptr;
  if (!outermost_) return;
  mode_ = case_mode_of(the_operator.name);
  current_call = this;
}

CaseCall::~CaseCall() {
  if (outermost_) current_call = nullptr;
}

CaseCall *CaseCall::current() { return current_call; }

void CaseCall::write() noexcept {
  if (written_ || mode_ == kCasesOff) return;
  written_ = true;
  try {
    if (mode_ == kCasePrint) return print_line(operator_, values_);
    wait_for(queue_of(values_));
    outputs_ = CaseFiles(operator_, values_, mode_).write();
  } catch (const CannotWrite &reason) {
    report(operator_.name, reason);
  } catch (...) {
    report(operator_.name, {"memory", ENOMEM});
  }
}

mluOpStatus_t CaseCall::finish(mluOpStatus_t status) noexcept {
  if (outputs_.empty() || status != MLUOP_STATUS_SUCCESS) return status;
  try {
    wait_for(queue_of(values_));
    for (const CaseOutput &output : outputs_) write_case_output(output);
  } catch (const CannotWrite &reason) {
    report(operator_.name, reason);
  } catch (...) {
    report(operator_.name, {"memory", ENOMEM});
  }
  return status;
}

}  // namespace mluops
