// What transforms of one length need beside the signals: factors, roots of unity, and for lengths
// with large primes the chirp of a convolution. Computed in double, once for each length.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_TABLES_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_TABLES_H_

#include <cstdint>
#include <memory>

namespace mluops {

// Columns of a table that stand together, whatever the width of a vector.
constexpr std::int64_t kFftBlock = 8;

// One factor of a length. The elements of a pass are numbered [before][radix][inside] and become
// [radix][before][inside].
template <typename Real>
struct FftPass {
  std::int64_t radix;
  std::int64_t before;
  std::int64_t inside;
  const Real *twiddles;  // [inside][radix - 1] complex numbers
  const Real *roots;     // [radix] cosines and sines
};

constexpr int kMostFftPasses = 32;

// A length with small primes only.
template <typename Real>
struct FftSteps {
  std::int64_t length = 0;
  int count = 0;
  FftPass<Real> passes[kMostFftPasses];
};

// A length n1 * n2 for one signal: columns of n1, roots of unity, rows of n2.
template <typename Real>
struct FftSplit {
  FftSteps<Real> first;
  FftSteps<Real> second;
  const Real *between = nullptr;  // [n2 / kFftBlock][n1][2][kFftBlock]; NULL: the length has no such split
};

// Complex transforms of one length. With a chirp, `steps` and `split` are those of the length of
// the convolution.
template <typename Real>
struct FftLength {
  std::int64_t length = 0;
  FftSteps<Real> steps;
  FftSplit<Real> split;
  const Real *chirp = nullptr;     // [length] complex numbers; NULL: not needed
  const Real *spectrum = nullptr;  // [steps.length], of the conjugate chirp over the length
};

// A part of real signals of an odd length: the first pass, whose `twiddles` are [inside][radix /
// 2], and the transform of its complex columns.
template <typename Real>
struct FftLevel {
  FftPass<Real> pass;
  FftSteps<Real> steps;
};

// The transforms along one dim. Real signals of an even length n are computed as complex ones of
// n / 2.
template <typename Real>
struct FftAxis {
  std::int64_t n = 0;
  FftLength<Real> complex;
  const Real *halves = nullptr;            // [n / 4 + 1] complex roots of unity; NULL unless real and even
  const FftLevel<Real> *levels = nullptr;  // of real signals of an odd length with small primes
  int level_count = 0;
};

template <typename Real>
using SharedFftAxis = std::shared_ptr<const FftAxis<Real>>;

// Those of a plan. `first` is for the first of two dims.
struct FftTables {
  SharedFftAxis<float> first;
  SharedFftAxis<float> last;
};

// Finds the table among those used last, or makes it; throws if there is no memory.
template <typename Real>
SharedFftAxis<Real> fft_axis(std::int64_t n, bool real);

}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_TABLES_H_
