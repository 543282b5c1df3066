// The cost of compute instructions in the time model of a profile.
#ifndef MLUSIM_PROFILE_COST_H_
#define MLUSIM_PROFILE_COST_H_

#include <cstdint>

#include "machine/copy.h"
#include "mlusim_profile.h"

namespace mlusim {

enum class Speed : std::uint8_t {
  kElementwise,  // one pass of the vector unit over the data
  kFunction,     // several passes: divisions, roots, logarithms, activations
  kMatrix,       // the matrix unit
};

struct CostRule {
  const char *prefix;  // of the instructions' names
  Speed speed;
  double operations;  // per element; 0: the instruction moves or sets data
};

// Returns the rule with the longest matching prefix; null for an instruction without a figure.
const CostRule *cost_rule(const char *name);

// The size of one compute instruction.
struct ComputeSize {
  std::uint64_t widest = 0;      // bytes of the widest operand
  std::uint64_t element = 0;     // bytes of an element; 0: unknown
  std::uint64_t operations = 0;  // additions, multiplications and the like
};

// Returns a time in ns. Work that is not a multiple of the unit's width takes the time of the next
// multiple.
double compute_time(const mlusimTimeModel &model, Speed speed, const ComputeSize &size);

// Returns the time of one copy between on-chip memories, in ns.
double on_chip_time(const mlusimTimeModel &model, std::uint64_t bytes);

// Returns the bytes that device memory transfers for the pieces: whole lines. Partly written lines
// count twice, because they are read first.
std::uint64_t off_chip_bytes(const Region &region, bool written);

inline double cycles_to_ns(const mlusimTimeModel &model, double cycles) { return cycles * 1e3 / model.clock_mhz; }

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_COST_H_
