/* The C ABI of mlu-ops as the libraries of this project export it, version 1.11.1.
 *
 * This file is the only declaration of it: the shared libraries are checked against it, and the cffi module and the Cython
 * pointer table of the Python package are generated from it. It needs no CNRT header.
 *
 * Conventions
 *   - Every function that returns mluOpStatus_t can be called with any pointer NULL; what is refused leaves outputs and
 *     descriptors untouched, and mluopsExtGetLastReason() then tells why.
 *   - A tensor argument is the pair `x_desc, x`.
 *   - Handles and descriptors may be created and destroyed on any thread. One handle serves one thread at a time; calls with
 *     different handles run in parallel.
 */
#ifndef MLUOPS_H_
#define MLUOPS_H_

#include <stddef.h>
#include <stdint.h>

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

/* What a call came to. */
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

/* A queue of the CNRT runtime; opaque here. */
typedef struct CNqueue_st *cnrtQueue_t;

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

/* ---- Handle and status -------------------------------------------------------------------------------------------- */

/* Creates a handle. On a device library the handle belongs to the device that is current on the calling thread.
 * NOT_INITIALIZED if an environment variable that the library reads has a value that it cannot have. */
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

/* ---- Version ------------------------------------------------------------------------------------------------------ */

/* Writes the version of the C ABI. NULL pointers are skipped. */
void MLUOP_WIN_API mluOpGetLibVersion(int *major, int *minor, int *patch);

/* ---- Quantisation round mode -------------------------------------------------------------------------------------- */

/* Stores the round mode; only the three enumerators are accepted. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t round_mode);

/* Gives the stored round mode. */
mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t *round_mode);

/* ---- Tensor descriptor -------------------------------------------------------------------------------------------- */

/* Bytes of one element; INVALID is BAD_PARAM, an unknown number gives size 0. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t *size);

/* Creates a descriptor: dtype FLOAT, layout ARRAY, pointer mode DEVICE, no dims, no elements. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc);

/* Creates desc_num descriptors; group_desc[i] points to the variable that receives the i-th. All or none. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(
    mluOpTensorDescriptor_t *group_desc[], const int desc_num);

/* Sets layout, dtype and dims with packed strides. dimNb is at most MLUOP_DIM_MAX; dimNb 0, a scalar, needs pointer
 * mode HOST set before. A refused call leaves the descriptor as it was; so do all setters below. */
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

/* Sets a group; group_dimSize holds the dims of all of them one after another. The status of a single set is not
 * reported: a descriptor whose values are refused stays as it was. */
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

/* Reads a descriptor; every output may be NULL and is then skipped. dimSize needs room for dimNb values. */
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

/* ---- Tensor set descriptor ---------------------------------------------------------------------------------------- */

/* Creates a set of prod(setDimSize) tensor descriptors, addressed by an index of setDimNb numbers. */
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

/* ---- Sequence data descriptor ------------------------------------------------------------------------------------- */

/* Creates a sequence data descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSeqDataDescriptor(mluOpSeqDataDescriptor_t *seq_data_desc);

/* Sets layout, dtype, dims, sequence lengths (all > 0) and, if not NULL, the padding value, one element of dtype. */
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

/* ---- TinShift ----------------------------------------------------------------------------------------------------- */

/* The same shift, with the same sign, applied to the gradient.
 * grad_output, grad_input [N, T, C, HW] half or float; shifts [N, G] int32, G divides C. */
mluOpStatus_t MLUOP_WIN_API mluOpTinShiftBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);

/* out[n, t, c, p] = in[n, t - s, c, p] with s = shifts[n, c / (C / G)], and 0 where t - s is outside [0, T).
 * input, output [N, T, C, HW] half or float; shifts [N, G] int32, G divides C. */
mluOpStatus_t MLUOP_WIN_API mluOpTinShiftForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t output_desc,
    void *output);

/* ---- Psamask ------------------------------------------------------------------------------------------------------ */

/* Spreads the mask of every position over the feature map. psa_type 0 collects, 1 distributes.
 * x [N, H, W, h_mask*w_mask], y [N, H, W, H*W]; float, layout NHWC. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskForward(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y);

/* The transposed movement: dy like y above, dx like x above; 0 where a mask cell lies outside the map. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskBackward(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t dy_desc, const void *dy, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t dx_desc, void *dx);

/* ---- BorderAlign -------------------------------------------------------------------------------------------------- */

