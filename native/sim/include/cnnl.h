/* A stand-in for the vendor's tensor library, CNNL, on the simulated MLU: the calls that operator
 * libraries make on the host between their kernels. It is not the vendor's library. Names and
 * parameters are those that programs use; numbers of data types, layouts and statuses are the
 * vendor's. Other numbers are our own: compare with the names.
 *
 * Each call is checked at once and runs in the order of the handle's queue, as a kernel with one
 * task; checkers see its accesses. Sums are made in double, or in 64-bit integers, and rounded
 * once. Workspaces are never needed: queries give 0. A call that is not implemented for valid
 * arguments gives CNNL_STATUS_NOT_SUPPORTED; cnnlStandInGetLastReason() gives the reason of a
 * refusal. */
#ifndef CNNL_H_
#define CNNL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cn_api.h"
#include "cnrt.h"

#define CNNL_MAJOR 2
#define CNNL_MINOR 2
#define CNNL_PATCHLEVEL 6
#define CNNL_DIM_MAX 8

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef enum {
  CNNL_STATUS_SUCCESS = 0,
  CNNL_STATUS_NOT_INITIALIZED = 1,
  CNNL_STATUS_ALLOC_FAILED = 2,
  CNNL_STATUS_BAD_PARAM = 3,
  CNNL_STATUS_INTERNAL_ERROR = 4,
  CNNL_STATUS_ARCH_MISMATCH = 5,
  CNNL_STATUS_EXECUTION_FAILED = 6,
  CNNL_STATUS_NOT_SUPPORTED = 7,
  CNNL_STATUS_NUMERICAL_OVERFLOW = 8
} cnnlStatus_t;

typedef enum {
  CNNL_LAYOUT_NCHW = 0,
  CNNL_LAYOUT_NHWC = 1,
  CNNL_LAYOUT_HWCN = 2,
  CNNL_LAYOUT_NDHWC = 3,
  CNNL_LAYOUT_ARRAY = 4,
  CNNL_LAYOUT_NCDHW = 5,
  CNNL_LAYOUT_TNC = 6,
  CNNL_LAYOUT_NTC = 7,
  CNNL_LAYOUT_NC = 8,
  CNNL_LAYOUT_NLC = 9,
  CNNL_LAYOUT_NCL = 10
} cnnlTensorLayout_t;

typedef enum {
  CNNL_DTYPE_INVALID = 0,
  CNNL_DTYPE_HALF = 1,
  CNNL_DTYPE_FLOAT = 2,
  CNNL_DTYPE_INT8 = 3,
  CNNL_DTYPE_INT16 = 4,
  CNNL_DTYPE_INT31 = 5,
  CNNL_DTYPE_INT32 = 6,
  CNNL_DTYPE_UINT8 = 7,
  CNNL_DTYPE_BOOL = 8,
  CNNL_DTYPE_INT64 = 9,
  CNNL_DTYPE_UINT32 = 11,
  CNNL_DTYPE_UINT64 = 12,
  CNNL_DTYPE_UINT16 = 13,
  CNNL_DTYPE_DOUBLE = 14,
  CNNL_DTYPE_COMPLEX_HALF = 15,
  CNNL_DTYPE_COMPLEX_FLOAT = 16,
  CNNL_DTYPE_BFLOAT16 = 17
} cnnlDataType_t;

typedef enum {
  CNNL_POINTER_MODE_HOST = 0,
  CNNL_POINTER_MODE_DEVICE = 1
} cnnlPointerMode_t;

typedef enum {
  CNNL_NOT_PROPAGATE_NAN = 0,
  CNNL_PROPAGATE_NAN = 1
} cnnlNanPropagation_t;

typedef struct cnnlContext *cnnlHandle_t;
typedef struct cnnlTensorStruct *cnnlTensorDescriptor_t;
typedef struct cnnlTransposeStruct *cnnlTransposeDescriptor_t;
typedef struct cnnlReduceStruct *cnnlReduceDescriptor_t;
typedef struct cnnlUniqueStruct *cnnlUniqueDescriptor_t;
typedef struct cnnlOpTensorStruct *cnnlOpTensorDescriptor_t;
typedef struct cnnlMatMulStruct *cnnlMatMulDescriptor_t;
typedef struct cnnlMatMulAlgoStruct *cnnlMatMulAlgo_t;
typedef struct cnnlMatMulHeuristicResultStruct *cnnlMatMulHeuristicResult_t;

