// Puts work into a queue: a kernel with one task, which calls `body()`, a function of the host.
#ifndef CNNL_WORK_H_
#define CNNL_WORK_H_

#include <tuple>
#include <utility>

#include "mlusim_source.h"
#include "tensor.h"

namespace cnnl {

// `body` owns its data and throws nothing.
template <typename Body>
cnnlStatus_t enqueue(const char *function, cnnlHandle_t handle, Body body) {
  cnrtQueue_t queue = nullptr;
  CNNL_TRY(get_queue(function, handle, &queue));
  using All = mlusim::Copies<Body>;
  static const mlusim::Kernel kernel(
      nullptr, function, &mlusim::mlusim_unit, mlusim::kUnitArch,
      All::calls([](const void *copied) { std::get<0> (*static_cast<const typename All::All *>(copied))(); }));
  void *arguments[] = {&body};
  const cnrtRet_t error = cnrtInvokeKernel(kernel.address, {1, 1, 1}, cnrtFuncTypeBlock, arguments, 0, queue);
  if (error == cnrtSuccess) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_EXECUTION_FAILED, "%s: %s", function, mlusimGetLastError());
}

}  // namespace cnnl

#endif  // CNNL_WORK_H_
