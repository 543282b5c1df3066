// __bang_transpose, __bang_rotate90, __bang_mirror, __bang_pad, __bang_reshape_*: reorder elements,
// with the same bits.
#include "mlusim/layout.h"

#include <cstring>
#include <string>

#include "check/align.h"
#include "intrinsics/loops.h"
#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"
#include "machine/lanes.h"

namespace mlusim {
namespace {

// ---- Matrices -----------------------------------------------------------------------------------

enum class Turn {
  kTranspose,
  kRotate90,
  kRotate180,
  kRotate270,
  kMirror
};

struct Matrix {
  std::int64_t height, width;
};

template <typename Word>
void turn(Turn kind, Word *dst, const Word *src, const Matrix &matrix) {
  const std::int64_t height = matrix.height, width = matrix.width;
  for (std::int64_t i = 0; i < height; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t to = kind == Turn::kRotate90    ? j * height + height - 1 - i
                              : kind == Turn::kRotate180 ? (height - 1 - i) * width + width - 1 - j
                              : kind == Turn::kRotate270 ? (width - 1 - j) * height + i
                                                         : i * width + width - 1 - j;
      dst[to] = src[i * width + j];
    }
  }
}

template <typename Word>
void turn_words(Turn kind, TransposeLoop transpose, void *dst, const void *src, const Matrix &matrix) {
  if (kind == Turn::kTranspose) return transpose(dst, src, matrix.height, matrix.width);
  turn(kind, static_cast<Word *>(dst), static_cast<const Word *>(src), matrix);
}

void turn_elements(Turn kind, std::size_t element, void *dst, const void *src, const Matrix &matrix) {
  const TransposeLoops &loops = transpose_loops();
  if (element == 1) return turn_words<std::uint8_t>(kind, loops.bytes1, dst, src, matrix);
  if (element == 2) return turn_words<std::uint16_t>(kind, loops.bytes2, dst, src, matrix);
  turn_words<std::uint32_t>(kind, loops.bytes4, dst, src, matrix);
}

void vector_turn(const Call &call, Turn kind, std::size_t element, void *dst, const void *src, int height, int width) {
  if (!has_vector_work(call, height) || !has_work(call, width)) return;
  const Matrix matrix = {height, width};
  const std::int64_t count = matrix.height * matrix.width;
  const std::int64_t bytes = count * static_cast<std::int64_t>(element);
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, bytes)}, {count, bytes});
  turn_elements(kind, element, dst, src, matrix);
  if (g_observers.init) turn_elements(kind, element, init_shadow(dst), init_shadow(src), matrix);
}

// ---- Padding ------------------------------------------------------------------------------------

struct Padding {
  int channel, height, width;
  int top, bottom, left, right;
};

// `value` is one element, which fills the border of the image.
void pad_rows(const Padding &pad, std::size_t element, char *dst, const char *src, const char *value) {
  const std::size_t row = static_cast<std::size_t>(pad.width) * static_cast<std::size_t>(pad.channel) * element;
  const std::int64_t wide = std::int64_t{pad.left} + pad.width + pad.right;
  const std::int64_t high = std::int64_t{pad.top} + pad.height + pad.bottom;
  const std::size_t dst_row = static_cast<std::size_t>(wide * pad.channel) * element;
  const std::size_t bytes = static_cast<std::size_t>(high) * dst_row;
  std::memcpy(dst, value, element);
  for (std::size_t filled = element; filled < bytes; filled *= 2) {
    std::memcpy(dst + filled, dst, bytes - filled < filled ? bytes - filled : filled);
  }
  char *first = dst + static_cast<std::size_t>(pad.top) * dst_row +
                static_cast<std::size_t>(std::int64_t{pad.left} * pad.channel) * element;
  for (int i = 0; i < pad.height; ++i) {
    std::memcpy(first + static_cast<std::size_t>(i) * dst_row, src + static_cast<std::size_t>(i) * row, row);
  }
}

