// What a launch does where a device promises nothing: when asynchronous copies land, in which order cores take turns, what undefined
// memory holds.
#ifndef MLUSIM_MACHINE_SCHEDULE_H_
#define MLUSIM_MACHINE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "machine/core.h"

namespace mlusim {

struct Unit;

enum class CopyTime : std::uint8_t {
  kLate,   // when they are waited for
  kEarly,  // when they are issued
  kRandom
};

enum class Turns : std::uint8_t {
  kFixed,  // each core runs until it waits, in the order of their places
  kRandom  // whichever comes next, for a random number of instructions
};

enum class Fill : std::uint8_t {
  kPattern,  // what was there before
  kNan,      // all bits are set: NaN in every format of floating point, -1 in integers
  kZero,
  kNoise
};

struct Schedule {
  CopyTime copies = CopyTime::kLate;
  Turns cores = Turns::kFixed;
  Fill memory = Fill::kPattern;
  std::uint64_t seed = 0;
};

// That of the running launch; on the device's thread. The same seed gives the same run to the n-th launch since the schedule was set.
void begin_schedule();
void end_schedule();
const Schedule &running_schedule();

// The core that has its turn next, out of those that wait for nothing; null if there is none. For random turns.
Core *next_core(const std::vector<Core *> &members);

// At an instruction of a core, while attention() asks for it: lets copies land whose time has come. True if another core is to go on.
bool take_step(const std::vector<Core *> &members);

// Decides when the copy of the IO pipe lands, which was queued just now behind the others of its core, and lets it land if that is now.
void schedule_copy(std::vector<PendingCopy> *pipe);

// Lets all copies of the pipe land that have not yet.
void land_all(std::vector<PendingCopy> *pipe);

// Fills the memories of a core whose run begins, as far as arrays of the file lie in them: all its own, and for a memory core the SRAM.
void fill_memories(const Core &core, const Unit *unit);

// Fills device memory that was allocated just now; on any thread.
void fill_allocation(char *begin, std::size_t bytes);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_SCHEDULE_H_
