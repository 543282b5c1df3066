#include "machine/schedule.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "machine/array.h"
#include "machine/fiber.h"
#include "machine/model.h"
#include "machine/schedule_choice.h"

namespace mlusim {
namespace {

constexpr std::uint64_t kNever = UINT64_MAX;

// The counters and random numbers of a schedule during a launch.
struct Progress {
  Schedule schedule;
  Random random;
  std::uint64_t steps = 0;          // instructions of all cores
  std::uint64_t turn_end = kNever;  // the step at which the turn passes to another core
  std::uint64_t next_due = kNever;  // the step at which the next copy lands
  bool filled = false;              // whether on-chip memories hold bytes that no kernel wrote
};

Progress g_progress;

// Draws a random number of instructions, often one or two, sometimes very many, so that short and
// long kernels are interrupted.
std::uint64_t draw_steps() {
  static constexpr std::uint64_t kMost[] = {1, 2, 4, 16, 128, 1024};
  return 1 + g_progress.random.below(kMost[g_progress.random.below(std::size(kMost))]);
}

std::uint64_t draw_due() {
  switch (g_progress.random.below(4)) {
    case 0:
      return g_progress.steps;
    case 1:
      return kNever;
    default:
      return g_progress.steps + draw_steps();
  }
}

void land(PendingCopy *copy) {
  copy->run(*copy);
  copy->landed = true;
}

// Lands the due copies of one pipe in order. Returns the step of the next one.
std::uint64_t land_due(std::vector<PendingCopy> *pipe) {
  for (PendingCopy &copy : *pipe) {
    if (copy.landed) continue;
    if (copy.due > g_progress.steps) return copy.due;
    land(&copy);
  }
  return kNever;
}

void clear_onchip_memories() {
  const mlusimDeviceModel &model = device();
  for (int cluster = 0; cluster < model.clusters; ++cluster) clear_piece(sram_of(cluster));
  for (int core = 0; core < model.clusters * model.cores_per_cluster; ++core) {
    clear_piece(nram_of(core));
    clear_piece(wram_of(core));
  }
}

void fill(Fill how, Random *random, char *begin, std::size_t bytes) {
  if (how != Fill::kNoise) {
    std::memset(begin, how == Fill::kNan ? 0xff : 0, bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes;) {
    const std::uint64_t word = random->next();
    const std::size_t part = std::min(bytes - at, sizeof word);
    std::memcpy(begin + at, &word, part);
    at += part;
  }
}

}  // namespace

void begin_schedule() {
  const bool filled = g_progress.filled;
  g_progress = {};
  g_progress.schedule = chosen_schedule();
  const Schedule &schedule = g_progress.schedule;
  g_progress.filled = schedule.memory != Fill::kPattern;
  if (filled && !g_progress.filled) clear_onchip_memories();
  if (schedule.copies == CopyTime::kRandom || schedule.cores == Turns::kRandom || g_progress.filled) {
    g_progress.random = Random(schedule.seed, number_of_scheduled_launch());
  }
  ask_for_steps(schedule.copies == CopyTime::kRandom || schedule.cores == Turns::kRandom);
}

void end_schedule() { ask_for_steps(false); }

const Schedule &running_schedule() { return g_progress.schedule; }

Core *next_core(const std::vector<Core *> &members) {
  Core *chosen = nullptr;
  std::uint64_t candidates = 0;
  for (Core *core : members) {
    if (core->finished || core->wait != Wait::kNothing) continue;
    if (g_progress.random.below(++candidates) == 0) chosen = core;
  }
  g_progress.turn_end = g_progress.steps + draw_steps();
  return chosen;
}

bool take_step(const std::vector<Core *> &members) {
  ++g_progress.steps;
  if (g_progress.steps >= g_progress.next_due) {
    g_progress.next_due = kNever;
    for (Core *core : members) g_progress.next_due = std::min(g_progress.next_due, land_due(&core->pending[kIo]));
  }
  return g_progress.steps >= g_progress.turn_end;
}

void schedule_copy(std::vector<PendingCopy> *pipe) {
  switch (g_progress.schedule.copies) {
    case CopyTime::kLate:
      return;
    case CopyTime::kEarly:
      return land(&pipe->back());
    case CopyTime::kRandom:
      pipe->back().due = draw_due();
      g_progress.next_due = std::min(g_progress.next_due, land_due(pipe));
  }
}

void land_all(std::vector<PendingCopy> *pipe) {
  for (PendingCopy &copy : *pipe) {
    if (!copy.landed) land(&copy);
  }
}

void fill_memories(const Core &core, const Unit *unit) {
  const Fill how = g_progress.schedule.memory;
  if (how == Fill::kPattern) return;
  for_each_array(unit, [&](const Array &array) {
    const bool shared = array.space == ArraySpace::sram;
    if (shared != core.is_mpu()) return;
    const Range range = range_of(array, shared ? core.sram : array.space == ArraySpace::wram ? core.wram : core.nram);
    fill(how, &g_progress.random, range.begin, range.size());
  });
}

void fill_allocation(char *begin, std::size_t bytes) {
  // Larger allocations keep the rest as it is: programs allocate much more than they use, and
  // filled memory takes memory of the host.
  constexpr std::size_t kMost = std::size_t{256} << 20;
  std::uint64_t number = 0;
  const Schedule schedule = schedule_of_allocation(&number);
  if (schedule.memory == Fill::kPattern) return;
  Random random(schedule.seed, ~number);
  open_heap();
  fill(schedule.memory, &random, begin, std::min(bytes, kMost));
  close_heap();
}

}  // namespace mlusim
