// What the instructions of the compute unit cost by the time model of a profile.
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
  const char *prefix;  // of the names of the instructions
  Speed speed;
  double operations;  // of one element; 0: data is moved or set
};

// The rule with the longest prefix; null for an instruction that the model does not know.
const CostRule *cost_rule(const char *name);

// The size of one compute instruction.
struct ComputeSize {
  std::uint64_t widest = 0;      // bytes of its widest operand
  std::uint64_t element = 0;     // bytes of an element; 0: not known
  std::uint64_t operations = 0;  // additions, multiplications and the like
};

// In ns; what is no multiple of the unit's width costs a whole one.
double compute_time(const mlusimTimeModel &model, Speed speed, const ComputeSize &size);

// Of one copy between memories on chip, in ns.
double on_chip_time(const mlusimTimeModel &model, std::uint64_t bytes);

// The bytes that device memory moves for the pieces: whole lines; those of which only a part is written are read first.
std::uint64_t off_chip_bytes(const Region &region, bool written);

inline double cycles_to_ns(const mlusimTimeModel &model, double cycles) { return cycles * 1e3 / model.clock_mhz; }

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_COST_H_