/* ---- The stand-in ---- */

/* A text that identifies the stand-in, with its version. */
const char *cnnlStandInVersion(void);

/* The reason why the last call of this thread was refused: `function: argument: expected ..., got
 * ...`. */
const char *cnnlStandInGetLastReason(void);

/* The version of the interface. NULL pointers are skipped. */
void cnnlGetLibVersion(int *major, int *minor, int *patch);

const char *cnnlGetErrorString(cnnlStatus_t status);

/* ---- Handle ---- */

cnnlStatus_t cnnlCreate(cnnlHandle_t *handle);
cnnlStatus_t cnnlDestroy(cnnlHandle_t handle);
cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue);
cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t *queue);
cnnlStatus_t cnnlGetDevice(cnnlHandle_t handle, CNdev *device);

/* ---- Tensors ---- */

cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t *desc);
cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc);
cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                     int dim_count, const int dims[]);
cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                        int dim_count, const int64_t dims[]);
cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                       int dim_count, const int dims[], const int strides[]);
cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                          int dim_count, const int64_t dims[], const int64_t strides[]);
cnnlStatus_t cnnlSetTensorDescriptorOnchipDataType(cnnlTensorDescriptor_t desc, cnnlDataType_t dtype);
cnnlStatus_t cnnlSetTensorDescriptorPointerMode(cnnlTensorDescriptor_t desc, cnnlPointerMode_t mode);
cnnlStatus_t cnnlGetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t *layout, cnnlDataType_t *dtype,
                                     int *dim_count, int dims[]);
size_t cnnlGetTensorElementNum(cnnlTensorDescriptor_t desc);
cnnlStatus_t cnnlGetSizeOfDataType(cnnlDataType_t dtype, size_t *size);

/* ---- Moving elements ---- */

/* Sets every element to the value, which has the type of the descriptor. */
cnnlStatus_t cnnlFill_v3(cnnlHandle_t handle, cnnlPointerMode_t mode, const void *value, cnnlTensorDescriptor_t desc,
                         void *output);

/* Copies between tensors of the same dims and type, with any strides. */
cnnlStatus_t cnnlGetCopyWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                                      cnnlTensorDescriptor_t output_desc, size_t *size);
cnnlStatus_t cnnlCopy(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                      cnnlTensorDescriptor_t output_desc, void *output);
cnnlStatus_t cnnlCopy_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                         cnnlTensorDescriptor_t output_desc, void *output, void *workspace, size_t workspace_size);

/* Dim i of the output is dim permute[i] of the input. */
cnnlStatus_t cnnlCreateTransposeDescriptor(cnnlTransposeDescriptor_t *desc);
cnnlStatus_t cnnlDestroyTransposeDescriptor(cnnlTransposeDescriptor_t desc);
cnnlStatus_t cnnlSetTransposeDescriptor(cnnlTransposeDescriptor_t desc, int dim_count, const int permute[]);
cnnlStatus_t cnnlGetTransposeWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                                           cnnlTransposeDescriptor_t desc, size_t *size);
cnnlStatus_t cnnlTranspose(cnnlHandle_t handle, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, cnnlTensorDescriptor_t output_desc, void *output);
cnnlStatus_t cnnlTranspose_v2(cnnlHandle_t handle, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                              const void *input, cnnlTensorDescriptor_t output_desc, void *output, void *workspace,
                              size_t workspace_size);

/* Gathers rows of `params` by the indices in the last dim of `indices`, int32 or int64; an index
 * outside gives zeros. batch_dims must be 0. */
cnnlStatus_t cnnlGatherNd_v2(cnnlHandle_t handle, int batch_dims, cnnlTensorDescriptor_t params_desc,
                             const void *params, cnnlTensorDescriptor_t indices_desc, const void *indices,
                             cnnlTensorDescriptor_t output_desc, void *output);

typedef enum {
  CNNL_SCATTERND_ADD = 0,
  CNNL_SCATTERND_UPDATE = 1
} cnnlScatterNdMode_t;

