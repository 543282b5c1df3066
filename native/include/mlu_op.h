/* The C ABI of mlu-ops, version 1.11.1, in our own words; what is derived from it is generated from
 * this file. A library returns MLUOP_STATUS_NOT_SUPPORTED for a function that it lacks.
 *
 * Any pointer may be NULL: what is refused leaves outputs and descriptors untouched, and
 * mluopsExtGetLastReason() tells why. A tensor argument is the pair `x_desc, x`. Handles and
 * descriptors are made and destroyed on any thread; one handle serves one thread at a time. */
#ifndef MLU_OP_H_
#define MLU_OP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __has_include /* the headers of the toolkit, as the vendor's header includes them, where they are */
#if __has_include(<cnrt.h>)
#include <cnrt.h>
#define MLUOPS_HAS_CNRT
#endif
#if __has_include(<cn_api.h>)
#include <cn_api.h>
#endif
#endif

#define MLUOP_MAJOR 1
#define MLUOP_MINOR 11
#define MLUOP_PATCHLEVEL 1
#define MLUOP_VERSION (MLUOP_MAJOR * 1000 + MLUOP_MINOR * 100 + MLUOP_PATCHLEVEL)

/* Largest number of dimensions of a tensor. */
#define MLUOP_DIM_MAX 8

#ifndef MLUOP_WIN_API
#ifdef _WIN32
#define MLUOP_WIN_API __stdcall
#else
#define MLUOP_WIN_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Status of a call. */
typedef enum {
  MLUOP_STATUS_SUCCESS = 0,
  MLUOP_STATUS_NOT_INITIALIZED = 1,
  MLUOP_STATUS_ALLOC_FAILED = 2,
  MLUOP_STATUS_BAD_PARAM = 3,
  MLUOP_STATUS_INTERNAL_ERROR = 4,
  MLUOP_STATUS_ARCH_MISMATCH = 5,
  MLUOP_STATUS_EXECUTION_FAILED = 6,
  MLUOP_STATUS_NOT_SUPPORTED = 7,
  MLUOP_STATUS_NUMERICAL_OVERFLOW = 8
} mluOpStatus_t;

/* Meaning of the dimensions of a tensor. */
typedef enum {
  MLUOP_LAYOUT_NCHW = 0,
  MLUOP_LAYOUT_NHWC = 1,
  MLUOP_LAYOUT_HWCN = 2,
  MLUOP_LAYOUT_NDHWC = 3,
  MLUOP_LAYOUT_ARRAY = 4,
  MLUOP_LAYOUT_NCDHW = 5,
  MLUOP_LAYOUT_TNC = 6,
  MLUOP_LAYOUT_NTC = 7,
  MLUOP_LAYOUT_NC = 8,
  MLUOP_LAYOUT_NLC = 9,
  MLUOP_LAYOUT_NCL = 10
} mluOpTensorLayout_t;

/* Meaning of the dimensions of sequence data (B beam, N batch, T time, C channels). */
typedef enum {
  MLUOP_SEQDATA_TNC = 0,
  MLUOP_SEQDATA_TNC_PACKED = 1,
  MLUOP_SEQDATA_NTC = 2,
  MLUOP_SEQDATA_NC = 3,
  MLUOP_SEQDATA_TNBC = 4,
  MLUOP_SEQDATA_TBNC = 5,
  MLUOP_SEQDATA_NBTC = 6,
  MLUOP_SEQDATA_NTBC = 7,
  MLUOP_SEQDATA_BNTC = 8,
  MLUOP_SEQDATA_BTNC = 9,
  MLUOP_SEQDATA_TN = 10,
  MLUOP_SEQDATA_NT = 11
} mluOpSeqDataLayout_t;

/* Type of an element. */
typedef enum {
  MLUOP_DTYPE_INVALID = 0,
  MLUOP_DTYPE_HALF = 1,
  MLUOP_DTYPE_FLOAT = 2,
  MLUOP_DTYPE_DOUBLE = 14,
  MLUOP_DTYPE_INT8 = 3,
  MLUOP_DTYPE_INT16 = 4,
  MLUOP_DTYPE_INT31 = 5,
  MLUOP_DTYPE_INT32 = 6,
  MLUOP_DTYPE_INT64 = 9,
  MLUOP_DTYPE_UINT8 = 7,
  MLUOP_DTYPE_UINT16 = 13,
  MLUOP_DTYPE_UINT32 = 11,
  MLUOP_DTYPE_UINT64 = 12,
  MLUOP_DTYPE_BOOL = 8,
  MLUOP_DTYPE_COMPLEX_HALF = 15,
  MLUOP_DTYPE_COMPLEX_FLOAT = 16,
  MLUOP_DTYPE_BFLOAT16 = 17
} mluOpDataType_t;

/* What an operator does with NaN. */
typedef enum {
  MLUOP_NOT_PROPAGATE_NAN = 0,
  MLUOP_PROPAGATE_NAN = 1
} mluOpNanPropagation_t;

/* Speed against precision. */
typedef enum {
  MLUOP_COMPUTATION_FAST = 0,
  MLUOP_COMPUTATION_HIGH_PRECISION = 1,
  MLUOP_COMPUTATION_ULTRAHIGH_PRECISION = 2
} mluOpComputationPreference_t;

/* Whether an operator may use device atomics. */
typedef enum {
  MLUOP_ATOMICS_NOT_ALLOWED = 1,
  MLUOP_ATOMICS_ALLOWED = 2
} mluOpAtomicsMode_t;

/* How quantisation rounds. */
typedef enum {
  MLUOP_ROUND_HALF_TO_EVEN = 0,
  MLUOP_ROUND_HALF_UP = 1,
  MLUOP_ROUND_HALF_OFF_ZERO = 2
} mluOpQuantizeRoundMode_t;

/* Parameters of quantisation. */
typedef enum {
  MLUOP_QUANTIZE_POSITION = 0,
  MLUOP_QUANTIZE_POSITION_SCALE = 1,
  MLUOP_QUANTIZE_POSITION_SCALE_OFFSET = 2
} mluOpQuantizeMode_t;

/* Base of a logarithm. */
typedef enum {
  MLUOP_LOG_E = 0,
  MLUOP_LOG_2 = 1,
  MLUOP_LOG_10 = 2
} mluOpLogBase_t;

/* Where the data of a tensor lies. */
typedef enum {
  MLUOP_POINTER_MODE_HOST = 0,
  MLUOP_POINTER_MODE_DEVICE = 1
} mluOpPointerMode_t;

/* How a box is written. */
typedef enum {
  MLUOP_NMS_BOX_DIAGONAL = 0,
  MLUOP_NMS_BOX_CENTER = 1
} mluOpNmsBoxPointMode_t;

/* What non-maximum suppression returns. */
typedef enum {
  MLUOP_NMS_OUTPUT_TARGET_INDICES = 0,
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 = 1,
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 = 2,
  MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS = 3
} mluOpNmsOutputMode_t;

/* Kind of non-maximum suppression. */
typedef enum {
  MLUOP_NMS_HARD_NMS = 0,
  MLUOP_NMS_SOFT_NMS_LINEAR = 1,
  MLUOP_NMS_SOFT_NMS_GAUSSIAN = 2
} mluOpNmsMethodMode_t;

