// Instructions of assembly statements in kernels.
#include "mlusim/assembly.h"

#include <algorithm>
#include <vector>

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "machine/launch.h"
#include "machine/model.h"

namespace mlusim {
namespace {

constexpr std::int64_t kBlock = 512;

template <typename T>
T from_bits(std::uint32_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T>
std::uint32_t bits_of(T value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Returns the operand that is the same for all elements.
template <typename T>
T operand_of(const FuseStage &stage) {
  constexpr bool kInteger = std::is_integral<T>::value;
  if (stage.kind == FuseStage::kBits) return from_bits<T>(stage.bits);
  if (!kInteger) return static_cast<T>(stage.number);
  // A register also gives its bits; a number in the statement only its value.
  if (stage.bits != 0) return from_bits<T>(stage.bits);
  return static_cast<T>(static_cast<std::int64_t>(stage.number));
}

template <typename T>
T wrapped(FuseStep step, T a, T b) {
  if constexpr (std::is_integral<T>::value) {
    const std::uint32_t x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    return static_cast<T>(step == FuseStep::fuse_add ? x + y : step == FuseStep::fuse_sub ? x - y : x * y);
  } else {
    return static_cast<T>(step == FuseStep::fuse_add ? a + b : step == FuseStep::fuse_sub ? a - b : a * b);
  }
}

template <typename T>
T applied(FuseStep step, T a, T b) {
  switch (step) {
    case FuseStep::fuse_and:
      return from_bits<T>(bits_of(a) & bits_of(b));
    case FuseStep::fuse_or:
      return from_bits<T>(bits_of(a) | bits_of(b));
    case FuseStep::fuse_xor:
      return from_bits<T>(bits_of(a) ^ bits_of(b));
    case FuseStep::fuse_eq:
      return static_cast<T>(a == b);
    case FuseStep::fuse_ne:
      return static_cast<T>(a != b);
    case FuseStep::fuse_lt:
      return static_cast<T>(a < b);
    case FuseStep::fuse_le:
      return static_cast<T>(a <= b);
    case FuseStep::fuse_gt:
      return static_cast<T>(a > b);
    case FuseStep::fuse_ge:
      return static_cast<T>(a >= b);
    case FuseStep::fuse_max:
      return b > a || a != a ? b : a;
    case FuseStep::fuse_min:
      return b < a || a != a ? b : a;
    default:
      return wrapped(step, a, b);
  }
}

template <typename T>
void apply(const FuseStage &stage, T *values, std::int64_t first, std::int64_t count) {
  const bool vector = stage.kind == FuseStage::kVector;
  const T *operands = static_cast<const T *>(stage.vector) + (vector ? first : 0);
  const T one = vector ? T{} : operand_of<T>(stage);
  for (std::int64_t i = 0; i < count; ++i) values[i] = applied(stage.step, values[i], vector ? operands[i] : one);
}

// Follows the stages in order. A source that is dst is read before dst is written.
void shadow_fuse(void *dst, const void *src, std::size_t element, std::int64_t count,
                 std::initializer_list<FuseStage> stages) {
  const ShadowSource own = {dst, element, count};
  bool is_source = src == dst;
  for (const FuseStage &stage : stages)
    is_source = is_source || (stage.kind == FuseStage::kVector && stage.vector == dst);
  shadow_elements(dst, element, count, {src, element, count}, is_source ? own : ShadowSource{});
  for (const FuseStage &stage : stages) {
    if (stage.kind != FuseStage::kVector || stage.vector == dst) continue;
    shadow_elements(dst, element, count, own, {stage.vector, element, count});
  }
}

constexpr std::size_t kMostOperands = 16;

template <typename T>
void fuse(const Call &call, void *dst, int count, const void *src, std::initializer_list<FuseStage> stages) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  Operand operands[kMostOperands] = {nram_source("src", src, bytes)};
  std::size_t number = 1;
  for (const FuseStage &stage : stages) {
    if (stage.kind != FuseStage::kVector) continue;
    if (number + 1 == kMostOperands) refuse(call, "bad-argument", "more vectors than an instruction has");
    operands[number++] = nram_source("a vector", stage.vector, bytes);
  }
  operands[number++] = nram_target("dst", dst, bytes);
  const std::int64_t steps = static_cast<std::int64_t>(stages.size());
  check_operands(call, operands, number, {count, bytes, count * std::max(steps, std::int64_t{1})});
  if (g_observers.init) shadow_fuse(dst, src, sizeof(T), count, stages);
  T values[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = std::min(count - first, kBlock);
    const std::size_t size = static_cast<std::size_t>(block) * sizeof(T);
    std::memcpy(values, static_cast<const T *>(src) + first, size);
    for (const FuseStage &stage : stages) apply(stage, values, first, block);
    std::memcpy(static_cast<T *>(dst) + first, values, size);
  }
}

// A Block task has nobody to meet, whatever the count is.
void meet_counted(const Call &call, long count, long cores, long all, Wait of_cores, Wait of_all) {
  if (count == all || clusterDim == 0) return wait_at_barrier(call.core, of_all, call.name, call.pc);
  if (count == cores) return wait_at_barrier(call.core, of_cores, call.name, call.pc);
  refuse(call, "bad-argument",
         "a barrier of " + std::to_string(count) + " cores; here it has " + std::to_string(cores) + ", or " +
             std::to_string(all) + " with memory cores");
}

}  // namespace

void asm_sync() {
  const Call call = MLUSIM_CALL("sync");
  wait_for(call.core, kWaitAll, call.pc);
}

void asm_barrier_local(long count) {
  const Call call = MLUSIM_CALL("barrier.sync.local");
  const long cores = device().cores_per_cluster;
  meet_counted(call, count, cores, cores + 1, Wait::kClusterCores, Wait::kCluster);
}

void asm_barrier_global(long count) {
  const Call call = MLUSIM_CALL("barrier.sync.global");
  const long clusters = std::max(clusterDim, 1), cores = device().cores_per_cluster;
  meet_counted(call, count, clusters * cores, clusters * (cores + 1), Wait::kAllCores, Wait::kAll);
}

void asm_nop() {
  const Call call = MLUSIM_CALL("nop");
  yield_core(call.core);
}

#define MLUSIM_DEFINE_FUSE(T, type)                                                                           \
  void asm_fuse_##type(void *dst, int elem_count, const void *src, std::initializer_list<FuseStage> stages) { \
    fuse<T>(MLUSIM_CALL("fuse.nram." #type), dst, elem_count, src, stages);                                   \
  }
MLUSIM_DEFINE_FUSE(half, f16)
MLUSIM_DEFINE_FUSE(float, f32)
MLUSIM_DEFINE_FUSE(std::int32_t, s32)
MLUSIM_DEFINE_FUSE(std::uint32_t, u32)

#define MLUSIM_DEFINE_DIV_SCALAR(T, type)                                                                            \
  void asm_div_scalar_##type(void *dst, const void *src, T divisor, int elem_count) {                                \
    vector_scalar(MLUSIM_CALL("div.scalar.nram." #type), {arithmetic_loops(), Binary::kDiv, type_of<T>()}, dst, src, \
                  &divisor, elem_count);                                                                             \
  }
MLUSIM_DEFINE_DIV_SCALAR(half, f16)
MLUSIM_DEFINE_DIV_SCALAR(float, f32)

}  // namespace mlusim
