// One signal after another, in the order of its elements: the length is a product of two, and the
// lanes of a vector have columns of it, then rows.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_SPLIT_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_SPLIT_H_

#include "ops/fourier_transforms/cpu/lanes.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// to = a * b * scale, complex numbers; `swap` exchanges the parts of a or of the result.
template <typename Real>
void multiply_all(const Real *a, const Real *b, std::int64_t begin, std::int64_t end, bool swap, bool swap_result,
                  Real scale, Real *to) {
  typedef Wide<Real> Width;
  typedef typename Width::Vector Vector;
  constexpr std::int64_t kWidth = Width::kWidth;
  const auto multiply = [&](std::int64_t i, auto count) {
    Pair<Vector> one = load_complex<Width>(a + 2 * i, count);
    const Pair<Vector> other = load_complex<Width>(b + 2 * i, count);
    if (swap) one = swapped(one);
    Pair<Vector> product = times(one, other.re, other.im);
    if (swap_result) product = swapped(product);
    if (scale != Real{1}) product = {product.re * scale, product.im * scale};
    store_complex<Width>(to + 2 * i, product, count);
  };
  for (; begin + kWidth <= end; begin += kWidth) multiply(begin, AllOf<Width>());
  if (begin < end) multiply(begin, end - begin);
}

// Transforms of packed signals of one length.
template <typename Real>
class Single {
 public:
  typedef Wide<Real> Width;
  typedef typename Width::Vector Vector;
  static constexpr std::int64_t kWidth = Width::kWidth;

  Single(const FftLength<Real> &table, std::int64_t slots) : table_(table), slots_(slots) {}

  // Memory for one signal at a time; `slots` threads take part in each.
  void allocate(Arena *arena) {
    const FftSplit<Real> &split = table_.split;
    longest_ = larger(split.first.length, split.second.length);
    blocks_ = arena->allocate<Pair<Vector>>(in_vectors(split.first.length) * split.second.length);
    lanes_ = arena->allocate<Pair<Vector>>(2 * longest_ * slots_);
    if (table_.chirp != nullptr) work_ = arena->allocate<Real>(2 * table_.steps.length);
  }

  // `from` and `to` may be the same. The inverse exchanges parts before and after.
  void run(const Real *from, Real *to, bool inverse, Real scale) const {
    if (table_.chirp == nullptr) return transform(from, to, inverse, scale);
    const std::int64_t n = table_.length, length = table_.steps.length;
    in_ranges(n, [&](std::int64_t begin, std::int64_t end) {
      multiply_all(from, table_.chirp, begin, end, inverse, false, Real{1}, work_);
    });
    std::memset(work_ + 2 * n, 0, static_cast<std::size_t>(length - n) * 2 * sizeof(Real));
    transform(work_, work_, false, Real{1});
    in_ranges(length, [&](std::int64_t begin, std::int64_t end) {
      multiply_all(work_, table_.spectrum, begin, end, false, true, Real{1}, work_);
    });
    transform(work_, work_, false, Real{1});
    in_ranges(n, [&](std::int64_t begin, std::int64_t end) {
      multiply_all(work_, table_.chirp, begin, end, true, inverse, scale, to);
    });
  }

  template <typename Body>
  void in_ranges(std::int64_t count, const Body &body) const {
    constexpr std::int64_t kGrain = 1 << 14;
    const std::int64_t tasks = (count + kGrain - 1) / kGrain;
    parallel_slots(tasks, smaller(slots_, tasks), [&](int, std::int64_t task) {
      if (!interrupted()) body(task * kGrain, smaller(count, (task + 1) * kGrain));
    });
  }

 private:
  static std::int64_t in_vectors(std::int64_t count) { return (count + kWidth - 1) / kWidth; }

  void transform(const Real *from, Real *to, bool swap, Real scale) const {
    const std::int64_t columns = in_vectors(table_.split.second.length), rows = in_vectors(table_.split.first.length);
    parallel_slots(columns, smaller(slots_, columns), [&](int slot, std::int64_t task) {
      if (!interrupted()) transform_columns(from, swap, task * kWidth, lanes(slot));
    });
    if (interrupted()) return;
    parallel_slots(rows, smaller(slots_, rows), [&](int slot, std::int64_t task) {
      if (!interrupted()) transform_rows(task, swap, scale, lanes(slot), to);
    });
  }

  Pair<Vector> *lanes(int slot) const { return lanes_ + 2 * longest_ * slot; }

  // Some columns, which become parts of the rows.
  void transform_columns(const Real *from, bool swap, std::int64_t column, Pair<Vector> *values) const {
    const FftSplit<Real> &split = table_.split;
    const std::int64_t n1 = split.first.length, n2 = split.second.length, count = smaller(kWidth, n2 - column);
    in_lanes<Width>(count, [&](auto some) {
      const Real *row = from + 2 * column;
      for (std::int64_t i = 0; i < n1; ++i, row += 2 * n2) {
        const Pair<Vector> pair = load_complex<Width>(row, some);
        values[i] = swap ? swapped(pair) : pair;
      }
    });
    const Pair<Vector> *const found = run_steps(split.first, values, values + longest_);
    const Real *roots = split.between + column / kFftBlock * n1 * 2 * kFftBlock + column % kFftBlock;
    for (std::int64_t k = 0; k < n1; k += kWidth) {
      Vector re[kWidth] = {}, im[kWidth] = {};
      for (std::int64_t j = 0; j < smaller(kWidth, n1 - k); ++j, roots += 2 * kFftBlock) {
        // What the next task loads: the caches do not foresee columns.
        prefetch_value<0, 2>(from, 2 * ((k + j) * n2 + column + 2 * kWidth) - 1);
        const Vector cosine = Width::load(roots, kWidth), sine = Width::load(roots + kFftBlock, kWidth);
        const Pair<Vector> pair = times(found[k + j], cosine, sine);
        re[j] = pair.re;
        im[j] = pair.im;
      }
      Width::turn_square(re);
      Width::turn_square(im);
      Pair<Vector> *const to = blocks_ + k / kWidth * n2 + column;
      for (std::int64_t j = 0; j < count; ++j) to[j] = {re[j], im[j]};
    }
  }

  void transform_rows(std::int64_t block, bool swap, Real scale, Pair<Vector> *values, Real *to) const {
    const FftSplit<Real> &split = table_.split;
    const std::int64_t n1 = split.first.length, n2 = split.second.length, first = block * kWidth;
    const std::int64_t count = smaller(kWidth, n1 - first);
    // Where the next task stores.
    for (std::int64_t k = 0; k < n2; ++k) prefetch_value<1, 2>(to, 2 * (first + kWidth + k * n1) - 1);
    const Pair<Vector> *const found = run_steps(split.second, blocks_ + block * n2, values);
    in_lanes<Width>(count, [&](auto some) {
      Real *row = to + 2 * first;
      for (std::int64_t k = 0; k < n2; ++k, row += 2 * n1) {
        Pair<Vector> pair = swap ? swapped(found[k]) : found[k];
        if (scale != Real{1}) pair = {pair.re * scale, pair.im * scale};
        store_complex<Width>(row, pair, some);
      }
    });
  }

  const FftLength<Real> &table_;
  const std::int64_t slots_;
  std::int64_t longest_ = 0;
  Pair<Vector> *blocks_ = nullptr;
  Pair<Vector> *lanes_ = nullptr;
  Real *work_ = nullptr;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_SPLIT_H_
