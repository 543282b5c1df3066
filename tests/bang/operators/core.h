// The core of a small library of operators in the style of large ones: checks, handles,
// descriptors, launches.
#ifndef CORE_H_
#define CORE_H_

#include <cnrt.h>
#include <mlu_op.h>

#include <vector>

struct mluOpContext {
  cnrtQueue_t queue;
  int clusters, cores_per_cluster, nram_bytes;
};

struct mluOpTensorStruct {
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  std::vector<int64_t> dims, strides;
  size_t count() const {
    size_t all = 1;
    for (int64_t dim : dims) all *= dim;
    return all;
  }
};

#define PARAM_CHECK(condition) \
  if (!(condition)) return MLUOP_STATUS_BAD_PARAM

#define KERNEL_CHECK(launch)                                                        \
  do {                                                                              \
    launch;                                                                         \
    if (cnrtPeekAtLastError() != cnrtSuccess) return MLUOP_STATUS_EXECUTION_FAILED; \
  } while (0)

// Launches of the kernels.
mluOpStatus_t KernelAbs(cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue, mluOpDataType_t dtype,
                        const void *x, void *y, size_t count);

#endif
