// __bang_matmul, __bang_mlp, __bang_conv, __bang_conv_partial, __bang_expand_channel_mul: the
// tensor unit.
#include "mlusim/matrix.h"

#include <algorithm>
#include <string>

#include "check/align.h"
#include "intrinsics/product.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {
namespace {

// The final step for each sum: value * scale + more, rounded once.
struct Finish {
  double scale = 1;
  Numbers more = {nullptr, Number::kFloat};
  bool each = false;  // `more` has a number for each result; else one for each column
};

Call with_rule(const Call &call, const char *rule) { return {call.core, call.name, call.pc, rule}; }

// The target of a product of rows of doubles and a filter. Result (row, column) is element
// row_at(row) + column of dst.
struct Target {
  void *dst;
  Number kind;
  std::int64_t columns;
};

void finish_row(const Target &target, const Finish &finish, const double *sums, std::int64_t at) {
  for (std::int64_t j = 0; j < target.columns; ++j) {
    double more = 0;
    if (finish.more.base != nullptr) widen_numbers(finish.more, finish.each ? at + j : j, 1, &more);
    put_number(target.dst, target.kind, at + j,
               finish.more.base != nullptr ? sums[j] * finish.scale + more : sums[j] * finish.scale);
  }
}

// Call this before the row is written, because dst may be `more`.
void shadow_row(const Target &target, const Finish &finish, const Columns &filter, bool defined, std::int64_t at) {
  const std::int64_t size = bytes_of(target.kind, 1);
  for (std::int64_t j = 0; j < target.columns; ++j) {
    bool all = defined && filter.defined[j] != 0;
    if (finish.more.base != nullptr) {
      const char *more = static_cast<const char *>(finish.more.base) + (finish.each ? at + j : j) * size;
      all = all && shadow_defined(more, size);
    }
    shadow_set(static_cast<char *>(target.dst) + (at + j) * size, size, all);
  }
}

constexpr std::int64_t kRowsAtOnce = 32;

// fill(row, to) writes the doubles of a row to `to` and returns whether all of them are defined;
// place(row) returns the place of its results.
template <typename Fill, typename Place>
void multiply_rows(const Target &target, const Finish &finish, const Filter &filter, const Columns &columns,
                   std::int64_t rows, const Fill &fill, const Place &place) {
  double *from = scratch<double, 2>(kRowsAtOnce * filter.depth);
  double *sums = scratch<double, 3>(kRowsAtOnce * filter.rows);
  for (std::int64_t first = 0; first < rows; first += kRowsAtOnce) {
    const std::int64_t block = std::min(rows - first, kRowsAtOnce);
    bool defined[kRowsAtOnce];
    for (std::int64_t i = 0; i < block; ++i) defined[i] = fill(first + i, from + i * filter.depth);
    product_loops().multiply(sums, from, columns.values, block, filter.depth, filter.rows);
    for (std::int64_t i = 0; i < block; ++i) {
      const std::int64_t at = place(first + i);
      if (g_observers.init) shadow_row(target, finish, columns, defined[i], at);
      finish_row(target, finish, sums + i * filter.rows, at);
    }
  }
}

// ---- Matrices -----------------------------------------------------------------------------------

void check_filter_address(const Call &call, const Filter &filter) {
  if (!g_observers.any()) return;
  align_check_filter(call, {filter.role, Kind::kRead, Space::kWram, Region::plain(filter.numbers.base, 1)});
}

constexpr int kMostOperands = 6;

// Checks the filter as two operands, then the others, and the result last.
void check_product(const Call &call, const Filter &filter, std::initializer_list<Operand> sources,
                   const Operand &target, const Amount &amount) {
  Operand operands[kMostOperands];
  std::size_t count = static_cast<std::size_t>(filter_operands(filter, operands));
  for (const Operand &source : sources) operands[count++] = source;
  operands[count++] = target;
  check_operands(call, operands, count, amount);
}

struct Product {
  Numbers src;
  Filter filter;
  std::int64_t rows;
};

void run_product(const Product &product, const Finish &finish, const Target &target) {
  const std::int64_t depth = product.filter.depth;
  const Columns columns = read_filter(product.filter);
  // Reads all of it before the first result is written.
  double *src = scratch<double, 4>(product.rows * depth);
  unsigned char *defined = scratch<unsigned char, 1>(product.rows);
  widen_numbers(product.src, 0, product.rows * depth, src);
  const std::int64_t bytes = bytes_of(product.src.kind, depth);
  for (std::int64_t i = 0; i < product.rows; ++i) {
    defined[i] = shadow_defined(static_cast<const char *>(product.src.base) + i * bytes, bytes);
  }
  multiply_rows(
      target, finish, product.filter, columns, product.rows,
      [&](std::int64_t row, double *to) {
        std::copy(src + row * depth, src + (row + 1) * depth, to);
        return defined[row] != 0;
      },
      [&](std::int64_t row) { return row * target.columns; });
}

void matmul(const Call &call, void *dst, Number kind, const Numbers &src, const Numbers &filter, int m, int k, int n,
            const Finish &finish = {}) {
  if (!has_vector_work(call, m) || !has_work(call, k) || !has_work(call, n)) return;
  const Product product = {src, located(call, {"filter", filter, n, k}), m};
  const std::int64_t bytes = bytes_of(src.kind, k);
  check_product(call, product.filter, {nram_source("src", src.base, m * bytes)},
                nram_target("dst", dst, bytes_of(kind, std::int64_t{m} * n)), {k, bytes, std::int64_t{2} * m * k * n});
  run_product(product, finish, {dst, kind, n});
}

void mlp(const Call &call, void *dst, Number kind, const Numbers &src, const Numbers &bias, const Numbers &weight,
         int height, int width, int position) {
  if (!has_vector_work(call, height) || !has_work(call, width)) return;
  const Finish finish = {position_scale(call, position), bias, false};
  const Product product = {src, located(call, {"weight", weight, height, width}), 1};
  check_filter_address(call, product.filter);
  const std::int64_t bytes = bytes_of(src.kind, width);
  const Operand source = nram_source("src", src.base, bytes);
  const Operand target = nram_target("dst", dst, bytes_of(kind, height));
  const Amount amount = {width, bytes, std::int64_t{2} * height * width};
  if (bias.base != nullptr) {
    check_product(call, product.filter, {source, nram_source("bias", bias.base, bytes_of(kind, height))}, target,
                  amount);
  } else {
    check_product(call, product.filter, {source}, target, amount);
  }
  run_product(product, finish, {dst, kind, height});
}

// ---- Convolutions -------------------------------------------------------------------------------

struct Image {
  std::int64_t channels, height, width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_width, stride_height;
  std::int64_t results;  // channels of dst
  std::int64_t in_width, in_height, out_width, out_height;

