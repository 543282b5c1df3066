// __bang_fusion: two operations in one instruction. A product with a sum is rounded once, at the
// end; in other pairs each operation is rounded. (Inferred: forward sums of border align are fused
// on cards.)
#include <algorithm>
#include <string>

#include "check/align.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "mlusim/elementwise.h"

namespace mlusim {
namespace {

struct Steps {
  Binary first, second;
};

Steps steps_of(const Call &call, mluFusionOpCode op) {
  switch (op) {
    case FUSION_FMA:
      return {Binary::kMul, Binary::kAdd};
    case FUSION_FMS:
      return {Binary::kMul, Binary::kSub};
    case FUSION_FAM:
      return {Binary::kAdd, Binary::kMul};
    case FUSION_FSM:
      return {Binary::kSub, Binary::kMul};
    case FUSION_FAA:
      return {Binary::kAdd, Binary::kAdd};
    case FUSION_FAS:
      return {Binary::kAdd, Binary::kSub};
    case FUSION_FSS:
      return {Binary::kSub, Binary::kSub};
    case FUSION_FSA:
      return {Binary::kSub, Binary::kAdd};
  }
  refuse(call, "bad-argument", "there is no fused operation " + std::to_string(static_cast<int>(op)));
}

// The second or third operand: a vector of `count` elements that repeats, or one value.
struct Further {
  const char *role;
  const void *base;
  bool is_vector;
  std::int64_t count;
};

Further vector_of(const char *role, const void *base, int count) { return {role, base, true, count}; }
Further value_of(const void *value) { return {"", value, false, 1}; }

void check(const Call &call, std::int64_t size, void *dst, const void *src0, std::int64_t count, const Further &src1,
           const Further &src2) {
  Operand operands[4] = {nram_source("src0", src0, count * size)};
  std::size_t number = 1;
  for (const Further *further : {&src1, &src2}) {
    if (!further->is_vector) continue;
    if (further->count <= 0) {
      refuse(call, "bad-argument", "a vector operand of " + std::to_string(further->count) + " elements");
    }
    operands[number++] = nram_source(further->role, further->base, further->count * size);
    align_check_multiple(call, count, further->count);
  }
  operands[number++] = nram_target("dst", dst, count * size);
  check_operands(call, operands, number, {count, count * size});
}

// Computes dst = from op operand for the elements from `first` on.
class Step {
 public:
  Step(Binary op, Type type, const Further &further, std::int64_t count)
      : work_{arithmetic_loops(), op, type},
        further_(further),
        repeated_(further.base, further.count, further.is_vector ? count : 1, size_of(type)) {}
  // Shortens the block to the contiguous part of the operand.
  void limit(std::int64_t first, std::int64_t *block) const {
    if (further_.is_vector) repeated_.at(first, block);
  }
  void run(void *dst, const void *from, std::int64_t first, std::int64_t block) const {
    if (!further_.is_vector) return run_scalar(work_, dst, from, further_.base, block);
    run_vector(work_, dst, from, repeated_.at(first, &block), block);
  }

