// The library of CPU operators beside this one, behind the calls that stand for whole operators.
#ifndef CNNL_CPU_LIBRARY_H_
#define CNNL_CPU_LIBRARY_H_

#include "mlu_op.h"
#include "reason.h"

namespace cnnl {

// Returns the address of a function; null if the library or the function is not there.
void *find_cpu_function(const char *name);

// Refuses a call for which there is no CPU library.
cnnlStatus_t refuse_without_cpu(const char *function);

// The status of a function of the CPU library, whose statuses have the same numbers.
cnnlStatus_t answered(const char *function, const char *name, mluOpStatus_t status);

// Calls a function of the CPU library.
template <typename Function, typename... Arguments>
cnnlStatus_t call_cpu(const char *function, const char *name, Arguments... arguments) {
  const auto called = reinterpret_cast<Function>(find_cpu_function(name));
  if (called == nullptr) return refuse_without_cpu(function);
  return answered(function, name, called(arguments...));
}

}  // namespace cnnl

// CNNL_CPU(function, mluOpAbs, arguments...)
#define CNNL_CPU(function, name, ...) ::cnnl::call_cpu<decltype(&name)>(function, #name, __VA_ARGS__)

#endif  // CNNL_CPU_LIBRARY_H_