/* Largest of pool_size + 1 bilinear samples along each of the four borders of a box, and which sample it was.
 * input [N, H, W, 4C] half or float, NHWC; boxes [N, K, 4] = x1, y1, x2, y2 of the same type;
 * output [N, K, 4, C] NHWC; argmax_idx [N, K, 4, C] int32, NHWC. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_idx_desc,
    void *argmax_idx);

/* Gradient with respect to input: grad_output and argmax_idx [N, K, 4, C], grad_input [N, H, W, 4C]. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
    const void *argmax_idx, const int32_t pool_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);

/* ---- ThreeInterpolate --------------------------------------------------------------------------------------------- */

/* output[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]]; an index outside [0, M) adds 0.
 * features [B, C, M], weights [B, N, 3], output [B, C, N] half or float; indices [B, N, 3] int32; layout ARRAY. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output);

/* Gradient with respect to features: grad_output [B, C, N], grad_features [B, C, M]. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);

/* ---- Sparse convolution: descriptor and GetIndicePairs ------------------------------------------------------------ */

/* Creates a descriptor; NULL is NOT_INITIALIZED. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t *desc);

/* Destroys it; NULL is EXECUTION_FAILED. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc);

/* Sets the geometry. dimNb is 5; each array holds depth, height, width; transpose and inverse are 0. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSparseConvolutionDescriptor(
    mluOpSparseConvolutionDescriptor_t desc, int dimNb, int batch_size, const int pad[], const int stride[],
    const int dilation[], const int input_space[], const int filter_space[], const int output_space[], const int sub_m,
    const int transpose, const int inverse);

/* Number of output rows found by the last mluOpGetIndicePairs; a NULL is NOT_INITIALIZED. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSparseConvolutionNumActOut(
    mluOpSparseConvolutionDescriptor_t desc, int *num_act_out);

/* For each filter cell the pairs (input row, output row) that a sparse convolution multiplies.
 * indices [L, 4] = batch, depth, height, width; indice_pairs [K, 2, L] filled up with -1; out_indices [rows, 4], of which the first
 * num_act_out are written; indice_num [K]; all int32. The descriptor receives num_act_out. */
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

/* ---- Extensions of this project ------------------------------------------------------------------------------------ */

/* Why the last call of this thread that did not succeed was refused: function, argument, what was expected and what came.
 * Empty if there was none. The text stays valid until the next refused call of this thread. */
const char *MLUOP_WIN_API mluopsExtGetLastReason(void);

/* Number of threads that an operator uses, for the whole process. Starts as the value of the environment variable
 * PYMLUOPS_NUM_THREADS or else the number of CPUs that the process may use (affinity and cgroup quota respected). */
int MLUOP_WIN_API mluopsExtGetNumThreads(void);

/* Sets it; num_threads is 1 to 1024. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads);

/* Says whether the call that is running on its thread is to end: not 0 if so. */
typedef int (*mluopsExtInterruptCheck)(void);

/* Sets the interrupt check of the process; NULL, as at first, is none. A call of an operator that takes long calls it about every
 * 50 milliseconds, on the thread that made the call and holding no lock. If it returns anything but 0, the call ends soon with
 * EXECUTION_FAILED; its outputs then hold anything. The check may call functions of this library. Operators of a device library
 * only enqueue their work: there the check is not called. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck check);

/* Results of at least this many bytes are written past the caches: half of the last cache or 32 MiB, whichever is less, or what the
 * environment variable PYMLUOPS_STREAM_MIB says. 0 on a device library. */
size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void);

/* Which target this library computes on, for example "cpu". */
const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void);

/* Version of this library itself, as "major.minor.patch"; mluOpGetLibVersion gives that of the ABI. */
const char *MLUOP_WIN_API mluopsExtGetLibraryVersion(void);

/* Instruction level that the kernels run at, for example "x86-64-v3". The environment variable PYMLUOPS_INSTRUCTION_LEVEL, read
 * when the library is loaded, selects a lower one than the CPU has. */
const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_H_ */
