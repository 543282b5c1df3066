// Products of matrices, in double.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

// Sums that stay in registers.
constexpr int kRows = 4;
constexpr int kColumns = 16;

template <int kHeight>
void multiply_block(double *dst, const double *a, const double *b, std::int64_t depth, std::int64_t columns) {
  double sum[kHeight][kColumns] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    const double *row = b + k * columns;
    for (int i = 0; i < kHeight; ++i) {
      const double factor = a[i * depth + k];
      for (int j = 0; j < kColumns; ++j) sum[i][j] += factor * row[j];
    }
  }
  for (int i = 0; i < kHeight; ++i) std::memcpy(dst + i * columns, sum[i], sizeof sum[i]);
}

void multiply_rest(double *dst, const double *a, const double *b, std::int64_t depth, std::int64_t columns,
                   std::int64_t first) {
  for (std::int64_t j = first; j < columns; ++j) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += a[k] * b[k * columns + j];
    dst[j] = sum;
  }
}

void multiply(double *dst, const double *a, const double *b, std::int64_t rows, std::int64_t depth,
              std::int64_t columns) {
  const std::int64_t whole = columns / kColumns * kColumns;
  for (std::int64_t j = 0; j < whole; j += kColumns) {
    std::int64_t i = 0;
    for (; i + kRows <= rows; i += kRows) {
      multiply_block<kRows>(dst + i * columns + j, a + i * depth, b + j, depth, columns);
    }
    for (; i < rows; ++i) multiply_block<1>(dst + i * columns + j, a + i * depth, b + j, depth, columns);
  }
  for (std::int64_t i = 0; i < rows; ++i) multiply_rest(dst + i * columns, a + i * depth, b, depth, columns, whole);
}

void widen(const float *from, double *to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace

extern const ProductLoops product_loops = {multiply, widen};

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(ProductLoops, product_loops);