/* Whether the boundary of a box belongs to it. */
typedef enum {
  MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY = 0,
  MLUOP_NMS_ALGO_INCLUDE_BOUNDARY = 1
} mluOpNmsAlgo_t;

/* Width of an index. */
typedef enum {
  MLUOP_32BIT_INDICES = 0,
  MLUOP_16BIT_INDICES = 1
} mluOpIndicesType_t;

/* Reduction of a loss. */
typedef enum {
  MLUOP_LOSS_REDUCTION_NONE = 0,
  MLUOP_LOSS_REDUCTION_SUM = 1,
  MLUOP_LOSS_REDUCTION_MEAN = 2
} mluOpLossReduction_t;

/* Reduction of points to voxels. */
typedef enum {
  MLUOP_REDUCE_DSUM = 0,
  MLUOP_REDUCE_DMEAN = 1,
  MLUOP_REDUCE_DMAX = 2
} mluOpReduceMode_t;

/* Kind of pooling. */
typedef enum {
  MLUOP_POOLING_MAX = 0,
  MLUOP_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
  MLUOP_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2,
  MLUOP_POOLING_FIXED = 3
} mluOpPoolingMode_t;

/* Attribute of an AdamW descriptor. */
typedef enum {
  MLUOP_ADAMW_WEIGHT_DECAY = 0,
  MLUOP_ADAMW_GRAD_SCALE = 1,
  MLUOP_ADAMW_USE_NESTEROV = 2,
  MLUOP_ADAMW_NEED_REMOVE_NAN = 3
} mluOpAdamWDescAttribute_t;

#ifndef MLUOPS_HAS_CNRT /* a queue of the CNRT runtime, opaque here */
typedef struct CNqueue_st *cnrtQueue_t;
#endif

/* Opaque handles. */
typedef struct mluOpContext *mluOpHandle_t;
typedef struct mluOpTensorSetStruct *mluOpTensorSetDescriptor_t;
typedef struct mluOpTensorStruct *mluOpTensorDescriptor_t;
typedef struct mluOpSeqDataStruct *mluOpSeqDataDescriptor_t;
typedef struct cnnlNmsStruct *mluOpNmsDescriptor_t;
typedef struct mluOpSparseConvolutionStruct *mluOpSparseConvolutionDescriptor_t;
typedef struct cnnlRoiAlignStruct *mluOpRoiAlignForwardDescriptor_t;
typedef struct cnnlDCNStruct *mluOpDCNDescriptor_t;
typedef struct mluOpCarafeStruct *mluOpCarafeDescriptor_t;
typedef struct mluOpAdamWStruct *mluOpAdamWDescriptor_t;
typedef struct mluOpFFTStruct *mluOpFFTPlan_t;

/* ---- Handle and status ----------------------------------------------------------------------- */

/* Creates a handle. On a device library the handle belongs to the device that is current on the
 * calling thread. NOT_INITIALIZED if an environment variable that the library reads has a value
 * that it cannot have. */
mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t *handle);

/* Reads the limits of the device context again, after they were changed from outside. */
mluOpStatus_t MLUOP_WIN_API mluOpUpdateContextInformation(mluOpHandle_t handle);

/* Destroys a handle. The queue set on it stays alive and belongs to the caller. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t handle);

/* Sets the queue that later calls with this handle run on; NULL is the default queue. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue);

/* Gives the queue set on the handle. */
mluOpStatus_t MLUOP_WIN_API mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t *queue);

/* The name of the enumerator, or "MLUOP_STATUS_UNKNOWN"; never NULL, valid for ever. */
const char *MLUOP_WIN_API mluOpGetErrorString(mluOpStatus_t status);

/* Stores the atomics mode; the value is not examined. */
mluOpStatus_t MLUOP_WIN_API mluOpSetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t atomics_mode);

/* Gives the stored atomics mode. */
mluOpStatus_t MLUOP_WIN_API mluOpGetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t *atomics_mode);

/* ---- Version --------------------------------------------------------------------------------- */

/* Writes the version of the C ABI. NULL pointers are skipped. */
void MLUOP_WIN_API mluOpGetLibVersion(int *major, int *minor, int *patch);

/* ---- Quantisation round mode ----------------------------------------------------------------- */

/* Stores the round mode; only the three enumerators are accepted. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t round_mode);

/* Gives the stored round mode. */
mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t *round_mode);

/* ---- Tensor descriptor ----------------------------------------------------------------------- */

/* Bytes of one element; INVALID is BAD_PARAM, an unknown number gives size 0. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t *size);

/* Creates a descriptor: dtype FLOAT, layout ARRAY, pointer mode DEVICE, no dims, no elements. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc);

/* Creates desc_num descriptors; group_desc[i] points to the variable that receives the i-th. All or
 * none. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(
    mluOpTensorDescriptor_t *group_desc[], const int desc_num);

/* Sets layout, dtype and dims with packed strides. dimNb is at most MLUOP_DIM_MAX; dimNb 0, a
 * scalar, needs pointer mode HOST set before. A refused call leaves the descriptor as it was; so do
 * all setters below. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor(
    mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dimNb, const int dimSize[]);

/* Says whether the data of this tensor lies in host or in device memory. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPointerMode(
    mluOpTensorDescriptor_t desc, mluOpPointerMode_t pointer_mode);

/* Gives the pointer mode. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPointerMode(
    mluOpTensorDescriptor_t desc, mluOpPointerMode_t *pointer_mode);

/* The same with 64-bit dims. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor_v2(
    mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dimNb,
    const int64_t dimSize[]);

/* Sets a group; group_dimSize holds the dims of all of them one after another. The status of a
 * single set is not reported: a descriptor whose values are refused stays as it was. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors(
    mluOpTensorDescriptor_t *group_desc[], const mluOpTensorLayout_t group_layout[],
    const mluOpDataType_t group_dtype[], const int group_dimNb[], const int group_dimSize[], const int desc_num);

/* Puts a descriptor back into the state of a new one. */
mluOpStatus_t MLUOP_WIN_API mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc);

/* Sets layout, dtype, dims and explicit strides, counted in elements, outermost first. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx(
    mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dimNb, const int dimSize[],
    const int dimStride[]);

/* The same with 64-bit dims and strides. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx_v2(
    mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dimNb, const int64_t dimSize[],
    const int64_t dimStride[]);

/* Replaces the dims and packs the strides; layout and dtype stay. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb, const int *dimSize);

/* The same with 64-bit dims. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim_v2(
    mluOpTensorDescriptor_t desc, int dimNb, const int64_t *dimSize);

/* Stores the data type used on the chip; the value is not examined. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorOnchipDataType(
    mluOpTensorDescriptor_t desc, mluOpDataType_t onchip_dtype);

/* Stores the quantisation position. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc, int position);

/* Stores quantisation position and scale. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionAndScale(
    mluOpTensorDescriptor_t desc, int position, float scale);

/* Stores quantisation position, scale and offset. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionScaleAndOffset(
    mluOpTensorDescriptor_t desc, int position, float scale, int offset);

/* Reads a descriptor; every output may be NULL and is then skipped. dimSize needs room for dimNb
 * values. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor(
    const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout, mluOpDataType_t *dtype, int *dimNb, int dimSize[]);

/* The same with 64-bit dims. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor_v2(
    const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout, mluOpDataType_t *dtype, int *dimNb,
    int64_t dimSize[]);

/* Reads a descriptor with its strides; here no output may be NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx(
    const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout, mluOpDataType_t *dtype, int *dimNb, int dimSize[],
    int dimStride[]);

/* The same with 64-bit dims and strides. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx_v2(
    const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout, mluOpDataType_t *dtype, int *dimNb,
    int64_t dimSize[], int64_t dimStride[]);

/* Number of elements; 0 for NULL or a destroyed descriptor. */
size_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc);