  static std::int64_t windows(std::int64_t length, std::int64_t taps, std::int64_t apart, std::int64_t stride) {
    const std::int64_t reach = (taps - 1) * apart + 1;
    return length < reach ? 0 : (length - reach) / stride + 1;
  }
  std::int64_t rows() const { return windows(height, kernel_height, in_height, stride_height); }
  std::int64_t columns() const { return windows(width, kernel_width, in_width, stride_width); }
  std::int64_t depth() const { return kernel_height * kernel_width * channels; }
  std::int64_t operations() const { return 2 * rows() * columns() * depth() * results; }
  // Elements of dst from one row of results to the next.
  std::int64_t line() const { return ((columns() - 1) * out_width + 1) * out_height; }
};

void check_image(const Call &call, const Image &image) {
  constexpr std::int64_t kMost = 1023;
  for (const std::int64_t size : {image.kernel_height, image.kernel_width}) {
    if (size <= 0) refuse(call, "bad-argument", "a window of " + std::to_string(size));
  }
  for (const std::int64_t size :
       {image.stride_height, image.stride_width, image.in_height, image.in_width, image.out_height, image.out_width}) {
    if (size > 0 && size <= kMost) continue;
    refuse(call, "bad-argument", "a stride or dilation of " + std::to_string(size) + "; 1 to 1023 can be had");
  }
}

struct Convolution {
  void *dst;
  Number kind;
  Numbers src, filter;
  Finish finish;
  Image image;
};

Region results_of(const Convolution &c) {
  const Image &image = c.image;
  Region region = Region::plain(c.dst, static_cast<std::size_t>(bytes_of(c.kind, image.results)));
  region.count0 = image.columns();
  region.stride0 = image.out_width * bytes_of(c.kind, image.results);
  region.count1 = image.rows();
  region.stride1 = image.line() * bytes_of(c.kind, image.results);
  return region;
}

void check_convolution(const Call &call, const Convolution &c, const Filter &filter) {
  const Image &image = c.image;
  const Operand source =
      nram_source("src", c.src.base, image.height * bytes_of(c.src.kind, image.width * image.channels));
  const Operand target = {"dst", Kind::kWrite, Space::kNram, results_of(c)};
  const Amount amount = {image.channels, bytes_of(c.src.kind, image.channels), image.operations()};
  if (c.finish.more.base != nullptr && c.finish.each) {
    // dst may be the place of the partial results, except of half ones.
    Operand partial = {"partial", Kind::kRead, Space::kNram, target.region};
    partial.region.base = static_cast<char *>(const_cast<void *>(c.finish.more.base));
    check_place(call, partial);
    if (g_observers.any()) {
      const Operand both[] = {partial, target};
      align_check(with_rule(call, "__bang_conv_partial partial"), both, 2, amount);
      tell(call, partial);
    }
    return check_product(call, filter, {source}, target, amount);
  }
  if (c.finish.more.base != nullptr) {
    const Operand bias = nram_source("bias", c.finish.more.base, bytes_of(c.kind, image.results));
    return check_product(call, filter, {source, bias}, target, amount);
  }
  check_product(call, filter, {source}, target, amount);
}

// Copies the taps of a window to one contiguous vector.
bool gather_window(const Convolution &c, const double *src, const unsigned char *defined, std::int64_t window,
                   double *to) {
  const Image &image = c.image;
  const std::int64_t top = window / image.columns() * image.stride_height;
  const std::int64_t left = window % image.columns() * image.stride_width;
  bool all = true;
  for (std::int64_t i = 0; i < image.kernel_height; ++i) {
    for (std::int64_t j = 0; j < image.kernel_width; ++j) {
      const std::int64_t place = (top + i * image.in_height) * image.width + left + j * image.in_width;
      to = std::copy(src + place * image.channels, src + (place + 1) * image.channels, to);
      all = all && defined[place] != 0;
    }
  }
  return all;
}

void convolve(const Call &call, const Convolution &c) {
  const Image &image = c.image;
  if (!has_vector_work(call, image.channels) || !has_work(call, image.height) || !has_work(call, image.width) ||
      !has_work(call, image.results)) {
    return;
  }
  check_image(call, image);
  const bool pairs = c.src.kind == Number::kInt4 || c.filter.kind == Number::kInt4;
  if (pairs && image.channels % 2 != 0) {
    refuse(call, "bad-argument", std::to_string(image.channels) + " channels of 4 bits, which come in pairs");
  }
  if (image.rows() == 0 || image.columns() == 0) return;
  const Filter filter = located(call, {"filter", c.filter, image.results, image.depth()});
  check_filter_address(call, filter);
  check_convolution(call, c, filter);
  if (g_observers.any()) {
    align_check(with_rule(call, "__bang_conv outputs"), nullptr, 0, {image.results, bytes_of(c.kind, image.results)});
  }

  const Columns columns = read_filter(filter);
  const std::int64_t places = image.height * image.width;
  double *src = scratch<double, 4>(places * image.channels);
  unsigned char *defined = scratch<unsigned char, 1>(places);
  widen_numbers(c.src, 0, places * image.channels, src);
  const std::int64_t bytes = bytes_of(c.src.kind, image.channels);
  for (std::int64_t i = 0; i < places; ++i) {
    defined[i] = shadow_defined(static_cast<const char *>(c.src.base) + i * bytes, bytes);
  }
  multiply_rows(
      {c.dst, c.kind, image.results}, c.finish, filter, columns, image.rows() * image.columns(),
      [&](std::int64_t window, double *to) { return gather_window(c, src, defined, window, to); },
      [&](std::int64_t window) {
        return (window / image.columns() * image.line() + window % image.columns() * image.out_width) * image.results;
      });
}

// ---- Channels -----------------------------------------------------------------------------------

// Assumes that the operand in WRAM holds ones: the instruction that wrote them may not have used
// lanes.
void expand(const Call &call, float *dst, const float *weight, const float *ones, const float *src, const float *addend,
            int rows, int channels) {
  if (!has_vector_work(call, rows) || !has_work(call, channels)) return;
  const std::int64_t bytes = std::int64_t{rows} * channels * std::int64_t{sizeof(float)};
  const Operand weights = nram_source("weight", weight, rows * std::int64_t{sizeof(float)});
  const Operand source = nram_source("src", src, bytes), target = nram_target("dst", dst, bytes);
  const Filter filter = located(call, {"ones", {ones, Number::kFloat}, channels, 1});
  const Amount amount = {channels, channels * std::int64_t{sizeof(float)}};
  if (addend == nullptr) {
    check_product(call, filter, {weights, source}, target, amount);
  } else {
    check_product(call, filter, {weights, source, nram_source("addend", addend, bytes)}, target, amount);
  }
  const BinaryWork multiply = {arithmetic_loops(), Binary::kMul, Type::kFloat};
  const BinaryWork add = {arithmetic_loops(), Binary::kAdd, Type::kFloat};
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = r * channels;
    const std::size_t element = sizeof(float);
    const float factor = weight[r];
    if (g_observers.init) {
      const bool defined = shadow_defined(weight + r, sizeof(float));
      shadow_elements(dst + at, element, channels, {src + at, element, channels},
                      addend != nullptr ? ShadowSource{addend + at, element, channels} : ShadowSource{});
      if (!defined) shadow_set(dst + at, channels * std::int64_t{sizeof(float)}, false);
    }
    if (addend == nullptr) {
      run_scalar(multiply, dst + at, src + at, &factor, channels);
      continue;
    }
    // dst may be either operand.
    float *between = scratch<float, 0>(channels);
    run_scalar(multiply, between, src + at, &factor, channels);
    run_vector(add, dst + at, between, addend + at, channels);
  }
}

}  // namespace
}  // namespace mlusim

