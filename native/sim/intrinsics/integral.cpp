// __bang_integral, __bang_histogram: older uses of the tensor unit. The meaning of the histogram's
// counts is a guess.
#include <algorithm>

#include "check/align.h"
#include "intrinsics/product.h"
#include "intrinsics/shadow.h"
#include "machine/lanes.h"
#include "mlusim/matrix.h"

namespace mlusim {
namespace {

void check_with_filter(const Call &call, const Filter &filter, const Operand &source, const Operand &target,
                       const Amount &amount) {
  Operand operands[4];
  std::size_t count = static_cast<std::size_t>(filter_operands(filter, operands));
  operands[count++] = source;
  operands[count++] = target;
  check_operands(call, operands, count, amount);
  if (!g_observers.any()) return;
  align_check_filter(call, {filter.role, Kind::kRead, Space::kWram, Region::plain(filter.numbers.base, 1)});
}

// Element n uses the first n + 1 numbers of row n of the kernel.
void integrate(const Call &call, const Numbers &dst, const Numbers &src, const Numbers &kernel, int size,
               int position) {
  if (!has_vector_work(call, size)) return;
  const double scale = position_scale(call, position);
  const Filter filter = located(call, {"kernel", kernel, size, size});
  const std::int64_t bytes = bytes_of(src.kind, size);
  const std::int64_t element = bytes_of(dst.kind, 1);
  char *to = static_cast<char *>(const_cast<void *>(dst.base));
  check_with_filter(call, filter, nram_source("src", src.base, bytes), nram_target("dst", to, element * size),
                    {size, bytes, std::int64_t{size} * (size + 1)});
  double *from = scratch<double, 4>(size);
  double *row = scratch<double, 1>(size);
  unsigned char *defined = scratch<unsigned char, 1>(size);
  widen_numbers(src, 0, size, from);
  for (std::int64_t n = 0; n < size; ++n) {
    const std::int64_t before = bytes_of(src.kind, n);
    defined[n] = (n == 0 || defined[n - 1] != 0) &&
                 shadow_defined(static_cast<const char *>(src.base) + before, bytes_of(src.kind, 1));
  }
  for (std::int64_t n = 0; n < size; ++n) {
    widen_numbers({row_of(filter, n), kernel.kind}, 0, n + 1, row);
    double sum = 0;
    for (std::int64_t j = 0; j <= n; ++j) sum += row[j] * from[j];
    put_number(to, dst.kind, n, sum * scale);
    if (!g_observers.init) continue;
    shadow_set(to + n * element, element,
               defined[n] != 0 && shadow_defined(row_of(filter, n), bytes_of(kernel.kind, n + 1)));
  }
}

void count_numbers(const Call &call, const Numbers &dst, const Numbers &src, const Numbers &kernel, int size) {
  if (!has_vector_work(call, size)) return;
  const Filter filter = located(call, {"kernel", kernel, kLanes, 1});
  const std::int64_t bytes = bytes_of(src.kind, size);
  const std::int64_t element = bytes_of(dst.kind, 1);
  char *to = static_cast<char *>(const_cast<void *>(dst.base));
  check_with_filter(call, filter, nram_source("src", src.base, bytes), nram_target("dst", to, element * kLanes),
                    {size, bytes, kLanes * size});
  double *from = scratch<double, 4>(size);
  widen_numbers(src, 0, size, from);
  const bool defined = shadow_defined(src.base, bytes);
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    double wanted = 0;
    widen_numbers({row_of(filter, lane), kernel.kind}, 0, 1, &wanted);
    put_number(to, dst.kind, lane, static_cast<double>(std::count(from, from + size, wanted)));
    if (!g_observers.init) continue;
    shadow_set(to + lane * element, element, defined && shadow_defined(row_of(filter, lane), bytes_of(kernel.kind, 1)));
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_INTEGRAL(T, S, name)                                                              \
  void name(T *dst, const S *src, const S *kernel, int size) {                                          \
    mlusim::integrate(MLUSIM_CALL(#name), {dst, mlusim::number_of<T>()}, {src, mlusim::number_of<S>()}, \
                      {kernel, mlusim::number_of<S>()}, size, 0);                                       \
  }
#define MLUSIM_DEFINE_INTEGRAL_FIXED(T, S, name)                                                        \
  void name(T *dst, const S *src, const S *kernel, int size, int fix_position) {                        \
    mlusim::integrate(MLUSIM_CALL(#name), {dst, mlusim::number_of<T>()}, {src, mlusim::number_of<S>()}, \
                      {kernel, mlusim::number_of<S>()}, size, fix_position);                            \
  }
#define MLUSIM_DEFINE_HISTOGRAM(T, S, name)                                                                 \
  void name(T *dst, const S *src, const S *kernel, int size) {                                              \
    mlusim::count_numbers(MLUSIM_CALL(#name), {dst, mlusim::number_of<T>()}, {src, mlusim::number_of<S>()}, \
                          {kernel, mlusim::number_of<S>()}, size);                                          \
  }
MLUSIM_DEFINE_INTEGRAL(int, char, __bang_integral)
MLUSIM_DEFINE_INTEGRAL(short, char, __bang_integral)
MLUSIM_DEFINE_INTEGRAL_FIXED(float, int8, __bang_integral)
MLUSIM_DEFINE_INTEGRAL_FIXED(half, int8, __bang_integral)
MLUSIM_DEFINE_INTEGRAL(int, short, __bang_integral)
MLUSIM_DEFINE_INTEGRAL(short, short, __bang_integral)
MLUSIM_DEFINE_INTEGRAL_FIXED(float, int16, __bang_integral)
MLUSIM_DEFINE_INTEGRAL_FIXED(half, int16, __bang_integral)
MLUSIM_DEFINE_INTEGRAL(float, float, __bang_integral)
MLUSIM_DEFINE_INTEGRAL(float, half, __bang_integral)

MLUSIM_DEFINE_HISTOGRAM(int, int8, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(half, int8, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(float, int8, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(int16, int8, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(half, int16, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(float, int16, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(int16, int16, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(float, half, __bang_histogram)
MLUSIM_DEFINE_HISTOGRAM(float, bfloat16_t, __bang_histogram)