/* Gives the data type used on the chip. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorOnchipDataType(
    const mluOpTensorDescriptor_t desc, mluOpDataType_t *onchip_dtype);

/* Gives the quantisation position. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc, int *position);

/* Gives quantisation position and scale. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionAndScale(
    const mluOpTensorDescriptor_t desc, int *position, float *scale);

/* Gives quantisation position, scale and offset. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionScaleAndOffset(
    const mluOpTensorDescriptor_t desc, int *position, float *scale, int *offset);

/* Destroys a descriptor; a second call with the same pointer is BAD_PARAM. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc);

/* Destroys a group. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyGroupTensorDescriptors(
    mluOpTensorDescriptor_t *group_desc[], const int desc_num);

/* ---- Tensor set descriptor ------------------------------------------------------------------- */

/* Creates a set of prod(setDimSize) tensor descriptors, addressed by an index of setDimNb
 * numbers. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorSetDescriptor(
    mluOpTensorSetDescriptor_t *tensorSetDesc, const int setDimNb, const int setDimSize[]);

/* Reads the shape of the set; an output may be NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptor(
    mluOpTensorSetDescriptor_t tensorSetDesc, int *setDimNb, int setDimSize[]);

/* Destroys the set and its members. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc);

/* Sets layout, dtype and dims of one member. */
mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptor(
    mluOpTensorSetDescriptor_t tensorSetDesc, const int setDimNb, const int tensorIndex[], mluOpTensorLayout_t layout,
    mluOpDataType_t dtype, const int dimNb, const int dimSize[]);

/* Sets position and scale of one member. */
mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptorPositionAndScale(
    mluOpTensorSetDescriptor_t tensorSetDesc, const int setDimNb, const int tensorIndex[], const int position,
    const float scale);

/* Bytes of all members together. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptorSize(mluOpTensorSetDescriptor_t tensorSetDesc, int *sizeInBytes);

/* Gives a member's descriptor and its address, the members lying one after another from data on. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorAndDataFromTensorSet(
    mluOpTensorSetDescriptor_t tensorSetDesc, const int setDimNb, const int tensorIndex[], void *data,
    mluOpTensorDescriptor_t *tensorDesc, void **dataAddrInDevice);

/* ---- Sequence data descriptor ---------------------------------------------------------------- */

/* Creates a sequence data descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSeqDataDescriptor(mluOpSeqDataDescriptor_t *seq_data_desc);

/* Sets layout, dtype, dims, sequence lengths (all > 0) and, if not NULL, the padding value, one
 * element of dtype. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptor_v2(
    mluOpSeqDataDescriptor_t seq_data_desc, mluOpSeqDataLayout_t layout, mluOpDataType_t dtype, int dimNb,
    const int64_t dimSize[], int seqLengthArraySize, const int seqLengthArray[], void *paddingFill);

/* Destroys a sequence data descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroySeqDataDescriptor(mluOpSeqDataDescriptor_t seq_data_desc);

/* Stores quantisation position and scale. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptorPositionAndScale(
    mluOpSeqDataDescriptor_t seq_data_desc, int position, float scale);

/* Reads it; every output may be NULL, but paddingFill asks for dtype. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSeqDataDescriptor_v2(
    const mluOpSeqDataDescriptor_t seq_data_desc, mluOpSeqDataLayout_t *layout, mluOpDataType_t *dtype, int *dimNb,
    int64_t dimSize[], int64_t *seqLengthArraySize, int64_t seqLengthArray[], void *paddingFill);

/* ---- TinShift -------------------------------------------------------------------------------- */

/* The same shift, with the same sign, applied to the gradient.
 * grad_output, grad_input [N, T, C, HW] half or float; shifts [N, G] int32, G divides C. */
mluOpStatus_t MLUOP_WIN_API mluOpTinShiftBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

/* out[n, t, c, p] = in[n, t - s, c, p] with s = shifts[n, c / (C / G)], and 0 where t - s is
 * outside [0, T). input, output [N, T, C, HW] half or float; shifts [N, G] int32, G divides C. */
mluOpStatus_t MLUOP_WIN_API mluOpTinShiftForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t output_desc,
    void *output);

/* ---- Psamask --------------------------------------------------------------------------------- */

/* Spreads the mask of every position over the feature map. psa_type 0 collects, 1 distributes.
 * x [N, H, W, h_mask*w_mask], y [N, H, W, H*W]; float, layout NHWC. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskForward(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y);

/* The transposed movement: dy like y above, dx like x above; 0 where a mask cell lies outside the
 * map. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskBackward(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t dy_desc, const void *dy, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t dx_desc, void *dx);

/* ---- BorderAlign ----------------------------------------------------------------------------- */

/* Largest of pool_size + 1 bilinear samples along each of the four borders of a box, and which
 * sample it was. input [N, H, W, 4C] half or float, NHWC; boxes [N, K, 4] = x1, y1, x2, y2 of the
 * same type; output [N, K, 4, C] NHWC; argmax_idx [N, K, 4, C] int32, NHWC. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_idx_desc,
    void *argmax_idx);

/* Gradient with respect to input: grad_output and argmax_idx [N, K, 4, C], grad_input [N, H, W,
 * 4C]. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
    const void *argmax_idx, const int32_t pool_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

/* ---- ThreeInterpolate ------------------------------------------------------------------------ */

/* output[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]]; an index
 * outside [0, M) adds 0. features [B, C, M], weights [B, N, 3], output [B, C, N] half or float;
 * indices [B, N, 3] int32; layout ARRAY. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient with respect to features: grad_output [B, C, N], grad_features [B, C, M]. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);

/* ---- Sparse convolution: descriptor and GetIndicePairs --------------------------------------- */

/* Creates a descriptor; NULL is NOT_INITIALIZED. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t *desc);

/* Destroys it; NULL is EXECUTION_FAILED. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc);

/* Sets the geometry. dimNb is 5; each array holds depth, height, width; transpose and inverse are
 * 0. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSparseConvolutionDescriptor(
    mluOpSparseConvolutionDescriptor_t desc, int dimNb, int batch_size, const int pad[], const int stride[],
    const int dilation[], const int input_space[], const int filter_space[], const int output_space[], const int sub_m,
    const int transpose, const int inverse);

/* Number of output rows found by the last mluOpGetIndicePairs; a NULL is NOT_INITIALIZED. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSparseConvolutionNumActOut(
    mluOpSparseConvolutionDescriptor_t desc, int *num_act_out);

/* For each filter cell the pairs (input row, output row) that a sparse convolution multiplies.
 * indices [L, 4] = batch, depth, height, width; indice_pairs [K, 2, L] filled up with -1;
 * out_indices [rows, 4], of which the first num_act_out are written; indice_num [K]; all int32. The
 * descriptor receives num_act_out. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairs(
    mluOpHandle_t handle, const mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t indice_pairs_desc, void *indice_pairs, const mluOpTensorDescriptor_t out_indices_desc,
    void *out_indices, const mluOpTensorDescriptor_t indice_num_desc, void *indice_num);

/* Bytes of workspace that mluOpGetIndicePairs needs with the same arguments. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairsWorkspaceSize(
    mluOpHandle_t handle, const mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
    const mluOpTensorDescriptor_t indices_desc, const mluOpTensorDescriptor_t indice_pairs_desc,
    const mluOpTensorDescriptor_t out_indices_desc, const mluOpTensorDescriptor_t indice_num_desc,
    size_t *workspace_size);

/* ---- BallQuery ------------------------------------------------------------------------------- */

