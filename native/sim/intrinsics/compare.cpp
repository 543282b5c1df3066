// __bang_eq, __bang_ne, __bang_lt, __bang_le, __bang_gt, __bang_ge in all forms.
#include "mlusim/compare.h"

#include <vector>

#include "intrinsics/settled.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"

namespace mlusim {
namespace {

// Sets bit i of dst if element i is nonzero.
void pack_bits(unsigned char *dst, const float *results, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (std::int64_t k = 0; k < 8 && i + k < count; ++k) byte |= (results[i + k] != 0 ? 1u : 0u) << k;
    dst[i / 8] = static_cast<unsigned char>(byte);
  }
}

// Works in blocks, and writes the bits of a block after the block was read: dst may start at the
// address of a source.
void compare_bits(Binary op, Type type, void *dst, const void *src0, const void *src1, std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  float a[kBlock], b[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = count - first < kBlock ? count - first : kBlock;
    const std::int64_t begin = first * size_of(type);
    const float *left = floats_of(type, static_cast<const char *>(src0) + begin, a, block);
    const float *right = floats_of(type, static_cast<const char *>(src1) + begin, b, block);
    run_vector({compare_loops(), op, Type::kFloat}, a, left, right, block);
    pack_bits(static_cast<unsigned char *>(dst) + first / 8, a, block);
  }
}

// A bit is defined if both elements are, or if it is the same for every value of theirs. The bits
// behind the last one are zeros.
void shadow_bits(unsigned char *dst, const std::vector<unsigned char> &defined, const Settled &settled,
                 std::int64_t count) {
  unsigned char *shadow = init_shadow(dst);
  for (std::int64_t i = 0; i < count; i += 8) {
    unsigned known = 0;
    for (std::int64_t k = 0; k < 8; ++k) {
      const bool zero = ((dst[i / 8] >> k) & 1) == 0;
      const bool is_known =
          i + k >= count || defined[static_cast<std::size_t>(i + k)] != 0 || settled.holds(i + k, zero);
      known |= (is_known ? 1u : 0u) << k;
    }
    shadow[i / 8] = static_cast<unsigned char>(known);
  }
}

// Tells for each element whether both sources are defined.
const std::vector<unsigned char> &defined_elements(const ShadowSource &a, const ShadowSource &b) {
  // Not on the stack, which is not unwound when a launch ends early.
  static std::vector<unsigned char> &defined = *new std::vector<unsigned char>;
  defined.assign(static_cast<std::size_t>(a.count), 1);
  const std::int64_t size = static_cast<std::int64_t>(a.element);
  for (const ShadowSource *source : {&a, &b}) {
    const char *base = static_cast<const char *>(source->base);
    if (shadow_defined(base, a.count * size)) continue;
    for (std::int64_t i = 0; i < a.count; ++i) {
      if (!shadow_defined(base + i * size, size)) defined[static_cast<std::size_t>(i)] = 0;
    }
  }
  return defined;
}

void vector_bits(const Call &call, Binary op, Type type, void *dst, const void *src0, const void *src1, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(type);
  const std::int64_t bytes = count * size;
  check_operands(call,
                 {nram_source("src0", src0, bytes), nram_source("src1", src1, bytes),
                  nram_target("dst", dst, (std::int64_t{count} + 7) / 8)},
                 {count, bytes});
  if (!g_observers.init) return compare_bits(op, type, dst, src0, src1, count);
  const ShadowSource a = {src0, static_cast<std::size_t>(size), count};
  const ShadowSource b = {src1, static_cast<std::size_t>(size), count};
  const std::vector<unsigned char> &defined = defined_elements(a, b);
  const Settled settled({compare_loops(), op, type}, a, b, nullptr, count);
  compare_bits(op, type, dst, src0, src1, count);
  shadow_bits(static_cast<unsigned char *>(dst), defined, settled, count);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_BITS(T, name, op)                                                                             \
  void name(T *dst, const T *src0, const T *src1, int elem_count) {                                                 \
    mlusim::vector_bits(MLUSIM_CALL(#name), mlusim::Binary::op, mlusim::type_of<T>(), dst, src0, src1, elem_count); \
  }
#define MLUSIM_COMPARE(name, op)                                                 \
  MLUSIM_REALS(MLUSIM_DEFINE_BINARY, __bang_##name, compare_loops, op);          \
  MLUSIM_REALS(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, compare_loops, op); \
  MLUSIM_REALS(MLUSIM_DEFINE_CYCLE, __bang_cycle_##name, compare_loops, op);     \
  MLUSIM_REALS(MLUSIM_DEFINE_BITS, __bang_##name##_bitindex, op)
MLUSIM_COMPARE(eq, kEq);
MLUSIM_COMPARE(ne, kNe);
MLUSIM_COMPARE(lt, kLt);
MLUSIM_COMPARE(le, kLe);
MLUSIM_COMPARE(gt, kGt);
MLUSIM_COMPARE(ge, kGe);
MLUSIM_COMPARE(equ, kEqu);
MLUSIM_COMPARE(neu, kNeu);
MLUSIM_COMPARE(ltu, kLtu);
MLUSIM_COMPARE(leu, kLeu);
MLUSIM_COMPARE(gtu, kGtu);
MLUSIM_COMPARE(geu, kGeu);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SCALAR, __bang_ge_const, compare_loops, kGe);

#define MLUSIM_COMPARE_INTEGERS(name, op)                                           \
  MLUSIM_INTEGERS(MLUSIM_DEFINE_BINARY, __bang_##name, compare_loops, op);          \
  MLUSIM_INTEGERS(MLUSIM_DEFINE_SCALAR, __bang_##name##_scalar, compare_loops, op); \
  MLUSIM_INTEGERS(MLUSIM_DEFINE_CYCLE, __bang_cycle_##name, compare_loops, op)
MLUSIM_COMPARE_INTEGERS(eq, kEq);
MLUSIM_COMPARE_INTEGERS(ne, kNe);
MLUSIM_COMPARE_INTEGERS(lt, kLt);
MLUSIM_COMPARE_INTEGERS(le, kLe);
MLUSIM_COMPARE_INTEGERS(gt, kGt);
MLUSIM_COMPARE_INTEGERS(ge, kGe);
