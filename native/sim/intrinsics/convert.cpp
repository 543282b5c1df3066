// Conversions of vectors.
#include "mlusim/convert.h"

#include <algorithm>
#include <vector>

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {
namespace {

struct ConvertWork {
  Type to, from;
  Rounding rounding;
  int exponent;    // the result is src * 2^exponent
  bool symmetric;  // excludes the most negative integer
};

// Runs of elements of a strided conversion; one run without strides.
struct Runs {
  std::int64_t count = 1;
  std::int64_t dst_stride = 0, src_stride = 0;
};

// Converts half and bfloat16 through float, which is exact.
void run_short(const ConvertWork &work, void *dst, const void *src, std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  const ConvertLoop loop =
      convert_loops().loop[static_cast<int>(work.to)][static_cast<int>(Type::kFloat)][static_cast<int>(work.rounding)];
  const ShortLoops &shorts = work.from == Type::kHalf ? half_loops() : bfloat16_loops();
  float values[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::size_t block = static_cast<std::size_t>(std::min(count - first, kBlock));
    shorts.widen(static_cast<const char *>(src) + first * size_of(work.from), values, block);
    loop(static_cast<char *>(dst) + first * size_of(work.to), values, block, work.exponent, work.symmetric);
  }
}

// Returns the source, or a copy of it if longer results would overwrite elements before they are
// read.
const void *kept_source(const ConvertWork &work, const void *dst, const void *src, std::int64_t count) {
  const char *to = static_cast<const char *>(dst), *from = static_cast<const char *>(src);
  const std::int64_t bytes = count * size_of(work.from);
  const bool overlaps = to < from + bytes && from < to + count * size_of(work.to);
  if (!overlaps || (to <= from && size_of(work.to) <= size_of(work.from))) return src;
  // Not on the stack, which is not unwound when a launch ends early.
  static std::vector<char> &copy = *new std::vector<char>;
  copy.assign(from, from + bytes);
  return copy.data();
}

void run(const ConvertWork &work, void *dst, const void *src, std::int64_t count) {
  src = kept_source(work, dst, src, count);
  const ConvertLoop loop =
      convert_loops().loop[static_cast<int>(work.to)][static_cast<int>(work.from)][static_cast<int>(work.rounding)];
  if (loop == nullptr) return run_short(work, dst, src, count);
  loop(dst, src, static_cast<std::size_t>(count), work.exponent, work.symmetric);
}

Operand strided(Operand operand, std::int64_t stride, std::int64_t count) {
  operand.region.stride0 = stride;
  operand.region.count0 = count;
  return operand;
}

void vector_convert(const Call &call, const ConvertWork &work, void *dst, const void *src, int count,
                    const Runs &runs) {
  if (!has_vector_work(call, count)) return;
  if (runs.count <= 0) refuse(call, "bad-argument", "a segnum of " + std::to_string(runs.count - 1));
  const std::int64_t to = size_of(work.to);
  const std::int64_t from = size_of(work.from);
  check_operands(call,
                 {strided(nram_source("src", src, count * from), runs.src_stride, runs.count),
                  strided(nram_target("dst", dst, count * to), runs.dst_stride, runs.count)},
                 {count, count * std::max(to, from)});
  for (std::int64_t i = 0; i < runs.count; ++i) {
    void *target = static_cast<char *>(dst) + i * runs.dst_stride;
    const void *source = static_cast<const char *>(src) + i * runs.src_stride;
    if (g_observers.init) {
      shadow_elements(target, static_cast<std::size_t>(to), count, {source, static_cast<std::size_t>(from), count});
    }
    run(work, target, source, count);
  }
}

template <typename To, typename From>
ConvertWork work_of(Rounding rounding, int exponent = 0, bool symmetric = false) {
  return {type_of<To>(), type_of<From>(), rounding, exponent, symmetric};
}

// Integers of 8 bits with a position use -127 .. 127.
template <typename To>
constexpr bool kSymmetric = sizeof(To) == 1 && std::is_signed<To>::value;

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_CONVERT(To, From, name)                                                                   \
  void name(To *dst, const From *src, int src_count) {                                                          \
    mlusim::vector_convert(MLUSIM_CALL(#name), mlusim::work_of<To, From>(mlusim::rounding_of(#name)), dst, src, \
                           src_count, {});                                                                      \
  }
#define MLUSIM_DEFINE_CONVERT_RUNS(To, From, name)                                                              \
  void name(To *dst, const From *src, int src_count, int dst_stride, int src_stride, int segnum) {              \
    mlusim::vector_convert(MLUSIM_CALL(#name), mlusim::work_of<To, From>(mlusim::rounding_of(#name)), dst, src, \
                           src_count, {std::int64_t{segnum} + 1, dst_stride, src_stride});                      \
  }
// Conversions from a number to an integer with a position, and back.
#define MLUSIM_DEFINE_TO_FIXED(To, From, name)                                                                  \
  void name(To *dst, const From *src, int src_count, int fix_position) {                                        \
    mlusim::vector_convert(                                                                                     \
        MLUSIM_CALL(#name),                                                                                     \
        mlusim::work_of<To, From>(mlusim::rounding_of(#name), -fix_position, mlusim::kSymmetric<To>), dst, src, \
        src_count, {});                                                                                         \
  }
#define MLUSIM_DEFINE_TO_FIXED_RUNS(To, From, name)                                                                  \
  void name(To *dst, const From *src, int src_count, int fix_position, int dst_stride, int src_stride, int segnum) { \
    mlusim::vector_convert(                                                                                          \
        MLUSIM_CALL(#name),                                                                                          \
        mlusim::work_of<To, From>(mlusim::rounding_of(#name), -fix_position, mlusim::kSymmetric<To>), dst, src,      \
        src_count, {std::int64_t{segnum} + 1, dst_stride, src_stride});                                              \
  }
#define MLUSIM_DEFINE_FROM_FIXED(To, From, name)                                                                    \
  void name(To *dst, const From *src, int src_count, int fix_position) {                                            \
    mlusim::vector_convert(MLUSIM_CALL(#name), mlusim::work_of<To, From>(mlusim::rounding_of(#name), fix_position), \
                           dst, src, src_count, {});                                                                \
  }
#define MLUSIM_DEFINE_FROM_FIXED_RUNS(To, From, name)                                                                \
  void name(To *dst, const From *src, int src_count, int fix_position, int dst_stride, int src_stride, int segnum) { \
    mlusim::vector_convert(MLUSIM_CALL(#name), mlusim::work_of<To, From>(mlusim::rounding_of(#name), fix_position),  \
                           dst, src, src_count, {std::int64_t{segnum} + 1, dst_stride, src_stride});                 \
  }
#define MLUSIM_DEFINE_BETWEEN_INTEGERS(To, From, name)                                                                 \
  void name(To *dst, const From *src, int src_count, int dst_position, int src_position) {                             \
    mlusim::vector_convert(MLUSIM_CALL(#name),                                                                         \
                           mlusim::work_of<To, From>(mlusim::Rounding::kTowardZero, src_position - dst_position), dst, \
                           src, src_count, {});                                                                        \
  }

MLUSIM_DEFINE_CONVERT(float, half, __bang_half2float)
MLUSIM_DEFINE_CONVERT_RUNS(float, half, __bang_half2float)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT, half, float, __bang_float2half);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_DEFINE_CONVERT_RUNS, half, float, __bang_float2half);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT, bfloat16_t, float, __bang_float2bfloat16);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT, float, bfloat16_t, __bang_bfloat162float);
MLUSIM_DEFINE_CONVERT(float, bfloat16_t, __bang_bfloat162float)

MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int16, half, __bang_half2int16);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int8, half, __bang_half2int8);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED_RUNS, int8, half, __bang_half2int8);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT, short, half, __bang_half2short);
MLUSIM_OLDER_ROUNDINGS(MLUSIM_DEFINE_CONVERT_RUNS, short, half, __bang_half2short);
MLUSIM_DEFINE_CONVERT(signed char, half, __bang_half2char_dn)
MLUSIM_DEFINE_CONVERT(unsigned char, half, __bang_half2uchar_dn)
MLUSIM_DEFINE_CONVERT(signed char, half, __bang_half2uchar_dn)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int16, float, __bang_float2int16);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int8, float, __bang_float2int8);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int, float, __bang_float2int);
MLUSIM_DEFINE_TO_FIXED(int, float, __bang_float2int32)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int, float, __bang_float2int32);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int, half, __bang_half2int32);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, unsigned char, float, __bang_float2uint8);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, unsigned short, float, __bang_float2uint16);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, unsigned int, float, __bang_float2uint32);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_CONVERT, bfloat16_t, half, __bang_half2bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_CONVERT, half, bfloat16_t, __bang_bfloat162half);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, signed char, bfloat16_t, __bang_bfloat162int8);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, short, bfloat16_t, __bang_bfloat162int16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_TO_FIXED, int, bfloat16_t, __bang_bfloat162int32);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_CONVERT, unsigned char, bfloat16_t, __bang_bfloat162uchar);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_CONVERT, unsigned char, float, __bang_float2uchar);