/* Finds, for each query point, the first nsample points within a spherical shell around it.
 * new_xyz [B, M, 3], xyz [B, N, 3] half or float; idx [B, M, nsample] int32. */
mluOpStatus_t MLUOP_WIN_API mluOpBallQuery(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const float min_radius, const float max_radius,
    const int nsample, const mluOpTensorDescriptor_t idx_desc, void *idx);

/* ---- ThreeNN --------------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpThreeNNForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetThreeNNForwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t known_desc, size_t *workspace_size);

/* Finds the three nearest known points of each unknown point, and their squared distances.
 * unknown [B, N, 3], known [B, M, 3], dist2 [B, N, 3] half or float; idx [B, N, 3] int32. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeNNForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
    const mluOpTensorDescriptor_t known_desc, const void *known, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx);

/* ---- MsDeformAttn ---------------------------------------------------------------------------- */

/* Multi-scale deformable attention: weighted bilinear samples of several feature maps. */
mluOpStatus_t MLUOP_WIN_API mluOpMsDeformAttnForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void *data_value,
    const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void *data_spatial_shapes,
    const mluOpTensorDescriptor_t data_level_start_index_desc, const void *data_level_start_index,
    const mluOpTensorDescriptor_t data_sampling_loc_desc, const void *data_sampling_loc,
    const mluOpTensorDescriptor_t data_attn_weight_desc, const void *data_attn_weight, const int im2col_step,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col);

/* Gradients with respect to values, sampling locations and attention weights. */
mluOpStatus_t MLUOP_WIN_API mluOpMsDeformAttnBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc, const void *value,
    const mluOpTensorDescriptor_t spatial_shapes_desc, const void *spatial_shapes,
    const mluOpTensorDescriptor_t level_start_index_desc, const void *level_start_index,
    const mluOpTensorDescriptor_t sampling_loc_desc, const void *sampling_loc,
    const mluOpTensorDescriptor_t attn_weight_desc, const void *attn_weight,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int32_t im2col_step,
    const mluOpTensorDescriptor_t grad_value_desc, void *grad_value,
    const mluOpTensorDescriptor_t grad_sampling_loc_desc, void *grad_sampling_loc,
    const mluOpTensorDescriptor_t grad_attn_weight_desc, void *grad_attn_weight);

/* ---- RoiAlign -------------------------------------------------------------------------------- */

/* Creates a descriptor; its values have to be set before it is used. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t *desc);

/* Sets the values. sampling_ratio 0 is adaptive; pool_mode 0 takes the maximum, 1 the average. */
mluOpStatus_t MLUOP_WIN_API mluOpSetRoiAlignForwardDescriptor_v2(
    mluOpRoiAlignForwardDescriptor_t roialign_desc, const int pooled_height, const int pooled_width,
    const int sampling_ratio, const float spatial_scale, const int pool_mode, const bool aligned);

/* Destroys a descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t desc);

/* Pools bilinear samples of each region of interest. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignForward_v2(
    mluOpHandle_t handle, const mluOpRoiAlignForwardDescriptor_t roialign_desc,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t boxes_desc,
    const void *boxes, const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t argmax_x_desc, void *argmax_x, const mluOpTensorDescriptor_t argmax_y_desc,
    void *argmax_y);

/* Gradient of average pooling with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward(
    mluOpHandle_t handle, const float spatial_scale, const int sampling_ratio, const bool aligned,
    const mluOpTensorDescriptor_t grads_desc, const void *grads, const mluOpTensorDescriptor_t boxes_desc,
    const void *boxes, const mluOpTensorDescriptor_t grads_image_desc, void *grads_image);

/* Gradient of maximum or average pooling with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignBackward_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc, const void *grads,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_x_desc,
    const void *argmax_x, const mluOpTensorDescriptor_t argmax_y_desc, const void *argmax_y, const float spatial_scale,
    const int sampling_ratio, const bool aligned, const int pool_mode, const mluOpTensorDescriptor_t grads_image_desc,
    void *grads_image);

/* ---- RoiAlignRotated ------------------------------------------------------------------------- */

/* Pools bilinear samples of each rotated region of interest. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient with respect to the features. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAlignRotatedBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t top_grad_desc, const void *top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const float spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad);

/* ---- RoiCrop --------------------------------------------------------------------------------- */

/* Samples a feature map bilinearly at the points of a grid. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiCropForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t grid_desc, const void *grid, const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiCropBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t grid_desc, const void *grid, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

/* ---- RoiPooling ------------------------------------------------------------------------------ */

/* Largest value of each bin of each region of interest, and where it was. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingForward(
    mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, float spatial_scale,
    const mluOpTensorDescriptor_t output_desc, void *output, int *argmax);

/* Gradient with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiPoolingBackward(
    mluOpHandle_t handle, mluOpPoolingMode_t pooling_mode, const mluOpTensorDescriptor_t grads_desc, const void *grads,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t argmax_desc,
    const int *argmax, const float spatial_scale, const mluOpTensorDescriptor_t grads_image_desc, void *grads_image);

/* ---- RoiAwarePool3d -------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpRoiAwarePool3dForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiAwarePool3dForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t rois_desc, const mluOpTensorDescriptor_t pts_desc,
    const mluOpTensorDescriptor_t pts_feature_desc, size_t *workspace_size);

/* Pools point features in the voxels of each 3-D box. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dForward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t pts_desc, const void *pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void *pts_feature, void *workspace, size_t workspace_size,
    const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void *argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void *pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features);

/* Gradient with respect to the point features. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiAwarePool3dBackward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void *pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void *argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void *grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void *grad_in);

/* Deprecated name of mluOpGetRoiAwarePool3dForwardWorkspaceSize. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiawarePool3dForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t rois_desc, const mluOpTensorDescriptor_t pts_desc,
    const mluOpTensorDescriptor_t pts_feature_desc, size_t *workspace_size);

/* Deprecated name of mluOpRoiAwarePool3dForward. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiawarePool3dForward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t pts_desc, const void *pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void *pts_feature, void *workspace, size_t workspace_size,
    const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void *argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void *pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features);

/* Deprecated name of mluOpRoiAwarePool3dBackward. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiawarePool3dBackward(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void *pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void *argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void *grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void *grad_in);

/* ---- RoiPointPool3d -------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpRoiPointPool3d. */
mluOpStatus_t MLUOP_WIN_API mluOpGetRoiPointPool3dWorkspaceSize(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc,
    const mluOpTensorDescriptor_t point_features_desc, const mluOpTensorDescriptor_t boxes3d_desc,
    const mluOpTensorDescriptor_t pooled_features_desc, const mluOpTensorDescriptor_t pooled_empty_flag_desc,
    size_t *size);

