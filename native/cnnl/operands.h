// The operands of a call that an operator of the CPU library computes: device memory, and a copy of
// it in host memory.
//
// Such a call waits for the handle's queue, so that it can answer with the operator's status. The
// copies from and to the device are work in the queue, whose accesses the checkers see.
#ifndef CNNL_OPERANDS_H_
#define CNNL_OPERANDS_H_

#include <deque>
#include <memory>

#include "cpu_library.h"
#include "tensor.h"

namespace cnnl {

struct Operand {
  mluOpTensorDescriptor_t desc = nullptr;  // null: the operand is not there
  void *data = nullptr;                    // in host memory
  Tensor tensor;
  void *device = nullptr;
  std::shared_ptr<Elements> elements;
  bool read = false, written = false;
};

class Operands {
 public:
  Operands(const char *function, cnnlHandle_t handle) : function_(function), handle_(handle) {}
  Operands(const Operands &) = delete;
  Operands &operator=(const Operands &) = delete;
  ~Operands();

  // Adds an operand. NULL for the descriptor means that there is none. The first mistake is kept,
  // and run() returns it.
  Operand &in(const char *argument, cnnlTensorDescriptor_t desc, const void *data) {
    return add(argument, desc, const_cast<void *>(data), true, false);
  }
  Operand &out(const char *argument, cnnlTensorDescriptor_t desc, void *data) {
    return add(argument, desc, data, false, true);
  }
  Operand &in_out(const char *argument, cnnlTensorDescriptor_t desc, void *data) {
    return add(argument, desc, data, true, true);
  }
  // An output without a descriptor: an array of a type with the dims of another tensor.
  Operand &out(const char *argument, cnnlDataType_t dtype, const Tensor &like, void *data);

  // Reads the operands, calls compute(handle of the CPU library), and writes the results.
  template <typename Compute>
  cnnlStatus_t run(const Compute &compute) {
    CNNL_TRY(begin());
    CNNL_TRY(compute(cpu_));
    return end();
  }

 private:
  Operand &add(const char *argument, cnnlTensorDescriptor_t desc, void *data, bool read, bool written);
  cnnlStatus_t describe(Operand *operand);
  cnnlStatus_t begin();
  cnnlStatus_t end();
  void note(cnnlStatus_t status) {
    if (status_ == CNNL_STATUS_SUCCESS) status_ = status;
  }

  const char *const function_;
  const cnnlHandle_t handle_;
  cnnlStatus_t status_ = CNNL_STATUS_SUCCESS;
  mluOpHandle_t cpu_ = nullptr;
  std::deque<Operand> all_;
};

}  // namespace cnnl

#endif  // CNNL_OPERANDS_H_