MLUSIM_DEFINE_FROM_FIXED(float, int16, __bang_int162float)
MLUSIM_DEFINE_FROM_FIXED(float, int8, __bang_int82float)
MLUSIM_DEFINE_FROM_FIXED(half, int16, __bang_int162half)
MLUSIM_DEFINE_FROM_FIXED(half, int8, __bang_int82half)
MLUSIM_DEFINE_FROM_FIXED_RUNS(half, int8, __bang_int82half)
MLUSIM_DEFINE_FROM_FIXED(half, fix8, __bang_fix82half)
MLUSIM_DEFINE_FROM_FIXED_RUNS(half, fix8, __bang_fix82half)
MLUSIM_DEFINE_CONVERT(half, short, __bang_short2half)
MLUSIM_DEFINE_CONVERT_RUNS(half, short, __bang_short2half)
MLUSIM_DEFINE_CONVERT(half, unsigned char, __bang_uchar2half)
MLUSIM_DEFINE_CONVERT_RUNS(half, unsigned char, __bang_uchar2half)
MLUSIM_DEFINE_FROM_FIXED(float, int, __bang_int2float)
MLUSIM_DEFINE_FROM_FIXED(float, int, __bang_int322float)
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, float, int, __bang_int322float);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, half, int, __bang_int322half);
MLUSIM_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, half, int16, __bang_int162half);
MLUSIM_DEFINE_FROM_FIXED(float, unsigned char, __bang_uint82float)
MLUSIM_DEFINE_FROM_FIXED(float, unsigned short, __bang_uint162float)
MLUSIM_DEFINE_FROM_FIXED(float, unsigned int, __bang_uint322float)
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, bfloat16_t, int, __bang_int322bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, bfloat16_t, short, __bang_int162bfloat16);
MLUSIM_ALL_ROUNDINGS(MLUSIM_DEFINE_FROM_FIXED, bfloat16_t, signed char, __bang_int82bfloat16);
MLUSIM_DEFINE_CONVERT(bfloat16_t, unsigned char, __bang_uchar2bfloat16)

