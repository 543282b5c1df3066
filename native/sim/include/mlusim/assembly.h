// Instructions of assembly statements. The translator turns
//
//   __asm__ volatile("fuse.nram.f32 [%0], %1, [%2], .mul(%3), .add([%4]);" ::"r"(d), "r"(n), "r"(s), "r"(k), "r"(v));
//
// into a call of asm_fuse_f32() with two stages. "index.vvr.f32" and "gather.vector..." become
// __vv_index() and __gather().
#ifndef MLUSIM_ASSEMBLY_H_
#define MLUSIM_ASSEMBLY_H_

#include <initializer_list>
#include <type_traits>

#include "mlusim/types.h"

namespace mlusim {

// ---- "sync;", "nop;" ----------------------------------------------------------------------------

MLUSIM_API void asm_sync();
// Gives other cores their turn: kernels wait in loops of it.
MLUSIM_API void asm_nop();

// ---- "barrier.sync.local id, count;", "barrier.sync.global id, count;" --------------------------

// Meets as many cores as are counted: the compute cores of the cluster or of the job, or these and
// the memory cores.
MLUSIM_API void asm_barrier_local(long count);
MLUSIM_API void asm_barrier_global(long count);

// ---- "fuse.nram.<type> [dst], n, [src], .op(x), ..." --------------------------------------------

enum class FuseStep {
  fuse_add,
  fuse_sub,
  fuse_mul,
  fuse_and,  // fuse_and, fuse_or and fuse_xor work on bits
  fuse_or,
  fuse_xor,
  fuse_eq,  // these six give 1 or 0
  fuse_ne,
  fuse_lt,
  fuse_le,
  fuse_gt,
  fuse_ge,
  fuse_max,
  fuse_min
};

// One step of a fused instruction: an operation on each element, with a vector, a number or the
// bits of a register.
struct FuseStage {
  enum Kind {
    kVector,
    kNumber,
    kBits
  };
  FuseStep step;
  Kind kind;
  const void *vector;
  double number;
  std::uint32_t bits;
};

inline FuseStage fuse_vector(FuseStep step, const void *vector) { return {step, FuseStage::kVector, vector, 0, 0}; }
// A number in the statement.
inline FuseStage fuse_literal(FuseStep step, double number) { return {step, FuseStage::kNumber, nullptr, number, 0}; }
// A register. A floating-point number gives its value, any other type its bits. If the elements are
// integers, all registers give bits.
template <typename Value>
FuseStage fuse_register(FuseStep step, Value value) {
  static_assert(sizeof(Value) <= 8, "a register holds a number");
  constexpr bool kReal = std::is_floating_point<Value>::value || std::is_same<Value, half>::value;
  FuseStage stage = {step, kReal ? FuseStage::kNumber : FuseStage::kBits, nullptr, 0, 0};
  if constexpr (kReal) {
    const float single = static_cast<float>(value);
    stage.number = static_cast<double>(value);
    std::memcpy(&stage.bits, &single, sizeof stage.bits);
  } else {
    stage.bits = static_cast<std::uint32_t>(value);
  }
  return stage;
}

MLUSIM_API void asm_fuse_f16(void *dst, int elem_count, const void *src, std::initializer_list<FuseStage> stages);
MLUSIM_API void asm_fuse_f32(void *dst, int elem_count, const void *src, std::initializer_list<FuseStage> stages);
MLUSIM_API void asm_fuse_s32(void *dst, int elem_count, const void *src, std::initializer_list<FuseStage> stages);
MLUSIM_API void asm_fuse_u32(void *dst, int elem_count, const void *src, std::initializer_list<FuseStage> stages);

// ---- Others -------------------------------------------------------------------------------------

// "div.scalar.nram.<type> [dst], [src], divisor, n"
MLUSIM_API void asm_div_scalar_f16(void *dst, const void *src, half divisor, int elem_count);
MLUSIM_API void asm_div_scalar_f32(void *dst, const void *src, float divisor, int elem_count);

// "findlast1.gpr.b32 dst, src": the index of the highest set bit; -1 if no bit is set.
inline int asm_find_last_1(std::uint32_t bits) { return bits == 0 ? -1 : 31 - __builtin_clz(bits); }

inline void *asm_address(const volatile void *address) { return const_cast<void *>(address); }

}  // namespace mlusim

#endif  // MLUSIM_ASSEMBLY_H_
