/* Functions of the family fourier_transforms beyond mlu_op.h. */
#ifndef MLUOPS_EXT_FOURIER_TRANSFORMS_H_
#define MLUOPS_EXT_FOURIER_TRANSFORMS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Fourier transforms without a plan, along the middle dim of packed tensors of half, float or
 * double; a complex number is two real ones, the last dim. All results are multiplied by
 * scale_factor. The library keeps the tables of the lengths used last.
 *
 * Of complex signals: input and output [A, N, C, 2], output[k] = sum over j of input[j] * exp(-2 pi
 * i j k / N), or with + for the inverse. */
mluOpStatus_t MLUOP_WIN_API mluopsExtFftForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input, const double scale_factor,
    const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtFftInverse(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input, const double scale_factor,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* Of real signals: input [A, N, C], output [A, N / 2 + 1, C, 2], the first half of the spectrum.
 * The frequencies that stand for two of the whole spectrum, which are all but the first and for an
 * even N the last, are multiplied by weight; 1 gives the spectrum. */
mluOpStatus_t MLUOP_WIN_API mluopsExtFftRealForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input, const double weight,
    const double scale_factor, const mluOpTensorDescriptor_t output_desc, void *output);

/* The transpose of it: input [A, N / 2 + 1, C, 2], output [A, N, C], the real part of the sum over
 * k of input[k] * exp(2 pi i j k / N), where the frequencies that stand for two are multiplied by
 * weight; 2 gives the signal that has this spectrum, times N. */
mluOpStatus_t MLUOP_WIN_API mluopsExtFftRealInverse(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input, const double weight,
    const double scale_factor, const mluOpTensorDescriptor_t output_desc, void *output);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_FOURIER_TRANSFORMS_H_ */