/* Copies the input to the output, or zeros if the input is NULL; then sets rows of it to the
 * updates, or adds them, one after the other. Indices outside are skipped. The input may be the
 * output. */
cnnlStatus_t cnnlScatterNd_v2(cnnlHandle_t handle, cnnlScatterNdMode_t mode, cnnlTensorDescriptor_t indices_desc,
                              const void *indices, cnnlTensorDescriptor_t updates_desc, const void *updates,
                              cnnlTensorDescriptor_t input_desc, const void *input, cnnlTensorDescriptor_t output_desc,
                              void *output);

/* Concatenates the inputs along an axis. */
cnnlStatus_t cnnlGetConcatWorkspaceSize(cnnlHandle_t handle, int count, size_t *size);
cnnlStatus_t cnnlConcat(cnnlHandle_t handle, int count, int axis, const cnnlTensorDescriptor_t input_descs[],
                        const void *const inputs[], void *workspace, size_t workspace_size,
                        cnnlTensorDescriptor_t output_desc, void *output);

/* Adds paddings[d][0] elements before and paddings[d][1] elements behind each dim d; `value` has
 * the type of the input. */
cnnlStatus_t cnnlPad(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input, const void *paddings,
                     const void *value, cnnlTensorDescriptor_t output_desc, void *output);

/* ---- Sorting ---- */

typedef enum {
  CNNL_UNSORT_REVERSE = 0,
  CNNL_SORT_ASCEND = 1,
  CNNL_UNSORT_FORWARD = 2
} cnnlUniqueSort_t;

/* The distinct elements for dim -1, or distinct rows for dim 0. For each input element, `indices`
 * gives the index of its distinct element; `counts` gives the number of occurrences of each. Both
 * are int32. CNNL_UNSORT_REVERSE is not supported. */
cnnlStatus_t cnnlCreateUniqueDescriptor(cnnlUniqueDescriptor_t *desc);
cnnlStatus_t cnnlDestroyUniqueDescriptor(cnnlUniqueDescriptor_t desc);
cnnlStatus_t cnnlSetUniqueDescriptor(cnnlUniqueDescriptor_t desc, cnnlUniqueSort_t mode, int dim, bool return_indices,
                                     bool return_counts);
cnnlStatus_t cnnlGetUniqueWorkspaceSize(cnnlHandle_t handle, cnnlUniqueDescriptor_t desc,
                                        cnnlTensorDescriptor_t input_desc, size_t *size);
cnnlStatus_t cnnlUnique_v2(cnnlHandle_t handle, cnnlUniqueDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, void *workspace, size_t workspace_size, int *output_count,
                           cnnlTensorDescriptor_t output_desc, void *output, cnnlTensorDescriptor_t indices_desc,
                           void *indices, cnnlTensorDescriptor_t counts_desc, void *counts);

/* The k greatest or least along a dim, in order; NaN is the greatest. Of equal ones, the lower or
 * the higher index comes first. */
cnnlStatus_t cnnlGetTopKTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, int k, int dim,
                                            bool largest, cnnlTensorDescriptor_t output_desc,
                                            cnnlTensorDescriptor_t index_desc, size_t *size);
cnnlStatus_t cnnlTopKTensor_v3(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input, int k,
                               int dim, bool largest, bool sorted, bool lower_index_first, void *workspace,
                               size_t workspace_size, cnnlTensorDescriptor_t output_desc, void *output,
                               cnnlTensorDescriptor_t index_desc, void *index);

/* ---- Arithmetic: of half, bfloat16, float, double, and integers ---- */

typedef enum {
  CNNL_REDUCE_ADD = 0,
  CNNL_REDUCE_AVG = 1,
  CNNL_REDUCE_MUL = 2,
  CNNL_REDUCE_MAX = 3,
  CNNL_REDUCE_MIN = 4,
  CNNL_REDUCE_AND = 5,
  CNNL_REDUCE_OR = 6,
  CNNL_REDUCE_NORM1 = 7,
  CNNL_REDUCE_NORM2 = 8
} cnnlReduceOp_t;

typedef enum {
  CNNL_REDUCE_NO_INDICES = 0,
  CNNL_REDUCE_FLATTENED_INDICES = 1,
  CNNL_REDUCE_ONLY_INDICES = 2
} cnnlReduceIndices_t;

