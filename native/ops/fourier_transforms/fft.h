#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_FFT_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_FFT_H_

#include <cstdint>

#include "mlu_op.h"
#include "ops/fourier_transforms/tables.h"

namespace mluops {

enum class FftKind {
  kComplex,
  kRealToComplex,
  kComplexToReal
};

// Where the elements of all signals lie, and how many a signal has in each dim. Counts and steps
// are in elements, complex ones as one; `step[0]` and `count[0]` are of the first of two dims.
struct FftLayout {
  std::int64_t outer;
  std::int64_t inner;
  std::int64_t step[2];
  std::int64_t count[2];
};

// Tables of the first of two dims and of the last; the caller keeps them.
template <typename Real>
struct FftAxes {
  const FftAxis<Real> *first;
  const FftAxis<Real> *last;
};

// Signals are numbered [outer][inner]. Elements beyond those of the input are zeros.
struct FftProblem {
  const char *function;  // of the entry point, for messages
  FftKind kind;
  mluOpDataType_t dtype;  // of the real numbers: half, float or double
  int rank;
  std::int64_t n[2];
  std::int64_t outer;
  std::int64_t inner;  // 1 for two dims
  const void *input;
  void *output;
  FftLayout from;
  FftLayout to;
  bool inverse;
  bool overlapping;  // input and output share memory
  bool ordered;      // elements of the output may share memory
  double scale;
  double weight;  // of the frequencies that stand for two, in half spectra
  FftAxes<float> single;
  FftAxes<double> twofold;
};

mluOpStatus_t launch_fft(mluOpHandle_t handle, const FftProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_FFT_H_