// ---- The functions ------------------------------------------------------------------------------

#define MLUSIM_NUMBERS(T, base) {base, mlusim::number_of<T>()}
#define MLUSIM_NO_NUMBERS {nullptr, mlusim::Number::kFloat}

#define MLUSIM_DEFINE_MATMUL(T, S, name)                                                                               \
  void name(T *dst, const S *src, const S *filter, int m, int k, int n) {                                              \
    mlusim::matmul(MLUSIM_CALL(#name), dst, mlusim::number_of<T>(), MLUSIM_NUMBERS(S, src), MLUSIM_NUMBERS(S, filter), \
                   m, k, n);                                                                                           \
  }
MLUSIM_DEFINE_MATMUL(float, float, __bang_matmul)
MLUSIM_DEFINE_MATMUL(half, half, __bang_matmul)
MLUSIM_DEFINE_MATMUL(float, half, __bang_matmul)
MLUSIM_DEFINE_MATMUL(bfloat16_t, bfloat16_t, __bang_matmul)
MLUSIM_DEFINE_MATMUL(float, bfloat16_t, __bang_matmul)

#define MLUSIM_DEFINE_MATMUL_FIXED(T, S, F, name)                                                                 \
  void name(T *dst, const S *src, const F *filter, int m, int k, int n, int fix_position) {                       \
    const mlusim::Call call = MLUSIM_CALL(#name);                                                                 \
    mlusim::matmul(call, dst, mlusim::number_of<T>(), MLUSIM_NUMBERS(S, src), MLUSIM_NUMBERS(F, filter), m, k, n, \
                   {mlusim::position_scale(call, fix_position), MLUSIM_NO_NUMBERS, false});                       \
  }
MLUSIM_MATMUL_PRODUCTS(MLUSIM_DEFINE_MATMUL_FIXED, __bang_matmul);

#define MLUSIM_IMAGE   \
  {channel_input,      \
   height,             \
   width,              \
   kernel_height,      \
   kernel_width,       \
   stride_width,       \
   stride_height,      \
   channel_output,     \
   in_dilation_width,  \
   in_dilation_height, \
   out_dilation_width, \
   out_dilation_height}
#define MLUSIM_CONV_DILATION_ARGUMENTS \
  int in_dilation_width, int in_dilation_height, int out_dilation_width, int out_dilation_height
#define MLUSIM_CONVOLVE(T, S, F, name, scale, more_numbers, each) \
  const mlusim::Call call = MLUSIM_CALL(#name);                   \
  mlusim::convolve(call, {dst,                                    \
                          mlusim::number_of<T>(),                 \
                          MLUSIM_NUMBERS(S, src),                 \
                          MLUSIM_NUMBERS(F, filter),              \
                          {scale, more_numbers, each},            \
                          MLUSIM_IMAGE})
#define MLUSIM_DEFINE_CONV_FIXED(T, S, F, name)                                                           \
  void name(T *dst, const S *src, const F *filter, MLUSIM_CONV_SIZES, int fix_position,                   \
            MLUSIM_CONV_DILATION_ARGUMENTS) {                                                             \
    MLUSIM_CONVOLVE(T, S, F, name, mlusim::position_scale(call, fix_position), MLUSIM_NO_NUMBERS, false); \
  }
#define MLUSIM_DEFINE_CONV_BIAS(T, S, F, name)                                                                  \
  void name(T *dst, const S *src, const F *filter, const T *more, MLUSIM_CONV_SIZES, int fix_position,          \
            MLUSIM_CONV_DILATION_ARGUMENTS) {                                                                   \
    MLUSIM_CONVOLVE(T, S, F, name, mlusim::position_scale(call, fix_position), MLUSIM_NUMBERS(T, more), false); \
  }
#define MLUSIM_DEFINE_CONV_PARTIAL(T, S, F, name)                                                              \
  void name(T *dst, const S *src, const F *filter, const T *more, MLUSIM_CONV_SIZES, int fix_position,         \
            MLUSIM_CONV_DILATION_ARGUMENTS) {                                                                  \
    MLUSIM_CONVOLVE(T, S, F, name, mlusim::position_scale(call, fix_position), MLUSIM_NUMBERS(T, more), true); \
  }
#define MLUSIM_DEFINE_CONV_REAL(T, S, F, name)                                                          \
  void name(T *dst, const S *src, const F *filter, MLUSIM_CONV_SIZES, MLUSIM_CONV_DILATION_ARGUMENTS) { \
    MLUSIM_CONVOLVE(T, S, F, name, 1, MLUSIM_NO_NUMBERS, false);                                        \
  }
#define MLUSIM_DEFINE_CONV_REAL_PARTIAL(T, S, F, name)                                                                 \
  void name(T *dst, const S *src, const F *filter, const T *more, MLUSIM_CONV_SIZES, MLUSIM_CONV_DILATION_ARGUMENTS) { \
    MLUSIM_CONVOLVE(T, S, F, name, 1, MLUSIM_NUMBERS(T, more), true);                                                  \
  }
MLUSIM_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_FIXED, __bang_conv);
MLUSIM_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_BIAS, __bang_conv);
MLUSIM_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_PARTIAL, __bang_conv_partial);
MLUSIM_INT16_PRODUCTS(MLUSIM_DEFINE_CONV_FIXED, __bang_conv);
MLUSIM_INT16_PRODUCTS(MLUSIM_DEFINE_CONV_BIAS, __bang_conv);
MLUSIM_DEFINE_CONV_FIXED(float, int, int16, __bang_conv)
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_FIXED, __bang_conv);
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_BIAS, __bang_conv);
MLUSIM_NEWER_FIXED_PRODUCTS(MLUSIM_DEFINE_CONV_PARTIAL, __bang_conv_partial);
MLUSIM_REAL_PRODUCTS(MLUSIM_DEFINE_CONV_REAL, __bang_conv);
MLUSIM_REAL_PRODUCTS(MLUSIM_DEFINE_CONV_REAL_PARTIAL, __bang_conv_partial);
MLUSIM_BFLOAT16_PRODUCTS(MLUSIM_DEFINE_CONV_REAL, __bang_conv);
MLUSIM_BFLOAT16_PRODUCTS(MLUSIM_DEFINE_CONV_REAL_PARTIAL, __bang_conv_partial);