/* Gathers points and their features inside each 3-D box. */
mluOpStatus_t MLUOP_WIN_API mluOpRoiPointPool3d(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t point_features_desc, const void *point_features,
    const mluOpTensorDescriptor_t boxes3d_desc, const void *boxes3d, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features,
    const mluOpTensorDescriptor_t pooled_empty_flag_desc, void *pooled_empty_flag);

/* ---- PsRoiPool ------------------------------------------------------------------------------- */

/* Position-sensitive average pooling of regions of interest. */
mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolForward(
    mluOpHandle_t handle, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int group_size, const int output_dim, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t mapping_channel_desc, void *mapping_channel);

/* Gradient with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolBackward(
    mluOpHandle_t handle, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int output_dim, const mluOpTensorDescriptor_t top_grad_desc, const void *top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t mapping_channel_desc,
    const void *mapping_channel, const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad);

/* ---- DeformRoiPool --------------------------------------------------------------------------- */

/* Average pooling of regions of interest whose bins are moved by offsets. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int sampling_ratio, const float gamma, const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradients with respect to the input and the offsets. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t offset_desc, const void *offset, const int pooled_height,
    const int pooled_width, const float spatial_scale, const int sampling_ratio, const float gamma,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input, const mluOpTensorDescriptor_t grad_offset_desc,
    void *grad_offset);

/* ---- RotatedFeatureAlign --------------------------------------------------------------------- */

/* Adds bilinear samples at the centre, or at five points, of rotated boxes to a map. */
mluOpStatus_t MLUOP_WIN_API mluOpRotatedFeatureAlignForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t bboxes_desc, const void *bboxes, const float spatial_scale, const int points,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpRotatedFeatureAlignBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t top_output_desc, const void *top_output,
    const mluOpTensorDescriptor_t bboxes_desc, const void *bboxes, const float spatial_scale, const int points,
    const mluOpTensorDescriptor_t bottom_input_desc, void *bottom_input);

/* ---- DeformConv ------------------------------------------------------------------------------ */

/* Creates a descriptor; its values have to be set before it is used. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateDCNDescriptor(mluOpDCNDescriptor_t *dcn_desc);

/* Sets the values. pad holds top, bottom, left and right; stride and dilation hold height and
 * width. */
mluOpStatus_t MLUOP_WIN_API mluOpSetDCNDescriptor(
    mluOpDCNDescriptor_t dcn_desc, int dimNb, const int pad[], const int stride[], const int dilation[],
    int deformable_group, int conv_group, int im2col_step, const mluOpDataType_t compute_type);

/* Destroys a descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyDCNDescriptor(mluOpDCNDescriptor_t dcn_desc);

/* Bytes of workspace of mluOpDCNForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t bias_desc,
    const mluOpTensorDescriptor_t output_desc, size_t *workspace_size);

/* Deformable convolution, modulated by mask if that is given. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNForward(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t offset_desc, const void *offset,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t bias_desc, const void *bias, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output);

/* Bytes of workspace of mluOpDCNBackwardWeight. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBackwardWeightWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t grad_output_desc, const mluOpTensorDescriptor_t grad_filter_desc,
    const mluOpTensorDescriptor_t grad_bias_desc, size_t *workspace_size);

/* Gradients with respect to filter and bias. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardWeight(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t offset_desc, const void *offset,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t grad_output_desc,
    const void *grad_output, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t grad_filter_desc,
    void *grad_filter, const mluOpTensorDescriptor_t grad_bias_desc, void *grad_bias);

/* Bytes of workspace of mluOpDCNBackwardData. The spelling is that of the ABI. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDCNBakcwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t grad_output_desc,
    const mluOpTensorDescriptor_t grad_input_desc, const mluOpTensorDescriptor_t grad_offset_desc,
    const mluOpTensorDescriptor_t grad_mask_desc, size_t *workspace_size);

/* Gradients with respect to input, offset and mask. */
mluOpStatus_t MLUOP_WIN_API mluOpDCNBackwardData(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t offset_desc, const void *offset,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask);

/* ---- Carafe ---------------------------------------------------------------------------------- */

/* Creates a descriptor; its values have to be set before it is used. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t *carafe_desc);

/* Sets the values; dimNb is 4, kernel_size is odd. */
mluOpStatus_t MLUOP_WIN_API mluOpSetCarafeDescriptor(
    mluOpCarafeDescriptor_t carafe_desc, const int dimNb, const int kernel_size, const int group_size,
    const int scale_factor);

/* Destroys a descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc);

/* Enlarges a feature map by scale_factor, each new cell a weighted sum of its neighbourhood. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeForward(
    mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradients with respect to the input and the weights. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeBackward(
    mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t mask_desc, const void *mask,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input, const mluOpTensorDescriptor_t grad_mask_desc,
    void *grad_mask);

/* ---- MaskedIm2col ---------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpMaskedIm2colForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedIm2colForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const int kernel_h, const int kernel_w,
    const mluOpTensorDescriptor_t data_col_desc, size_t *workspace_size);

/* Gathers the windows around the masked cells of a feature map as columns. */
mluOpStatus_t MLUOP_WIN_API mluOpMaskedIm2colForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc, const void *feature,
    const mluOpTensorDescriptor_t mask_h_idx_desc, const void *mask_h_idx,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const void *mask_w_idx, const int kernel_h, const int kernel_w,
    const int pad_h, const int pad_w, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col);

/* Bytes of workspace of mluOpMaskedCol2imForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedCol2imForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const mluOpTensorDescriptor_t im_desc, size_t *workspace_size);

/* Writes columns to the masked cells of a feature map. */
mluOpStatus_t MLUOP_WIN_API mluOpMaskedCol2imForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const void *col,
    const mluOpTensorDescriptor_t mask_h_idx_desc, const void *mask_h_idx,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const void *mask_w_idx, const size_t workspace_size, void *workspace,
    const mluOpTensorDescriptor_t im_desc, void *im);

/* ---- ActiveRotatedFilter --------------------------------------------------------------------- */

/* Bytes of workspace of mluOpActiveRotatedFilterForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetActiveRotatedFilterForwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, size_t *workspace_size);

/* Turns a filter into all its rotations. */
mluOpStatus_t MLUOP_WIN_API mluOpActiveRotatedFilterForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* ---- Voxelization ---------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpVoxelization. */
mluOpStatus_t MLUOP_WIN_API mluOpGetVoxelizationWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const mluOpTensorDescriptor_t voxel_size_desc,
    const mluOpTensorDescriptor_t coors_range_desc, const int32_t max_points, const int32_t max_voxels,
    const int32_t NDim, const bool deterministic, const mluOpTensorDescriptor_t voxels_desc,
    const mluOpTensorDescriptor_t coors_desc, const mluOpTensorDescriptor_t num_points_per_voxel_desc,
    const mluOpTensorDescriptor_t voxel_num_desc, size_t *size);

