#include "operands.h"

#include "work.h"

namespace cnnl {
namespace {

cnnlStatus_t wait(const char *function, cnnlHandle_t handle) {
  cnrtQueue_t queue = nullptr;
  CNNL_TRY(get_queue(function, handle, &queue));
  if (cnrtQueueSync(queue) == cnrtSuccess) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_EXECUTION_FAILED, "%s: %s", function, mlusimGetLastError());
}

}  // namespace

Operands::~Operands() {
  for (const Operand &operand : all_) {
    if (operand.desc != nullptr) CNNL_CPU(function_, mluOpDestroyTensorDescriptor, operand.desc);
  }
  if (cpu_ != nullptr) CNNL_CPU(function_, mluOpDestroy, cpu_);
}

Operand &Operands::add(const char *argument, cnnlTensorDescriptor_t desc, void *data, bool read, bool written) {
  Operand &operand = all_.emplace_back();
  if (desc == nullptr || status_ != CNNL_STATUS_SUCCESS) return operand;
  operand.read = read;
  operand.written = written;
  operand.device = data;
  note(get_operand(function_, argument, desc, data, &operand.tensor));
  if (status_ == CNNL_STATUS_SUCCESS) note(describe(&operand));
  return operand;
}

Operand &Operands::out(const char *argument, cnnlDataType_t dtype, const Tensor &like, void *data) {
  Operand &operand = all_.emplace_back();
  if (status_ != CNNL_STATUS_SUCCESS) return operand;
  operand.written = true;
  operand.device = data;
  operand.tensor = like;
  operand.tensor.dtype = dtype;
  operand.tensor.size = size_of(dtype);
  operand.tensor.dense = true;
  if (data == nullptr && like.count != 0) note(refuse_null(function_, argument));
  if (status_ == CNNL_STATUS_SUCCESS) note(describe(&operand));
  return operand;
}

// Makes the copy on the host and its descriptor.
cnnlStatus_t Operands::describe(Operand *operand) {
  const Tensor &tensor = operand->tensor;
  operand->elements = std::make_shared<Elements>(tensor.bytes() + 1);  // never without an address
  operand->data = operand->elements->data();
  CNNL_TRY(CNNL_CPU(function_, mluOpCreateTensorDescriptor, &operand->desc));
  return CNNL_CPU(function_, mluOpSetTensorDescriptor_v2, operand->desc,
                  static_cast<mluOpTensorLayout_t>(tensor.layout), static_cast<mluOpDataType_t>(tensor.dtype),
                  tensor.rank(), tensor.dims.data());
}

cnnlStatus_t Operands::begin() {
  if (status_ != CNNL_STATUS_SUCCESS) return status_;
  CNNL_TRY(CNNL_CPU(function_, mluOpCreate, &cpu_));
  for (const Operand &operand : all_) {
    if (!operand.read || operand.tensor.count == 0) continue;
    CNNL_TRY(enqueue(function_, handle_, [tensor = operand.tensor, device = operand.device, room = operand.elements] {
      load(tensor, device, room.get());
    }));
  }
  return wait(function_, handle_);
}

cnnlStatus_t Operands::end() {
  for (const Operand &operand : all_) {
    if (!operand.written || operand.tensor.count == 0) continue;
    CNNL_TRY(enqueue(function_, handle_, [tensor = operand.tensor, device = operand.device, room = operand.elements] {
      store(tensor, device, *room);
    }));
  }
  return CNNL_STATUS_SUCCESS;
}

}  // namespace cnnl
