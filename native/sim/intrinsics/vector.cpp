#include "intrinsics/vector.h"

#include <algorithm>
#include <cstring>

#include "check/align.h"
#include "check/domain.h"
#include "intrinsics/settled.h"
#include "intrinsics/shadow.h"
#include "machine/model.h"

namespace mlusim {
namespace {

// Block size for half and bfloat16, which are computed as floats.
constexpr std::int64_t kBlock = 512;

const ShortLoops &short_loops(Type type) { return type == Type::kHalf ? half_loops() : bfloat16_loops(); }

template <typename T>
T *offset(T *base, std::int64_t bytes) {
  using Byte = std::conditional_t<std::is_const<T>::value, const char, char>;
  return static_cast<Byte *>(base) + bytes;
}

template <typename Word>
void drop_signs(void *numbers, std::int64_t count) {
  constexpr Word kNegativeZero = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  Word *const words = static_cast<Word *>(numbers);
  for (std::int64_t i = 0; i < count; ++i) words[i] = words[i] == kNegativeZero ? Word{0} : words[i];
}

void run_short(const BinaryWork &work, void *dst, const void *src0, const void *src1, std::int64_t count, bool scalar) {
  const ShortLoops &rows = short_loops(work.type);
  const int op = static_cast<int>(work.op);
  const int type = static_cast<int>(Type::kFloat);
  const BinaryLoop loop = scalar ? work.loops.scalar[op][type] : work.loops.vector[op][type];
  float a[kBlock], b[kBlock];
  if (scalar) rows.widen(src1, b, 1);
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::size_t block = static_cast<std::size_t>(std::min(count - first, kBlock));
    rows.widen(offset(src0, 2 * first), a, block);
    if (!scalar) rows.widen(offset(src1, 2 * first), b, block);
    loop(a, a, b, block);
    rows.narrow(a, offset(dst, 2 * first), block);
    // A number other than zero may have become one.
    if (work.op >= Binary::kAddOf2xx)
      drop_zero_signs(work.type, offset(dst, 2 * first), static_cast<std::int64_t>(block));
  }
}

// Propagates definedness bit by bit for bitwise operations, because masks have unused bits behind
// the last one. Call it before the sources change. False for other operations.
bool shadow_bit_logic(Binary op, void *dst, const void *src0, const void *src1, std::int64_t bytes) {
  if (op != Binary::kBitAnd && op != Binary::kBitOr && op != Binary::kBitXor) return false;
  const auto *a = static_cast<const unsigned char *>(src0);
  const auto *b = static_cast<const unsigned char *>(src1);
  const unsigned char *known_a = init_shadow(a);
  const unsigned char *known_b = init_shadow(b);
  unsigned char *known = init_shadow(dst);
  for (std::int64_t i = 0; i < bytes; ++i) {
    // A 0 in one operand decides an AND, a 1 decides an OR.
    unsigned decided = 0;
    if (op == Binary::kBitAnd) decided = (known_a[i] & ~a[i]) | (known_b[i] & ~b[i]);
    if (op == Binary::kBitOr) decided = (known_a[i] & a[i]) | (known_b[i] & b[i]);
    known[i] = static_cast<unsigned char>((known_a[i] & known_b[i]) | decided);
  }
  return true;
}

}  // namespace

void run_vector(const BinaryWork &work, void *dst, const void *src0, const void *src1, std::int64_t count) {
  const BinaryLoop loop = work.loops.vector[static_cast<int>(work.op)][static_cast<int>(work.type)];
  if (loop == nullptr) return run_short(work, dst, src0, src1, count, false);
  loop(dst, src0, src1, static_cast<std::size_t>(count));
}

void run_scalar(const BinaryWork &work, void *dst, const void *src0, const void *value, std::int64_t count) {
  const BinaryLoop loop = work.loops.scalar[static_cast<int>(work.op)][static_cast<int>(work.type)];
  if (loop == nullptr) return run_short(work, dst, src0, value, count, true);
  loop(dst, src0, value, static_cast<std::size_t>(count));
}

void run_unary(Unary op, Type type, void *dst, const void *src, std::int64_t count) {
  const auto &loops = unary_loops().loop[static_cast<int>(op)];
  const UnaryLoop own = loops[static_cast<int>(type)];
  if (own != nullptr) {
    own(dst, src, static_cast<std::size_t>(count));
    return drop_zero_signs(type, dst, count);
  }
  const ShortLoops &rows = short_loops(type);
  float values[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::size_t block = static_cast<std::size_t>(std::min(count - first, kBlock));
    rows.widen(offset(src, 2 * first), values, block);
    loops[static_cast<int>(Type::kFloat)](values, values, block);
    rows.narrow(values, offset(dst, 2 * first), block);
  }
  drop_zero_signs(type, dst, count);
}

BinaryWork of_card(const BinaryWork &work) {
  const bool is_real = work.type == Type::kFloat || work.type == Type::kHalf || work.type == Type::kBFloat16;
  if (!is_real || !is_2xx()) return work;
  switch (work.op) {
    case Binary::kAdd:
      return {work.loops, Binary::kAddOf2xx, work.type};
    case Binary::kSub:
      return {work.loops, Binary::kSubOf2xx, work.type};
    case Binary::kMul:
      return {work.loops, Binary::kMulOf2xx, work.type};
    case Binary::kDiv:
      return {work.loops, Binary::kDivOf2xx, work.type};
    case Binary::kAddTowardZero:
      return {work.loops, Binary::kAddTowardZeroOf2xx, work.type};
    default:
      return work;
  }
}