/* Sorts points into voxels of a regular grid. */
mluOpStatus_t MLUOP_WIN_API mluOpVoxelization(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t voxel_size_desc, const void *voxel_size,
    const mluOpTensorDescriptor_t coors_range_desc, const void *coors_range, const int32_t max_points,
    const int32_t max_voxels, const int32_t NDim, const bool deterministic, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t voxels_desc, void *voxels, const mluOpTensorDescriptor_t coors_desc, void *coors,
    const mluOpTensorDescriptor_t num_points_per_voxel_desc, void *num_points_per_voxel,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num);

/* ---- VoxelPooling ---------------------------------------------------------------------------- */

/* Adds the features of all points that fall into a cell of a bird's-eye map. */
mluOpStatus_t MLUOP_WIN_API mluOpVoxelPoolingForward(
    mluOpHandle_t handle, const int batch_size, const int num_points, const int num_channels, const int num_voxel_x,
    const int num_voxel_y, const int num_voxel_z, const mluOpTensorDescriptor_t geom_xyz_desc, const void *geom_xyz,
    const mluOpTensorDescriptor_t input_features_desc, const void *input_features,
    const mluOpTensorDescriptor_t output_features_desc, void *output_features,
    const mluOpTensorDescriptor_t pos_memo_desc, void *pos_memo);

/* ---- DynamicPointToVoxel --------------------------------------------------------------------- */

/* Bytes of workspace of mluOpDynamicPointToVoxelForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feats_desc, const mluOpTensorDescriptor_t coors_desc,
    size_t *workspace_size);

/* Reduces the features of the points of each voxel. */
mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelForward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void *feats, const mluOpTensorDescriptor_t coors_desc, void *coors, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void *voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void *voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num);

/* Bytes of workspace of mluOpDynamicPointToVoxelBackward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetDynamicPointToVoxelBackwardWorkspaceSize(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const mluOpTensorDescriptor_t feats_desc,
    const mluOpTensorDescriptor_t voxel_feats_desc, const mluOpTensorDescriptor_t point2voxel_map_desc,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const mluOpTensorDescriptor_t voxel_num_desc,
    size_t *workspace_size);

/* Gradient with respect to the point features. */
mluOpStatus_t MLUOP_WIN_API mluOpDynamicPointToVoxelBackward(
    const mluOpHandle_t handle, const mluOpReduceMode_t reduce_type,
    const mluOpTensorDescriptor_t grad_voxel_feats_desc, const void *grad_voxel_feats,
    const mluOpTensorDescriptor_t feats_desc, const void *feats, const mluOpTensorDescriptor_t voxel_feats_desc,
    const void *voxel_feats, const mluOpTensorDescriptor_t point2voxel_map_desc, const void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, const void *voxel_num, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_feats_desc, void *grad_feats);

/* ---- PointsInBoxes --------------------------------------------------------------------------- */

/* Finds the 3-D box that each point lies in, -1 if in none. */
mluOpStatus_t MLUOP_WIN_API mluOpPointsInBoxes(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t points_indices_desc,
    void *points_indices);

/* ---- SparseConv ------------------------------------------------------------------------------ */

/* Bytes of workspace of mluOpIndiceConvolutionForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse, const int64_t sub_m,
    size_t *workspace_size);

/* Sparse convolution of features by the pairs that mluOpGetIndicePairs found. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse,
    const int64_t sub_m, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t features_out_desc,
    void *features_out);

/* Bytes of workspace of mluOpIndiceConvolutionBackwardData. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

/* Gradient with respect to the features. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t input_grad_desc, void *input_grad);

/* Bytes of workspace of mluOpIndiceConvolutionBackwardFilter. */
mluOpStatus_t MLUOP_WIN_API mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, size_t *workspace_size);

/* Gradient with respect to the filters. */
mluOpStatus_t MLUOP_WIN_API mluOpIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void *indice_pairs, const int64_t indice_num[],
    const int64_t inverse, const int64_t sub_m, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t filters_grad_desc, void *filters_grad);

/* ---- Nms ------------------------------------------------------------------------------------- */

/* Creates a descriptor; unset, it selects nothing. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateNmsDescriptor(mluOpNmsDescriptor_t *desc);

/* Sets the values, all or none. */
mluOpStatus_t MLUOP_WIN_API mluOpSetNmsDescriptor(
    mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode, const mluOpNmsOutputMode_t output_mode,
    const mluOpNmsAlgo_t algo, const mluOpNmsMethodMode_t method_mode, const float iou_threshold,
    const float soft_nms_sigma, const int max_output_size, const float confidence_threshold, const float offset,
    const int input_layout, const bool pad_to_max_output_size);

/* Destroys a descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyNmsDescriptor(mluOpNmsDescriptor_t desc);

/* Bytes of workspace of mluOpNms. */
mluOpStatus_t MLUOP_WIN_API mluOpGetNmsWorkspaceSize(
    mluOpHandle_t handle, mluOpNmsDescriptor_t nms_desc, const mluOpTensorDescriptor_t boxes_desc,
    const mluOpTensorDescriptor_t confidence_desc, size_t *size);

/* Non-maximum suppression of boxes. */
mluOpStatus_t MLUOP_WIN_API mluOpNms(
    mluOpHandle_t handle, const mluOpNmsDescriptor_t nms_desc, const mluOpTensorDescriptor_t boxes_desc,
    const void *boxes, const mluOpTensorDescriptor_t confidence_desc, const void *confidence, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output, void *output_size);

/* ---- NmsRotated ------------------------------------------------------------------------------ */

/* Bytes of workspace of mluOpNmsRotated. */
mluOpStatus_t MLUOP_WIN_API mluOpGetNmsRotatedWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, size_t *workspace_size);

/* Non-maximum suppression of rotated boxes. */
mluOpStatus_t MLUOP_WIN_API mluOpNmsRotated(
    mluOpHandle_t handle, const float iou_threshold, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t output_desc, void *output, int32_t *result_num);

/* ---- PolyNms --------------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpPolyNms. */
mluOpStatus_t MLUOP_WIN_API mluOpGetPolyNmsWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, size_t *size);

/* Non-maximum suppression of quadrilaterals. */
mluOpStatus_t MLUOP_WIN_API mluOpPolyNms(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const float iou_threshold,
    void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output, void *output_size);

/* ---- GenerateProposalsV2 --------------------------------------------------------------------- */

/* Deprecated: bytes of workspace of mluOpGenerateProposalsV2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, size_t *size);

/* Bytes of workspace of mluOpGenerateProposalsV2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, const int32_t pre_nms_top_n, size_t *size);

/* Region proposals: decodes, clips, filters and suppresses anchor boxes. */
mluOpStatus_t MLUOP_WIN_API mluOpGenerateProposalsV2(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const float nms_thresh,
    const float min_size, const float eta, bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size);

/* ---- BboxOverlaps ---------------------------------------------------------------------------- */

/* Intersection over union (mode 0) or over foreground (mode 1) of boxes. */
mluOpStatus_t MLUOP_WIN_API mluOpBboxOverlaps(
    mluOpHandle_t handle, const int mode, const bool aligned, const int offset,
    const mluOpTensorDescriptor_t bbox1_desc, const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc,
    const void *bbox2, const mluOpTensorDescriptor_t ious_desc, void *ious);

/* ---- BoxIouRotated --------------------------------------------------------------------------- */

