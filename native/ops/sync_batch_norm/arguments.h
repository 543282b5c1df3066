// Checks that the functions of the vendor's header and our own have in common.
#ifndef MLUOPS_OPS_SYNC_BATCH_NORM_ARGUMENTS_H_
#define MLUOPS_OPS_SYNC_BATCH_NORM_ARGUMENTS_H_

#include "core/check.h"
#include "core/exception_guard.h"
#include "ops/sync_batch_norm/sync_batch_norm.h"

namespace mluops {
namespace sync_batch_norm {

enum class Role {
  kValues,   // shaped and typed like the first one
  kChannel,  // [C]
  kCounts,   // [D], int32
};

struct Argument {
  TensorArgument tensor;
  Role role;
  bool written;
};

// The tensors of a call; the first one are values.
class Arguments {
 public:
  explicit Arguments(const char *function) : function_(function) {}

  void read(Role role, const TensorArgument &tensor) { add({tensor, role, false}); }
  void write(Role role, const TensorArgument &tensor) { add({tensor, role, true}); }
  // Missing if it has no descriptor.
  void read_if_given(Role role, const TensorArgument &tensor) {
    if (tensor.desc != nullptr) read(role, tensor);
  }

  const Argument *begin() const { return items_; }
  const Argument *end() const { return items_ + count_; }
  const TensorArgument &values() const { return items_[0].tensor; }
  const char *function() const { return function_; }

  mluOpStatus_t need_objects(mluOpHandle_t handle) const;
  // Values have as many dims as the first ones, of which dim `channel` counts the channels.
  mluOpStatus_t need_shapes(int channel) const;
  mluOpStatus_t need_packed_tensors() const;
  mluOpStatus_t need_types() const;
  mluOpStatus_t need_tensor_data() const;
  mluOpStatus_t need_own_memory() const;

 private:
  static constexpr int kMost = 12;

  void add(const Argument &argument) { items_[count_++] = argument; }

  const char *function_;
  Argument items_[kMost] = {};
  int count_ = 0;
};

}  // namespace sync_batch_norm
}  // namespace mluops

#endif  // MLUOPS_OPS_SYNC_BATCH_NORM_ARGUMENTS_H_
