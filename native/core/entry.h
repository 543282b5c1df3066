// The entry points of the ABI, from the view of the checks.
#ifndef MLUOPS_CORE_ENTRY_H_
#define MLUOPS_CORE_ENTRY_H_

#include "core/tensor.h"

namespace mluops {

// A tensor argument of an operator: descriptor, data, and its name in messages.
struct TensorArgument {
  const char *name;
  mluOpTensorDescriptor_t desc;
  const void *data;
};

struct Entry {
  const char *function;    // its name, for messages
  bool in_double = false;  // its real numbers are double instead of float or half
  operator const char *() const { return function; }
};

}  // namespace mluops

// Lets the build generate the entry point in double of an operator, see native/abi/in_double.py:
// for <Name> that is mluopsExt<Name>Double, which calls mluops::<name>.
#define MLUOPS_IN_DOUBLE(name) static_assert(sizeof(&mluOp##name) != 0, "an operator of mlu_op.h")

#endif  // MLUOPS_CORE_ENTRY_H_