/* Intersection over union (mode 0) or over foreground (mode 1) of rotated boxes. */
mluOpStatus_t MLUOP_WIN_API mluOpBoxIouRotated(
    mluOpHandle_t handle, const int mode, const bool aligned, const mluOpTensorDescriptor_t bbox1_desc,
    const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
    const mluOpTensorDescriptor_t ious_desc, void *ious);

/* ---- DiffIouRotatedSortVertices -------------------------------------------------------------- */

/* Sorts the vertices of the intersections of rotated boxes anticlockwise. */
mluOpStatus_t MLUOP_WIN_API mluOpDiffIouRotatedSortVerticesForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t vertices_desc, const void *vertices,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t num_valid_desc,
    const void *num_valid, const mluOpTensorDescriptor_t idx_desc, void *idx);

/* ---- PriorBox -------------------------------------------------------------------------------- */

/* Prior boxes of each cell of a feature map, and their variances. */
mluOpStatus_t MLUOP_WIN_API mluOpPriorBox(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t min_sizes_desc, const void *min_sizes,
    const mluOpTensorDescriptor_t aspect_ratios_desc, const void *aspect_ratios,
    const mluOpTensorDescriptor_t variances_desc, const void *variances, const mluOpTensorDescriptor_t max_sizes_desc,
    const void *max_sizes, const int height, const int width, const int im_height, const int im_width,
    const float step_h, const float step_w, const float offset, const bool clip, const bool min_max_aspect_ratios_order,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t var_desc, void *var);

/* ---- YoloBox --------------------------------------------------------------------------------- */

/* Decodes the output of a YOLO head to boxes and scores. */
mluOpStatus_t MLUOP_WIN_API mluOpYoloBox(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
    const mluOpTensorDescriptor_t img_size_desc, const void *img_size, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const int class_num, const float conf_thresh, const int downsample_ratio, const bool clip_bbox,
    const float scale, const bool iou_aware, const float iou_aware_factor, const mluOpTensorDescriptor_t boxes_desc,
    void *boxes, const mluOpTensorDescriptor_t scores_desc, void *scores);

/* ---- FocalLossSigmoid ------------------------------------------------------------------------ */

/* Sigmoid focal loss of each input. */
mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidForward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient of the loss with respect to the input. */
mluOpStatus_t MLUOP_WIN_API mluOpFocalLossSigmoidBackward(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const float alpha,
    const float gamma, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

/* ---- MutualInformation ----------------------------------------------------------------------- */

/* Bytes of workspace of mluOpMutualInformationForward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMutualInformationForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const mluOpTensorDescriptor_t py_desc,
    const mluOpTensorDescriptor_t opt_boundary_desc, const mluOpTensorDescriptor_t p_desc,
    const mluOpTensorDescriptor_t ans_desc, size_t *workspace_size);

/* Log-probabilities of all monotonic alignments of two sequences. */
mluOpStatus_t MLUOP_WIN_API mluOpMutualInformationForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, void *p, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t ans_desc, void *ans);

/* Bytes of workspace of mluOpMutualInformationBackward. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMutualInformationBackwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const mluOpTensorDescriptor_t py_desc,
    const mluOpTensorDescriptor_t opt_boundary_desc, const mluOpTensorDescriptor_t p_desc,
    const mluOpTensorDescriptor_t ans_grad_desc, const bool overwrite_ans_grad, size_t *workspace_size);

/* Gradients with respect to px and py. */
mluOpStatus_t MLUOP_WIN_API mluOpMutualInformationBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, const void *p, const mluOpTensorDescriptor_t ans_grad_desc, void *ans_grad,
    const bool overwrite_ans_grad, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t px_grad_desc, void *px_grad, const mluOpTensorDescriptor_t py_grad_desc,
    void *py_grad);

/* ---- MoeDispatch ----------------------------------------------------------------------------- */

/* Copies the samples to the places of their experts, times their gates. */
mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t input_desc, const void *input, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t dispatch_desc,
    void *dispatch);

/* Gradient with respect to the samples. */
mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

/* Bytes of workspace of mluOpMoeDispatchBackwardGate. */
mluOpStatus_t MLUOP_WIN_API mluOpGetMoeDispatchBackwardGateWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, size_t *workspace_size);

/* Gradient with respect to the gates. */
mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchBackwardGate(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices,
    const mluOpTensorDescriptor_t locations_desc, const void *locations, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_gates_desc, void *grad_gates);

/* ---- SyncBatchNorm --------------------------------------------------------------------------- */

/* Bytes of workspace of mluOpSyncBatchNormStats_v2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchNormStatsWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, size_t *workspace_size);

/* Mean and inverse standard deviation of each channel, with workspace. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormStats_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, void *workspace, size_t workspace_size,
    const float eps, const mluOpTensorDescriptor_t mean_desc, void *mean, const mluOpTensorDescriptor_t invstd_desc,
    void *invstd);

/* Mean and inverse standard deviation of each channel. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormStats(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const float eps,
    const mluOpTensorDescriptor_t mean_desc, void *mean, const mluOpTensorDescriptor_t invstd_desc, void *invstd);

/* Joins the statistics of several devices and moves the running ones. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormGatherStatsWithCounts(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t mean_all_desc, const void *mean_all,
    const mluOpTensorDescriptor_t invstd_all_desc, const void *invstd_all,
    const mluOpTensorDescriptor_t moving_mean_desc, void *moving_mean, const mluOpTensorDescriptor_t moving_var_desc,
    void *moving_var, float momentum, float eps, const mluOpTensorDescriptor_t count_all_desc, const void *count_all,
    const mluOpTensorDescriptor_t mean_desc, void *mean, const mluOpTensorDescriptor_t invstd_desc, void *invstd);

/* Normalises each element. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc,
    const void *mean, const mluOpTensorDescriptor_t invstd_desc, const void *invstd,
    const mluOpTensorDescriptor_t filter_desc, const void *filter, const mluOpTensorDescriptor_t bias_desc,
    const void *bias, const mluOpTensorDescriptor_t y_desc, void *y);

/* Bytes of workspace of mluOpSyncBatchNormBackwardReduce_v2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchNormBackwardReduceWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, size_t *workspace_size);

/* Sums for the gradients, with workspace. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardReduce_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t desc_dz, const void *dz, const mluOpTensorDescriptor_t desc_x,
    const void *x, const mluOpTensorDescriptor_t desc_mean, const void *mean, const mluOpTensorDescriptor_t desc_invstd,
    const void *invstd, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t desc_dfilter,
    void *dfilter, const mluOpTensorDescriptor_t desc_dbias, void *dbias, const mluOpTensorDescriptor_t desc_sum_dy,
    void *sum_dy, const mluOpTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu, const bool needs_input_grad0,
    const bool needs_input_grad1, const bool needs_input_grad2);

/* Sums for the gradients. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardReduce(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t desc_dz, const void *dz, const mluOpTensorDescriptor_t desc_x,
    const void *x, const mluOpTensorDescriptor_t desc_mean, const void *mean, const mluOpTensorDescriptor_t desc_invstd,
    const void *invstd, const mluOpTensorDescriptor_t desc_dfilter, void *dfilter,
    const mluOpTensorDescriptor_t desc_dbias, void *dbias, const mluOpTensorDescriptor_t desc_sum_dy, void *sum_dy,
    const mluOpTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu, const bool needs_input_grad0,
    const bool needs_input_grad1, const bool needs_input_grad2);

/* Gradient with respect to the input, from means of sums. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t mean_dy_desc, const void *mean_dy,
    const mluOpTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu, const mluOpTensorDescriptor_t diff_x_desc,
    void *diff_x);

/* Gradient with respect to the input, from sums and counts. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardElemtV2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t sum_dy_desc, const void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu, const mluOpTensorDescriptor_t count_desc,
    const void *count, const mluOpTensorDescriptor_t diff_x_desc, void *diff_x);

/* Deprecated name of mluOpGetSyncBatchNormBackwardReduceWorkspaceSize. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchnormBackwardReduceWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, size_t *workspace_size);

/* Deprecated name of mluOpSyncBatchNormBackwardReduce_v2. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchnormBackwardReduce_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t desc_dz, const void *dz, const mluOpTensorDescriptor_t desc_x,
    const void *x, const mluOpTensorDescriptor_t desc_mean, const void *mean, const mluOpTensorDescriptor_t desc_invstd,
    const void *invstd, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t desc_dfilter,
    void *dfilter, const mluOpTensorDescriptor_t desc_dbias, void *dbias, const mluOpTensorDescriptor_t desc_sum_dy,
    void *sum_dy, const mluOpTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu, const bool needs_input_grad0,
    const bool needs_input_grad1, const bool needs_input_grad2);

/* Deprecated name of mluOpSyncBatchNormBackwardReduce. */
mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchnormBackwardReduce(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t desc_dz, const void *dz, const mluOpTensorDescriptor_t desc_x,
    const void *x, const mluOpTensorDescriptor_t desc_mean, const void *mean, const mluOpTensorDescriptor_t desc_invstd,
    const void *invstd, const mluOpTensorDescriptor_t desc_dfilter, void *dfilter,
    const mluOpTensorDescriptor_t desc_dbias, void *dbias, const mluOpTensorDescriptor_t desc_sum_dy, void *sum_dy,
    const mluOpTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu, const bool needs_input_grad0,
    const bool needs_input_grad1, const bool needs_input_grad2);

