// What the host half of every bang.mlu file starts from: the figures of the card, and how a launch went.
#ifndef MLUOPS_BANG_POLICY_H_
#define MLUOPS_BANG_POLICY_H_

#include <cstdint>

#include "cnrt.h"
#include "mlu_op.h"

// The namespace inside mluops that a bang.mlu file is compiled into. The simulator compiles each file once per architecture, with
// a name for each; the vendor's compiler puts the code for all architectures into one object.
#ifndef MLUOPS_BANG_VARIANT
#define MLUOPS_BANG_VARIANT mlu
#endif

// What the compiler may use of NRAM for itself; kernels and policies leave it alone.
#define MLUOPS_ONCHIP_RESERVE (128 * 1024)

// Bytes of NRAM that the arrays of a kernel may have together. The compiler tells the size of the memory only where it places the
// arrays; on its way through the host half it needs any number, and policies keep to the card's.
#ifdef __MLU_NRAM_SIZE__
#define MLUOPS_NRAM_BYTES (__MLU_NRAM_SIZE__ * 1024 - MLUOPS_ONCHIP_RESERVE)
#else
#define MLUOPS_NRAM_BYTES (384 * 1024)
#endif

namespace mluops {

// The figures that decide how work is cut.
struct Card {
  int arch;  // as in __BANG_ARCH__
  int clusters;
  int cores_per_cluster;    // without the memory core
  std::int64_t nram_bytes;  // of a core, less the reserve
};

// The current device of the calling thread. Asks the runtime each time: it answers from memory, and nothing tells us when a
// process turns to another device. Forgets the thread's last CNRT error, so that launched() speaks of what follows.
mluOpStatus_t read_card(const char *function, Card *card);

// How the launches since read_card() went: SUCCESS, or EXECUTION_FAILED with the reason.
mluOpStatus_t launched(const char *function);

// For positive numbers.
constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return ceil_div(value, unit) * unit; }
constexpr std::int64_t round_down(std::int64_t value, std::int64_t unit) { return value / unit * unit; }
constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

// Bytes of NRAM that the policies of a bang.mlu file may count on: those of the card, but no more than its kernels' arrays have.
static inline std::int64_t usable_nram(const Card &card) {
#ifdef __MLU_NRAM_SIZE__
  return smaller(card.nram_bytes, MLUOPS_NRAM_BYTES);
#else
  return card.nram_bytes;
#endif
}

}  // namespace mluops

#endif  // MLUOPS_BANG_POLICY_H_