MLUSIM_DEFINE_BETWEEN_INTEGERS(int, signed char, __bang_char2int)
MLUSIM_DEFINE_BETWEEN_INTEGERS(short, signed char, __bang_char2short)
MLUSIM_DEFINE_BETWEEN_INTEGERS(int, short, __bang_short2int)
MLUSIM_DEFINE_BETWEEN_INTEGERS(signed char, short, __bang_short2char)
MLUSIM_DEFINE_BETWEEN_INTEGERS(signed char, int, __bang_int2char)
MLUSIM_DEFINE_BETWEEN_INTEGERS(short, int, __bang_int2short)
MLUSIM_DEFINE_BETWEEN_INTEGERS(short, int, __bang_int322int16)
MLUSIM_DEFINE_BETWEEN_INTEGERS(signed char, int, __bang_int322int8)
MLUSIM_DEFINE_BETWEEN_INTEGERS(int, short, __bang_int162int32)
MLUSIM_DEFINE_BETWEEN_INTEGERS(signed char, short, __bang_int162int8)
MLUSIM_DEFINE_BETWEEN_INTEGERS(int, signed char, __bang_int82int32)
MLUSIM_DEFINE_BETWEEN_INTEGERS(short, signed char, __bang_int82int16)
MLUSIM_DEFINE_TO_FIXED(int, unsigned char, __bang_uchar2int32)
MLUSIM_DEFINE_FROM_FIXED(unsigned char, int, __bang_int322uchar)

// Older forms, which leave other contents in their scratch memory.

void __bang_half2uchar_dn(unsigned char *dst, const half *src, half *src_addition, int src_count) {
  const mlusim::Call call = MLUSIM_CALL("__bang_half2uchar_dn");
  mlusim::vector_convert(call, mlusim::work_of<unsigned char, half>(mlusim::Rounding::kDown), dst, src, src_count, {});
  mlusim::spoil(call, "src_addition", src_addition, std::int64_t{src_count} * 2);
}

void __bang_float2int(int *dst, float *dst_addition, const float *src, float *src_addition, int src_count) {
  const mlusim::Call call = MLUSIM_CALL("__bang_float2int");
  mlusim::vector_convert(call, mlusim::work_of<int, float>(mlusim::Rounding::kTowardZero), dst, src, src_count, {});
  mlusim::spoil(call, "dst_addition", dst_addition, std::int64_t{src_count} * 4);
  mlusim::spoil(call, "src_addition", src_addition, std::int64_t{src_count} * 4);
}

void __bang_int2float(float *dst, float *dst_addition, const int *src, float *src_addition, int src_count) {
  const mlusim::Call call = MLUSIM_CALL("__bang_int2float");
  mlusim::vector_convert(call, mlusim::work_of<float, int>(mlusim::Rounding::kTowardZero), dst, src, src_count, {});
  mlusim::spoil(call, "dst_addition", dst_addition, std::int64_t{src_count} * 4);
  mlusim::spoil(call, "src_addition", src_addition, std::int64_t{src_count} * 4);
}