/* ---- AdamW ----------------------------------------------------------------------------------- */

/* Creates a descriptor: weight decay 0, gradient scale 1, no Nesterov, NaN not removed. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t *adamw_desc);

/* Sets one attribute from a value in host memory of the attribute's size. */
mluOpStatus_t MLUOP_WIN_API mluOpSetAdamWDescAttr(
    mluOpAdamWDescriptor_t adamw_desc, mluOpAdamWDescAttribute_t attr, const void *buf, const size_t size_in_bytes);

/* Destroys a descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t adamw_desc);

/* One step of the AdamW optimiser, in place. */
mluOpStatus_t MLUOP_WIN_API mluOpAdamW(
    mluOpHandle_t handle, mluOpAdamWDescriptor_t adamw_desc, const mluOpTensorDescriptor_t param_desc, void *param,
    const mluOpTensorDescriptor_t paramh_desc, void *param_h, const mluOpTensorDescriptor_t momentum_desc,
    void *momentum, const mluOpTensorDescriptor_t velocity_desc, void *velocity,
    const mluOpTensorDescriptor_t grad_desc, void *grad, const float lr, const float beta1, const float beta2,
    const float bias1, const float bias2, const float epsilon);

/* ---- FFT ------------------------------------------------------------------------------------- */

/* Creates a plan. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateFFTPlan(mluOpFFTPlan_t *fft_plan);

/* Sets the shapes of a plan of 1 or 2 dims and gives the bytes that it needs. The descriptors may
 * be destroyed afterwards. The input needs an on-chip dtype. A plan that is refused stays as it
 * was. */
mluOpStatus_t MLUOP_WIN_API mluOpMakeFFTPlanMany(
    mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t output_desc, const int rank, const int n[], size_t *reservespace_size,
    size_t *workspace_size);

/* Sets the memory that the plan keeps its tables in; NULL is allowed where it needs 0 bytes.
 * NOT_INITIALIZED before mluOpMakeFFTPlanMany. */
mluOpStatus_t MLUOP_WIN_API mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, void *reservespace);

/* Transforms; direction 0 is forward, 1 is inverse without its factor. */
mluOpStatus_t MLUOP_WIN_API mluOpExecFFT(
    mluOpHandle_t handle, const mluOpFFTPlan_t fft_plan, const void *input, const float scale_factor, void *workspace,
    void *output, int direction);

/* Destroys a plan. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyFFTPlan(mluOpFFTPlan_t fft_plan);

/* ---- Abs ------------------------------------------------------------------------------------- */

/* Absolute value of each element. */
mluOpStatus_t MLUOP_WIN_API mluOpAbs(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc,
    void *y);

/* ---- Sqrt ------------------------------------------------------------------------------------ */

/* Square root of each element. */
mluOpStatus_t MLUOP_WIN_API mluOpSqrt(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t y_desc, void *y);

/* Gradient of the square root, from its result. */
mluOpStatus_t MLUOP_WIN_API mluOpSqrtBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t y_desc, const void *y, const mluOpTensorDescriptor_t dy_desc,
    const void *diff_y, const mluOpTensorDescriptor_t dx_desc, void *diff_x);

/* ---- Log ------------------------------------------------------------------------------------- */

/* Logarithm of each element. */
mluOpStatus_t MLUOP_WIN_API mluOpLog(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLogBase_t base,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc, void *y);

/* Powers of base with evenly spaced exponents. */
mluOpStatus_t MLUOP_WIN_API mluOpLogspace(
    mluOpHandle_t handle, const float start, const float end, const int64_t steps, const float base,
    const mluOpTensorDescriptor_t res_desc, void *res);

/* ---- Div ------------------------------------------------------------------------------------- */

/* Quotient of elements. */
mluOpStatus_t MLUOP_WIN_API mluOpDiv(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t y_desc, const void *y, const mluOpTensorDescriptor_t z_desc, void *z);

/* ---- Lgamma ---------------------------------------------------------------------------------- */

/* Logarithm of the absolute value of the gamma function. */
mluOpStatus_t MLUOP_WIN_API mluOpLgamma(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc,
    void *y);

/* ---- Recording of calls ---------------------------------------------------------------------- */

/* Says what operator calls of all threads record of themselves: 0 nothing, 1 shapes, 2 shapes and
 * data, 3 shapes, printed only. Another number counts as 0. Starts as the environment variable
 * MLUOP_GEN_CASE says. */
void MLUOP_WIN_API mluOpSetGenCaseMode(int mode);

/* Says where they are recorded; the empty text, as at first unless the environment variable
 * MLUOP_GEN_CASE_DIR says otherwise, is the working directory. "{pid}" and "{deviceid}" are
 * replaced, the first of each, by "pid" and "deviceid" with the number. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGenCaseDirectory(const char *path);

/* Tells where they are recorded: in `buffer` of `bufferSize` bytes, which is returned; without one
 * in memory that the caller frees. `pathLen`, the length without the final 0, and `status` may be
 * NULL. BAD_PARAM and length 0 if the buffer is too small. */
const char *MLUOP_WIN_API mluOpGetGenCaseDirectory(
    char *buffer, size_t bufferSize, size_t *pathLen, mluOpStatus_t *status);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLU_OP_H_ */
