/* Extensions of this project's libraries to the C ABI of mlu-ops. */
#ifndef MLUOPS_EXT_H_
#define MLUOPS_EXT_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Reason of the last refused call of this thread: function, argument, expected and actual value. Empty if there was none.
 * The text stays valid until the next refused call of this thread. */
const char *MLUOP_WIN_API mluopsExtGetLastReason(void);

/* Number of threads that an operator uses, for the whole process. Starts as the value of PYMLUOPS_NUM_THREADS, or else the
 * number of CPUs that the process may use (affinity and cgroup quota respected), at most OMP_NUM_THREADS. */
int MLUOP_WIN_API mluopsExtGetNumThreads(void);

/* Sets it; num_threads is 1 to 1024. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads);

/* Returns nonzero to interrupt the call that runs on its thread. */
typedef int (*mluopsExtInterruptCheck)(void);

/* Sets the interrupt check of the process; NULL, the default, is none. A long call of an operator calls it about every 50
 * milliseconds, on the thread that made the call and without holding a lock. If it returns nonzero, the call ends soon with
 * EXECUTION_FAILED and its outputs are undefined. The check may call functions of this library. Operators of a device library
 * only enqueue their work and do not call the check. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck check);

/* What each thread of a team runs. */
typedef void (*mluopsExtTeamMember)(void *argument);

/* Calls member(argument) at once in at most num_threads threads, of which the calling one is one, and returns when all of these
 * calls have returned. GOMP_parallel of an OpenMP runtime, whose flags are 0, is such a function. */
typedef void (*mluopsExtTeam)(mluopsExtTeamMember member, void *argument, unsigned num_threads, unsigned flags);

/* Lets operators that the main thread calls, and that use exactly num_threads threads, run them as such a team instead of starting
 * threads. In a program with OpenMP regions, whose threads spin for milliseconds after each of them, other threads would share the
 * processors with these. NULL, the default, is none. Threads of OpenMP do not outlive a fork: in the child there is no team, and setting
 * one has no effect, also if the library was loaded after the fork; a program that the child starts is no child in this sense. A
 * library for a device has no use for a team. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetTeam(mluopsExtTeam team, int num_threads);

/* Results of at least this many bytes are written with non-temporal stores: half of the last-level cache, at most 32 MiB, or the
 * value of the environment variable PYMLUOPS_STREAM_MIB. 0 on a device library. */
size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void);

/* Whether this library implements an operator function of these headers: 1 if so, 0 if it returns NOT_SUPPORTED or the name is unknown. */
int MLUOP_WIN_API mluopsExtImplements(const char *function);

/* The target of this library, for example "cpu". */
const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void);

/* Version of this library, as "major.minor.patch"; mluOpGetLibVersion gives that of the ABI. */
const char *MLUOP_WIN_API mluopsExtGetLibraryVersion(void);

/* Instruction level that the kernels run at, for example "x86-64-v3". The environment variable PYMLUOPS_INSTRUCTION_LEVEL, read
 * when the library is loaded, selects a lower one than the CPU has. */
const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void);

/* The operators in double: each takes what the function of mlu_op.h with its name takes, with MLUOP_DTYPE_DOUBLE in place of
 * MLUOP_DTYPE_FLOAT, and refuses other types. Sums and positions are computed in double. A library for a device returns
 * NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t output_desc,
    void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsamaskForwardDouble(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsamaskBackwardDouble(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t dy_desc, const void *dy, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t dx_desc, void *dx);
mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_idx_desc,
    void *argmax_idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
    const void *argmax_idx, const int32_t pool_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeNNForwardDouble(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
    const mluOpTensorDescriptor_t known_desc, const void *known, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtBallQueryDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const double min_radius, const double max_radius,
    const int nsample, const mluOpTensorDescriptor_t idx_desc, void *idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtMsDeformAttnForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void *data_value,
    const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void *data_spatial_shapes,
    const mluOpTensorDescriptor_t data_level_start_index_desc, const void *data_level_start_index,
    const mluOpTensorDescriptor_t data_sampling_loc_desc, const void *data_sampling_loc,
    const mluOpTensorDescriptor_t data_attn_weight_desc, const void *data_attn_weight, const int im2col_step,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col);
mluOpStatus_t MLUOP_WIN_API mluopsExtMsDeformAttnBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc, const void *value,
    const mluOpTensorDescriptor_t spatial_shapes_desc, const void *spatial_shapes,
    const mluOpTensorDescriptor_t level_start_index_desc, const void *level_start_index,
    const mluOpTensorDescriptor_t sampling_loc_desc, const void *sampling_loc,
    const mluOpTensorDescriptor_t attn_weight_desc, const void *attn_weight,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int32_t im2col_step,
    const mluOpTensorDescriptor_t grad_value_desc, void *grad_value,
    const mluOpTensorDescriptor_t grad_sampling_loc_desc, void *grad_sampling_loc,
    const mluOpTensorDescriptor_t grad_attn_weight_desc, void *grad_attn_weight);
/* Indice convolutions of every kind: as mluOpIndiceConvolutionForward, BackwardData and BackwardFilter, for double as well as for
 * half and float, and for any number of dims: filters are [K, Ci, Co], whatever the K cells mean. If inverse is 1, the roles of the
 * pairs are exchanged: features are the rows of indice_pairs[k, 1], outputs those of indice_pairs[k, 0]. Features and outputs may
 * have any number of rows, and a tensor without elements gives zeros. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t features_out_desc, void *features_out);

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t input_grad_desc, void *input_grad);

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void *indice_pairs, const int64_t indice_num[],
    const int64_t inverse, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t filters_grad_desc,
    void *filters_grad);

/* Indice pairs as mluOpGetIndicePairs finds them, for 1 to 4 axes (the columns of indices after the batch), transposed convolutions
 * and any stride and dilation. Arrays without a descriptor lie in host memory and have a number for each axis. With transpose, cell
 * k sends place i to i * stride - pad + k * dilation. *num_act_out is the number of output rows, also where out_indices has too
 * few, which is BAD_PARAM. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndicePairs(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices, const int64_t batch,
    const int64_t input_space[], const int64_t filter_space[], const int64_t output_space[], const int64_t stride[],
    const int64_t pad[], const int64_t dilation[], const int64_t sub_m, const int64_t transpose,
    const mluOpTensorDescriptor_t indice_pairs_desc, void *indice_pairs, const mluOpTensorDescriptor_t out_indices_desc,
    void *out_indices, const mluOpTensorDescriptor_t indice_num_desc, void *indice_num, int64_t *num_act_out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_H_ */
