// The schedule that the host chose for later launches, and its random numbers.
#ifndef MLUSIM_MACHINE_SCHEDULE_CHOICE_H_
#define MLUSIM_MACHINE_SCHEDULE_CHOICE_H_

#include "machine/schedule.h"

namespace mlusim {

// Random numbers that are the same everywhere for the same seed and stream (splitmix64).
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

// The schedule as the host set it last, or else PYMLUOPS_SIM_SCHEDULE.
Schedule chosen_schedule();

// The number of the launch or allocation since the schedule was set, from 0.
std::uint64_t number_of_scheduled_launch();
Schedule schedule_of_allocation(std::uint64_t *number);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_SCHEDULE_CHOICE_H_