 private:
  BinaryWork work_;
  Further further_;
  Repeated repeated_;
};

constexpr std::int64_t kBlock = 1024;

// One value as a float.
float float_of(Type type, const void *value) {
  float buffer = 0;
  return *floats_of(type, value, &buffer, 1);
}

// Works in blocks, so that dst may be any source.
void multiply_and_add(float sign, Type type, void *dst, const void *src0, std::int64_t count, const Further &src1,
                      const Further &src2) {
  const std::int64_t size = size_of(type);
  const Repeated factors(src1.base, src1.count, src1.is_vector ? count : 1, size);
  const Repeated addends(src2.base, src2.count, src2.is_vector ? count : 1, size);
  const float factor = src1.is_vector ? 0 : float_of(type, src1.base);
  const float addend = src2.is_vector ? 0 : float_of(type, src2.base);
  const auto loop = fused_loops().multiply_add[src1.is_vector][src2.is_vector];
  float buffers[3][kBlock], results[kBlock];
  for (std::int64_t first = 0; first < count;) {
    std::int64_t block = std::min(count - first, kBlock);
    const void *at1 = src1.is_vector ? factors.at(first, &block) : nullptr;
    const void *at2 = src2.is_vector ? addends.at(first, &block) : nullptr;
    const float *from = floats_of(type, static_cast<const char *>(src0) + first * size, buffers[0], block);
    const float *by = src1.is_vector ? floats_of(type, at1, buffers[1], block) : &factor;
    const float *plus = src2.is_vector ? floats_of(type, at2, buffers[2], block) : &addend;
    loop(from, by, plus, sign, results, static_cast<std::size_t>(block));
    round_floats(type, results, static_cast<char *>(dst) + first * size, block);
    first += block;
  }
}

// Works in blocks, so that dst may be any source.
void fuse(const Steps &steps, Type type, void *dst, const void *src0, std::int64_t count, const Further &src1,
          const Further &src2) {
  const bool real = type == Type::kHalf || type == Type::kFloat || type == Type::kBFloat16;
  if (real && steps.first == Binary::kMul) {
    return multiply_and_add(steps.second == Binary::kSub ? -1.0f : 1.0f, type, dst, src0, count, src1, src2);
  }
  const std::int64_t size = size_of(type);
  const Step one(steps.first, type, src1, count);
  const Step two(steps.second, type, src2, count);
  char between[kBlock * 4];
  for (std::int64_t first = 0; first < count;) {
    std::int64_t block = std::min(count - first, kBlock);
    one.limit(first, &block);
    two.limit(first, &block);
    one.run(between, static_cast<const char *>(src0) + first * size, first, block);
    two.run(static_cast<char *>(dst) + first * size, between, first, block);
    first += block;
  }
}

void vector_fusion(const Call &call, mluFusionOpCode op, Type type, void *dst, const void *src0, int count,
                   const Further &src1, const Further &src2) {
  if (!has_vector_work(call, count)) return;
  const Steps steps = steps_of(call, op);
  const std::int64_t size = size_of(type);
  check(call, size, dst, src0, count, src1, src2);
  fuse(steps, type, dst, src0, count, src1, src2);
  if (!g_observers.init) return;
  const std::size_t element = static_cast<std::size_t>(size);
  const auto shadow_of = [element](const Further &further) {
    return further.is_vector ? ShadowSource{further.base, element, further.count} : ShadowSource{};
  };
  shadow_elements(dst, element, count, {src0, element, count}, shadow_of(src1), shadow_of(src2));
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_FUSION(T, name)                                                                              \
  void name(mluFusionOpCode op_code, T *dst, const T *src0, const T *src1, const T *src2, int dst_src0_elem_count, \
            int src1_src2_elem_count) {                                                                            \
    mlusim::vector_fusion(MLUSIM_CALL(#name), op_code, mlusim::type_of<T>(), dst, src0, dst_src0_elem_count,       \
                          mlusim::vector_of("src1", src1, src1_src2_elem_count),                                   \
                          mlusim::vector_of("src2", src2, src1_src2_elem_count));                                  \
  }                                                                                                                \
  void name(mluFusionOpCode op_code, T *dst, const T *src0, const T *src1, T src2, int dst_src0_elem_count,        \
            int src1_elem_count) {                                                                                 \
    mlusim::vector_fusion(MLUSIM_CALL(#name), op_code, mlusim::type_of<T>(), dst, src0, dst_src0_elem_count,       \
                          mlusim::vector_of("src1", src1, src1_elem_count), mlusim::value_of(&src2));              \
  }                                                                                                                \
  void name(mluFusionOpCode op_code, T *dst, const T *src0, T src1, const T *src2, int dst_src0_elem_count,        \
            int src2_elem_count) {                                                                                 \
    mlusim::vector_fusion(MLUSIM_CALL(#name), op_code, mlusim::type_of<T>(), dst, src0, dst_src0_elem_count,       \
                          mlusim::value_of(&src1), mlusim::vector_of("src2", src2, src2_elem_count));              \
  }
#define MLUSIM_DEFINE_FUSION_SCALARS(T, name)                                                                \
  void name(mluFusionOpCode op_code, T *dst, const T *src0, T src1, T src2, int dst_src0_elem_count) {       \
    mlusim::vector_fusion(MLUSIM_CALL(#name), op_code, mlusim::type_of<T>(), dst, src0, dst_src0_elem_count, \
                          mlusim::value_of(&src1), mlusim::value_of(&src2));                                 \
  }
MLUSIM_REALS(MLUSIM_DEFINE_FUSION, __bang_fusion);
MLUSIM_REALS(MLUSIM_DEFINE_FUSION_SCALARS, __bang_fusion);
MLUSIM_DEFINE_FUSION_SCALARS(int, __bang_fusion)
MLUSIM_DEFINE_FUSION_SCALARS(unsigned int, __bang_fusion)