void vector_pad(const Call &call, const Padding &pad, std::size_t element, void *dst, const void *src,
                const void *value) {
  if (!has_vector_work(call, pad.channel) || !has_work(call, pad.height) || !has_work(call, pad.width)) return;
  for (const int side : {pad.top, pad.bottom, pad.left, pad.right}) {
    if (side < 0) refuse(call, "bad-argument", "a padding of " + std::to_string(side));
  }
  const std::int64_t size = static_cast<std::int64_t>(element);
  const std::int64_t source = std::int64_t{pad.channel} * pad.height * pad.width * size;
  const std::int64_t target = (std::int64_t{pad.top} + pad.height + pad.bottom) *
                              (std::int64_t{pad.left} + pad.width + pad.right) * pad.channel * size;
  check_operands(call, {nram_source("src", src, source), nram_target("dst", dst, target)}, {target / size, target});
  pad_rows(pad, element, static_cast<char *>(dst), static_cast<const char *>(src), static_cast<const char *>(value));
  if (!g_observers.init) return;
  constexpr char kDefined[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  pad_rows(pad, element, reinterpret_cast<char *>(init_shadow(dst)), reinterpret_cast<const char *>(init_shadow(src)),
           kDefined);
}

// ---- Filters ------------------------------------------------------------------------------------

// Orders rows for the 64 lanes of WRAM: first the rows of lane 0 (0, 64, 128, ...), then those of
// lane 1.
void order_by_lane(char *dst, const char *src, std::int64_t rows, std::size_t row_bytes) {
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    for (std::int64_t row = lane; row < rows; row += kLanes, dst += row_bytes) {
      std::memcpy(dst, src + static_cast<std::size_t>(row) * row_bytes, row_bytes);
    }
  }
}

void vector_reshape_filter(const Call &call, std::size_t element, void *dst, const void *src, int rows,
                           std::int64_t row_elements) {
  if (!has_vector_work(call, rows) || !has_work(call, row_elements)) return;
  const std::int64_t row = row_elements * static_cast<std::int64_t>(element);
  check_operands(call, {nram_source("src", src, rows * row), nram_target("dst", dst, rows * row)}, {row_elements, row});
  if (g_observers.any()) {
    align_check({call.core, call.name, call.pc, "__bang_reshape_filter rows"}, nullptr, 0, {rows, rows * row});
  }
  const std::size_t bytes = static_cast<std::size_t>(row);
  order_by_lane(static_cast<char *>(dst), static_cast<const char *>(src), rows, bytes);
  if (!g_observers.init) return;
  order_by_lane(reinterpret_cast<char *>(init_shadow(dst)), reinterpret_cast<const char *>(init_shadow(src)), rows,
                bytes);
}

// ---- Channels first or last ---------------------------------------------------------------------

// Each image is a matrix that is transposed.
void vector_reshape(const Call &call, std::size_t element, void *dst, const void *src, int images,
                    const Matrix &matrix) {
  if (!has_vector_work(call, images)) return;
  if (matrix.height <= 0 || matrix.width <= 0) {
    refuse(call, "bad-argument", "images of " + std::to_string(matrix.height * matrix.width) + " elements");
  }
  const std::int64_t count = matrix.height * matrix.width;
  const std::int64_t bytes = count * static_cast<std::int64_t>(element);
  check_operands(call, {nram_source("src", src, bytes * images), nram_target("dst", dst, bytes * images)},
                 {count * images, bytes * images});
  for (std::int64_t i = 0; i < images; ++i) {
    char *to = static_cast<char *>(dst) + i * bytes;
    const char *from = static_cast<const char *>(src) + i * bytes;
    turn_elements(Turn::kTranspose, element, to, from, matrix);
    if (g_observers.init) turn_elements(Turn::kTranspose, element, init_shadow(to), init_shadow(from), matrix);
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_MATRIX(T, name, kind)                                                          \
  void name(T *dst, const T *src, int height, int width) {                                           \
    mlusim::vector_turn(MLUSIM_CALL(#name), mlusim::Turn::kind, sizeof(T), dst, src, height, width); \
  }
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_MATRIX, __bang_transpose, kTranspose);
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_MATRIX, __bang_rotate90, kRotate90);
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_MATRIX, __bang_rotate180, kRotate180);
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_MATRIX, __bang_rotate270, kRotate270);
MLUSIM_BYTES(MLUSIM_DEFINE_MATRIX, __bang_mirror, kMirror);
MLUSIM_DEFINE_MATRIX(short, __bang_mirror, kMirror)
MLUSIM_DEFINE_MATRIX(unsigned short, __bang_mirror, kMirror)
MLUSIM_DEFINE_MATRIX(unsigned int, __bang_mirror, kMirror)
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_MATRIX, __bang_mirror, kMirror);

