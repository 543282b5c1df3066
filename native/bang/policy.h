// Common helpers of the host code of bang.mlu files: properties of the card, and the status of
// launches.
#ifndef MLUOPS_BANG_POLICY_H_
#define MLUOPS_BANG_POLICY_H_

#include <cstdint>

#include "cnrt.h"
#include "mlu_op.h"

// The namespace inside mluops that a bang.mlu file is compiled into. The simulator compiles each
// file once per architecture, with a name for each; the vendor's compiler puts the code for all
// architectures into one object.
#ifndef MLUOPS_BANG_VARIANT
#define MLUOPS_BANG_VARIANT mlu
#endif

// NRAM that the compiler reserves for itself; kernels and policies do not use it.
#define MLUOPS_ONCHIP_RESERVE (128 * 1024)

// Bytes of NRAM for all arrays of a kernel. The compiler defines the memory size only in the pass
// that places the arrays. In its host pass any number is valid; policies use the size of the card.
#ifdef __MLU_NRAM_SIZE__
#define MLUOPS_NRAM_BYTES (__MLU_NRAM_SIZE__ * 1024 - MLUOPS_ONCHIP_RESERVE)
#else
#define MLUOPS_NRAM_BYTES (384 * 1024)
#endif

namespace mluops {

// Properties that determine the division of work.
struct Card {
  int arch;  // as in __BANG_ARCH__
  int clusters;
  int cores_per_cluster;    // without the memory core
  std::int64_t nram_bytes;  // of a core, without the reserve
};

// The current device of the calling thread. Queried on each call, which is cheap, because a process
// may switch devices at any time. Clears the thread's last CNRT error, so that launched() reports
// only later ones.
mluOpStatus_t read_card(const char *function, Card *card);

// Status of the launches since read_card(): SUCCESS, or EXECUTION_FAILED with a reason.
mluOpStatus_t launched(const char *function);

// For positive numbers.
constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return ceil_div(value, unit) * unit; }
constexpr std::int64_t round_down(std::int64_t value, std::int64_t unit) { return value / unit * unit; }
constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

// Bytes of NRAM that policies may use: those of the card, at most those of the kernels' arrays.
static inline std::int64_t usable_nram(const Card &card) {
#ifdef __MLU_NRAM_SIZE__
  return smaller(card.nram_bytes, MLUOPS_NRAM_BYTES);
#else
  return card.nram_bytes;
#endif
}

}  // namespace mluops

#endif  // MLUOPS_BANG_POLICY_H_