#define MLUSIM_DEFINE_MLP(T, S, F, name)                                                                    \
  void name(T *dst, const S *src, const F *weight, int height, int width, int fix_position) {               \
    mlusim::mlp(MLUSIM_CALL(#name), dst, mlusim::number_of<T>(), MLUSIM_NUMBERS(S, src), MLUSIM_NO_NUMBERS, \
                MLUSIM_NUMBERS(F, weight), height, width, fix_position);                                    \
  }
#define MLUSIM_DEFINE_MLP_BIAS(T, S, F, name)                                                                     \
  void name(T *dst, const S *src, const T *bias, const F *weight, int height, int width, int fix_position) {      \
    mlusim::mlp(MLUSIM_CALL(#name), dst, mlusim::number_of<T>(), MLUSIM_NUMBERS(S, src), MLUSIM_NUMBERS(T, bias), \
                MLUSIM_NUMBERS(F, weight), height, width, fix_position);                                          \
  }
MLUSIM_MLP_PRODUCTS(MLUSIM_DEFINE_MLP, __bang_mlp);
MLUSIM_MLP_PRODUCTS(MLUSIM_DEFINE_MLP_BIAS, __bang_mlp);
MLUSIM_DEFINE_MLP_BIAS(float, int, int16, __bang_mlp)
#define MLUSIM_DEFINE_MLP_REAL(T, S, F, name)                                                               \
  void name(T *dst, const S *src, const F *weight, int height, int width) {                                 \
    mlusim::mlp(MLUSIM_CALL(#name), dst, mlusim::number_of<T>(), MLUSIM_NUMBERS(S, src), MLUSIM_NO_NUMBERS, \
                MLUSIM_NUMBERS(F, weight), height, width, 0);                                               \
  }
MLUSIM_DEFINE_MLP_REAL(half, half, half, __bang_mlp)
MLUSIM_DEFINE_MLP_REAL(float, half, half, __bang_mlp)
MLUSIM_DEFINE_MLP_REAL(float, float, float, __bang_mlp)
MLUSIM_DEFINE_MLP_REAL(bfloat16_t, bfloat16_t, bfloat16_t, __bang_mlp)
MLUSIM_DEFINE_MLP_REAL(float, bfloat16_t, bfloat16_t, __bang_mlp)

void __bang_expand_channel_mul(float *dst, const float *weight, const float *ones, const float *src, int rows,
                               int channels) {
  mlusim::expand(MLUSIM_CALL("__bang_expand_channel_mul"), dst, weight, ones, src, nullptr, rows, channels);
}

void __bang_expand_channel_mul_add(float *dst, const float *weight, const float *ones, const float *src,
                                   const float *addend, int rows, int channels) {
  mlusim::expand(MLUSIM_CALL("__bang_expand_channel_mul_add"), dst, weight, ones, src, addend, rows, channels);
}