typedef enum {
  CNNL_32BIT_INDICES = 0,
  CNNL_16BIT_INDICES = 1
} cnnlIndicesType_t;

/* output = alpha * reduction + beta * output; alpha and beta are floats in host memory, NULL stands
 * for 1 and 0. Indices are not supported, nor norms of integers. */
cnnlStatus_t cnnlCreateReduceDescriptor(cnnlReduceDescriptor_t *desc);
cnnlStatus_t cnnlDestroyReduceDescriptor(cnnlReduceDescriptor_t desc);
cnnlStatus_t cnnlSetReduceDescriptor(cnnlReduceDescriptor_t desc, int axes[], int axis_count, cnnlReduceOp_t op,
                                     cnnlDataType_t dtype, cnnlNanPropagation_t nan, cnnlReduceIndices_t indices,
                                     cnnlIndicesType_t indices_type);
cnnlStatus_t cnnlSetReduceDescriptor_v2(cnnlReduceDescriptor_t desc, int axes[], int axis_count, cnnlReduceOp_t op,
                                        cnnlDataType_t dtype, cnnlNanPropagation_t nan, cnnlReduceIndices_t indices,
                                        cnnlIndicesType_t indices_type, float p);
cnnlStatus_t cnnlGetReduceOpWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                                          cnnlTensorDescriptor_t output_desc, cnnlReduceDescriptor_t desc,
                                          size_t *size);
cnnlStatus_t cnnlGetReduceOpWorkspaceSize_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                                             cnnlTensorDescriptor_t output_desc, cnnlTensorDescriptor_t indices_desc,
                                             cnnlReduceDescriptor_t desc, size_t *size);
cnnlStatus_t cnnlReduce_v2(cnnlHandle_t handle, cnnlReduceDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, const void *alpha, const void *beta, void *workspace,
                           size_t workspace_size, cnnlTensorDescriptor_t output_desc, void *output,
                           cnnlTensorDescriptor_t indices_desc, void *indices);

typedef enum {
  CNNL_OP_TENSOR_ADD = 0,
  CNNL_OP_TENSOR_SUB = 1,
  CNNL_OP_TENSOR_MUL = 2
} cnnlOpTensorDesc_t;

/* c = op(alpha1 * a, alpha2 * b) + beta * c; dims of 1 and missing leading dims of a and b are
 * repeated. The factors are floats in host memory. */
cnnlStatus_t cnnlCreateOpTensorDescriptor(cnnlOpTensorDescriptor_t *desc);
cnnlStatus_t cnnlDestroyOpTensorDescriptor(cnnlOpTensorDescriptor_t desc);
cnnlStatus_t cnnlSetOpTensorDescriptor(cnnlOpTensorDescriptor_t desc, cnnlOpTensorDesc_t op, cnnlDataType_t dtype,
                                       cnnlNanPropagation_t nan);
cnnlStatus_t cnnlGetOpTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t a_desc,
                                          cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc, size_t *size);
cnnlStatus_t cnnlOpTensor(cnnlHandle_t handle, cnnlOpTensorDescriptor_t desc, const void *alpha1,
                          cnnlTensorDescriptor_t a_desc, const void *a, const void *alpha2,
                          cnnlTensorDescriptor_t b_desc, const void *b, void *workspace, size_t workspace_size,
                          const void *beta, cnnlTensorDescriptor_t c_desc, void *c);

/* y = alpha * x + beta; the factors are floats, or int for int32, in host memory. */
cnnlStatus_t cnnlTransform_v2(cnnlHandle_t handle, cnnlPointerMode_t mode, const void *alpha,
                              cnnlTensorDescriptor_t x_desc, const void *x, const void *beta,
                              cnnlTensorDescriptor_t y_desc, void *y);

/* The sum of tensors of the same dims. */
cnnlStatus_t cnnlGetAddNWorkspaceSize(cnnlHandle_t handle, const cnnlTensorDescriptor_t input_descs[], int count,
                                      cnnlTensorDescriptor_t output_desc, size_t *size);
cnnlStatus_t cnnlAddN_v2(cnnlHandle_t handle, const cnnlTensorDescriptor_t input_descs[], const void *const inputs[],
                         int count, cnnlTensorDescriptor_t output_desc, void *output, void *workspace,
                         size_t workspace_size);

