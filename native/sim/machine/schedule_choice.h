// The schedule that the host chose for launches to come, and the random numbers that it leads to.
#ifndef MLUSIM_MACHINE_SCHEDULE_CHOICE_H_
#define MLUSIM_MACHINE_SCHEDULE_CHOICE_H_

#include "machine/schedule.h"

namespace mlusim {

// The same numbers for the same seed and stream, everywhere (splitmix64).
class Random {
 public:
  Random() = default;
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) { state_ = next() ^ stream * 0xd1342543de82ef95u; }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t state_ = 0;
};

// As the host said last, or PYMLUOPS_SIM_SCHEDULE.
Schedule chosen_schedule();

// Launches and allocations count from 0 since the schedule was set.
std::uint64_t number_of_scheduled_launch();
Schedule schedule_of_allocation(std::uint64_t *number);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_SCHEDULE_CHOICE_H_
