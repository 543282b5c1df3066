// Schedules decide where a device promises nothing: when asynchronous copies land, the order of the
// cores' turns, the contents of undefined memory.
#ifndef MLUSIM_MACHINE_SCHEDULE_H_
#define MLUSIM_MACHINE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "machine/core.h"

namespace mlusim {

struct Unit;

enum class CopyTime : std::uint8_t {
  kLate,   // when the core waits for them
  kEarly,  // when they are issued
  kRandom
};

enum class Turns : std::uint8_t {
  kFixed,  // each core runs until it waits, in the order of places
  kRandom  // a random core runs for a random number of instructions
};

enum class Fill : std::uint8_t {
  kPattern,  // the earlier contents
  kNan,      // all bits are set: NaN in every floating-point format, -1 in integers
  kZero,
  kNoise
};

struct Schedule {
  CopyTime copies = CopyTime::kLate;
  Turns cores = Turns::kFixed;
  Fill memory = Fill::kPattern;
  std::uint64_t seed = 0;
};

// Begins the schedule of the running launch, on the device's thread. The n-th launch since the
// schedule was set runs the same for the same seed.
void begin_schedule();
void end_schedule();
const Schedule &running_schedule();

// Chooses the core for the next turn from those that wait for nothing; null if there is none. For
// random turns.
Core *next_core(const std::vector<Core *> &members);

// Called at an instruction of a core while attention() asks for it: lands the due copies. True if
// another core should run.
bool take_step(const std::vector<Core *> &members);

// Decides when the copy that was queued last in the IO pipe lands, and lands it if that is now.
void schedule_copy(std::vector<PendingCopy> *pipe);

// Lands all copies of the pipe that have not landed.
void land_all(std::vector<PendingCopy> *pipe);

// Fills the memories of a core at the start of its run, where arrays of the file lie: its own
// memories, and for a memory core the SRAM.
void fill_memories(const Core &core, const Unit *unit);

// Fills a new allocation of device memory; on any thread.
void fill_allocation(char *begin, std::size_t bytes);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_SCHEDULE_H_