typedef enum {
  CNNL_MATMUL_DESC_COMPUTE_TYPE = 0,
  CNNL_MATMUL_DESC_TRANSA = 1,
  CNNL_MATMUL_DESC_TRANSB = 2,
  CNNL_MATMUL_USE_BETA = 3,
  CNNL_MATMUL_ALLOW_TF32 = 4,
  CNNL_MATMUL_USE_STRIDE = 5
} cnnlMatMulDescAttribute_t;

/* d = alpha * a b + beta * c for matrices, each transposed if the descriptor says so; c is used
 * only if beta is not 0. The factors are floats in host memory. The algorithm and the heuristic
 * result are ignored. */
cnnlStatus_t cnnlCreateMatMulDescriptor(cnnlMatMulDescriptor_t *desc);
cnnlStatus_t cnnlDestroyMatMulDescriptor(cnnlMatMulDescriptor_t desc);
cnnlStatus_t cnnlSetMatMulDescAttr(cnnlMatMulDescriptor_t desc, cnnlMatMulDescAttribute_t attribute, const void *value,
                                   size_t bytes);
cnnlStatus_t cnnlCreateMatMulAlgo(cnnlMatMulAlgo_t *algo);
cnnlStatus_t cnnlDestroyMatMulAlgo(cnnlMatMulAlgo_t algo);
cnnlStatus_t cnnlCreateMatMulHeuristicResult(cnnlMatMulHeuristicResult_t *result);
cnnlStatus_t cnnlDestroyMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result);
cnnlStatus_t cnnlGetMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                          size_t *workspace_size);
cnnlStatus_t cnnlGetMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlTensorDescriptor_t a_desc,
                                        cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                                        cnnlTensorDescriptor_t d_desc, void *preference, int requested,
                                        cnnlMatMulHeuristicResult_t results[], int *returned);
cnnlStatus_t cnnlMatMul_v2(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t algo, const void *alpha,
                           cnnlTensorDescriptor_t a_desc, const void *a, cnnlTensorDescriptor_t b_desc, const void *b,
                           const void *beta, cnnlTensorDescriptor_t c_desc, void *c, void *workspace,
                           size_t workspace_size, cnnlTensorDescriptor_t d_desc, void *d);

/* c = alpha * a b + beta * c for the matrices of the last two dims; the dims before them count
 * matrices, and dims of 1 are repeated. Both spellings of the heuristic calls are here. */
cnnlStatus_t cnnlGetBatchMatMulExAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                               cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                               cnnlTensorDescriptor_t c_desc, void *preference, int requested,
                                               cnnlMatMulHeuristicResult_t results[], int *returned);
cnnlStatus_t cnnlGetBatchMatMulExHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                                 size_t *workspace_size);
cnnlStatus_t cnnlGetBatchMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                             cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                             cnnlTensorDescriptor_t c_desc, void *preference, int requested,
                                             cnnlMatMulHeuristicResult_t results[], int *returned);
cnnlStatus_t cnnlGetBatchMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                               size_t *workspace_size);
cnnlStatus_t cnnlBatchMatMulEx(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t algo,
                               const void *alpha, cnnlTensorDescriptor_t a_desc, const void *a,
                               cnnlTensorDescriptor_t b_desc, const void *b, const void *beta,
                               cnnlTensorDescriptor_t c_desc, void *c, void *workspace, size_t workspace_size);

/* Elements begin, begin + stride, ... before end, of each dim. Negative numbers count from the end
 * of the dim. */
cnnlStatus_t cnnlStridedSlice(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                              const int begin[], const int end[], const int stride[],
                              cnnlTensorDescriptor_t output_desc, void *output);
cnnlStatus_t cnnlStridedSlice_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                                 const int64_t begin[], const int64_t end[], const int64_t stride[],
                                 cnnlTensorDescriptor_t output_desc, void *output);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}

/* For programs that keep the numbers as int. */
inline cnnlStatus_t cnnlStridedSlice_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                                        const int begin[], const int end[], const int stride[],
                                        cnnlTensorDescriptor_t output_desc, void *output) {
  return cnnlStridedSlice(handle, input_desc, input, begin, end, stride, output_desc, output);
}
#endif

#include "cnnl_operators.h"

#endif /* CNNL_H_ */
