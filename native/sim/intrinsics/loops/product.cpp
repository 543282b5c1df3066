// Matrix products in double.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

constexpr int kWide = vec::kLanes / 2;  // doubles per register
typedef double Wide __attribute__((vector_size(kWide * sizeof(double))));

// The number of rows whose sums stay in registers, two for each row.
constexpr int kRows = 4;
constexpr std::int64_t kPart = 2 * kWide;
static_assert(kProductPanel % kPart == 0, "a panel is a whole number of parts");

// `row` points to a part of a panel.
template <int kHeight>
void multiply_part(double (*sums)[kProductPanel], const double *a, const double *row, std::int64_t depth) {
  Wide sum[kHeight][2] = {};
  for (std::int64_t k = 0; k < depth; ++k, row += kProductPanel) {
    Wide b[2];
    std::memcpy(b, row, sizeof b);
    for (int i = 0; i < kHeight; ++i) {
      const double factor = a[i * depth + k];
      sum[i][0] += factor * b[0];
      sum[i][1] += factor * b[1];
    }
  }
  for (int i = 0; i < kHeight; ++i) std::memcpy(sums[i], sum[i], sizeof sum[i]);
}

template <int kHeight>
void multiply_rows(double *dst, const double *a, const double *panel, std::int64_t depth, std::int64_t columns,
                   std::int64_t first) {
  double sums[kHeight][kProductPanel];
  for (std::int64_t part = 0; part < kProductPanel; part += kPart) {
    double part_sums[kHeight][kProductPanel];
    multiply_part<kHeight>(part_sums, a, panel + part, depth);
    for (int i = 0; i < kHeight; ++i) std::memcpy(sums[i] + part, part_sums[i], kPart * sizeof(double));
  }
  const std::int64_t count = columns - first < kProductPanel ? columns - first : kProductPanel;
  for (int i = 0; i < kHeight; ++i) {
    std::memcpy(dst + i * columns + first, sums[i], static_cast<std::size_t>(count) * sizeof(double));
  }
}

void multiply(double *dst, const double *a, const double *panels, std::int64_t rows, std::int64_t depth,
              std::int64_t columns) {
  for (std::int64_t first = 0; first < columns; first += kProductPanel) {
    const double *panel = panels + first * depth;
    std::int64_t i = 0;
    for (; i + kRows <= rows; i += kRows) {
      multiply_rows<kRows>(dst + i * columns, a + i * depth, panel, depth, columns, first);
    }
    for (; i < rows; ++i) multiply_rows<1>(dst + i * columns, a + i * depth, panel, depth, columns, first);
  }
}

void widen(const float *from, double *to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace

extern const ProductLoops product_loops = {multiply, widen};

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(ProductLoops, product_loops);