#define MLUSIM_DEFINE_PAD(T, name)                                                                                 \
  void name(T *dst, const T *src, int channel, int height, int width, int pad_height, int pad_width) {             \
    const T zero = static_cast<T>(0);                                                                              \
    mlusim::vector_pad(MLUSIM_CALL(#name), {channel, height, width, pad_height, pad_height, pad_width, pad_width}, \
                       sizeof(T), dst, src, &zero);                                                                \
  }                                                                                                                \
  void name(T *dst, const T *src, int channel, int height, int width, int pad_top, int pad_bottom, int pad_left,   \
            int pad_right) {                                                                                       \
    const T zero = static_cast<T>(0);                                                                              \
    mlusim::vector_pad(MLUSIM_CALL(#name), {channel, height, width, pad_top, pad_bottom, pad_left, pad_right},     \
                       sizeof(T), dst, src, &zero);                                                                \
  }
#define MLUSIM_DEFINE_PAD_VALUE(T, name)                                                                            \
  void name(T *dst, const T *src, int channel, int height, int width, int pad_height, int pad_width, T pad_value) { \
    mlusim::vector_pad(MLUSIM_CALL(#name), {channel, height, width, pad_height, pad_height, pad_width, pad_width},  \
                       sizeof(T), dst, src, &pad_value);                                                            \
  }                                                                                                                 \
  void name(T *dst, const T *src, int channel, int height, int width, int pad_top, int pad_bottom, int pad_left,    \
            int pad_right, T pad_value) {                                                                           \
    mlusim::vector_pad(MLUSIM_CALL(#name), {channel, height, width, pad_top, pad_bottom, pad_left, pad_right},      \
                       sizeof(T), dst, src, &pad_value);                                                            \
  }
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_PAD, __bang_pad);
MLUSIM_PAD_VALUE_TYPES(MLUSIM_DEFINE_PAD_VALUE, __bang_pad);

#define MLUSIM_DEFINE_RESHAPE(T, name, rows, columns)                                    \
  void name(T *dst, const T *src, int n, int h, int w, int c) {                          \
    mlusim::vector_reshape(MLUSIM_CALL(#name), sizeof(T), dst, src, n, {rows, columns}); \
  }
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_RESHAPE, __bang_reshape_nchw2nhwc, c, std::int64_t{h} * w);
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_RESHAPE, __bang_reshape_nhwc2nchw, std::int64_t{h} * w, c);

#define MLUSIM_DEFINE_RESHAPE_FILTER(T, name)                                                           \
  void name(T *dst, const T *src, int n, int h, int w, int c) {                                         \
    mlusim::vector_reshape_filter(MLUSIM_CALL(#name), sizeof(T), dst, src, n, std::int64_t{h} * w * c); \
  }
MLUSIM_LAYOUT_TYPES(MLUSIM_DEFINE_RESHAPE_FILTER, __bang_reshape_filter);
MLUSIM_DEFINE_RESHAPE_FILTER(bfloat16_t, __bang_reshape_filter)