void drop_zero_signs(Type type, void *numbers, std::int64_t count) {
  if (!is_2xx()) return;
  if (type == Type::kFloat) return drop_signs<std::uint32_t>(numbers, count);
  if (type == Type::kHalf || type == Type::kBFloat16) drop_signs<std::uint16_t>(numbers, count);
}

const float *floats_of(Type type, const void *from, float *buffer, std::int64_t count) {
  if (type == Type::kFloat) return static_cast<const float *>(from);
  short_loops(type).widen(from, buffer, static_cast<std::size_t>(count));
  return buffer;
}

void round_floats(Type type, const float *from, void *to, std::int64_t count) {
  const std::size_t number = static_cast<std::size_t>(count);
  if (type != Type::kFloat) return short_loops(type).narrow(from, to, number);
  std::memcpy(to, from, number * sizeof(float));
}

// ---- Instructions -------------------------------------------------------------------------------

void vector_binary(const Call &call, const BinaryWork &work, void *dst, const void *src0, const void *src1, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(work.type);
  const std::int64_t bytes = count * size;
  check_operands(call,
                 {nram_source("src0", src0, bytes), nram_source("src1", src1, bytes), nram_target("dst", dst, bytes)},
                 {count, bytes});
  const std::size_t element = static_cast<std::size_t>(size);
  const ShadowSource a = {src0, element, count};
  const ShadowSource b = {src1, element, count};
  const Settled settled(work, a, b, nullptr, count);
  if (g_observers.init && shadow_bit_logic(work.op, dst, src0, src1, bytes)) {
    return run_vector(work, dst, src0, src1, count);
  }
  run_vector(of_card(work), dst, src0, src1, count);
  if (!g_observers.init) return;
  shadow_elements(dst, element, count, a, b);
  settled.define(dst, work.type, count);
}

void vector_scalar(const Call &call, const BinaryWork &work, void *dst, const void *src, const void *value, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(work.type);
  const std::int64_t bytes = count * size;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, bytes)}, {count, bytes});
  const ShadowSource source = {src, static_cast<std::size_t>(size), count};
  const Settled settled(work, source, {}, value, count);
  run_scalar(of_card(work), dst, src, value, count);
  if (!g_observers.init) return;
  shadow_elements(dst, source.element, count, source);
  settled.define(dst, work.type, count);
}

void vector_cycle(const Call &call, const BinaryWork &work, void *dst, const void *src, const void *seg, int src_count,
                  int seg_count) {
  if (!has_vector_work(call, src_count) || !has_work(call, seg_count)) return;
  const std::int64_t size = size_of(work.type);
  const std::int64_t bytes = src_count * size;
  check_operands(
      call, {nram_source("src", src, bytes), nram_source("seg", seg, seg_count * size), nram_target("dst", dst, bytes)},
      {src_count, bytes});
  align_check_multiple(call, src_count, seg_count);
  const std::size_t element = static_cast<std::size_t>(size);
  const ShadowSource a = {src, element, src_count};
  const ShadowSource b = {seg, element, seg_count};
  const Settled settled(work, a, b, nullptr, src_count);
  const Repeated repeated(seg, seg_count, src_count, size);
  for (std::int64_t first = 0; first < src_count;) {
    std::int64_t block = src_count - first;
    const void *from = repeated.at(first, &block);
    run_vector(of_card(work), offset(dst, first * size), offset(src, first * size), from, block);
    first += block;
  }
  if (!g_observers.init) return;
  shadow_elements(dst, element, src_count, a, b);
  settled.define(dst, work.type, src_count);
}

void vector_unary(const Call &call, Unary op, Type type, void *dst, const void *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(type);
  const std::int64_t bytes = count * size;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, bytes)}, {count, bytes});
  if (type == Type::kFloat) domain_check(call, false, src, count, read_element<float>);
  if (type == Type::kHalf) domain_check(call, true, src, count, read_element<half>);
  run_unary(op, type, dst, src, count);
  if (!g_observers.init) return;
  const std::size_t element = static_cast<std::size_t>(size);
  if (op == Unary::kBitNot) return shadow_copy(dst, src, bytes);
  shadow_elements(dst, element, count, {src, element, count});
}

void spoil(const Call &call, const char *role, void *scratch, std::int64_t bytes) {
  if (call.core.is_mpu() || bytes <= 0) return;
  const Operand operand = nram_target(role, scratch, bytes);
  check_place(call, operand);
  if (g_observers.any()) tell(call, operand);
  if (g_observers.init) shadow_set(scratch, bytes, false);
}

// ---- Repeated operands --------------------------------------------------------------------------

Repeated::Repeated(const void *base, std::int64_t count, std::int64_t whole, std::int64_t element)
    : base_(static_cast<const char *>(base)), count_(count), element_(element) {
  const std::int64_t bytes = count * element;
  if (bytes >= kBytes || count >= whole) return;
  // From each place within the first copy, kBytes can be read, or all of the remaining work.
  const std::int64_t wanted = std::min(2 * kBytes / bytes * bytes, (whole + count) * element);
  length_ = wanted / element;
  std::memcpy(buffer_, base, static_cast<std::size_t>(bytes));
  for (std::int64_t filled = bytes; filled < wanted; filled *= 2) {
    std::memcpy(buffer_ + filled, buffer_, static_cast<std::size_t>(std::min(filled, wanted - filled)));
  }
}

const void *Repeated::at(std::int64_t first, std::int64_t *count) const {
  const std::int64_t within = first % count_;
  *count = std::min(*count, (length_ != 0 ? length_ : count_) - within);
  return (length_ != 0 ? buffer_ : base_) + within * element_;
}

}  // namespace mlusim
