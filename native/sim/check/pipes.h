// What the units of a core are still busy with, and whether an access gets in their way.
//
// Scalar and compute instructions of a core are in program order, and so are the asynchronous copies of one pipe. Between a
// pipe and the others, or between compute and an asynchronous copy that follows, only a sync makes an order.
#ifndef MLUSIM_CHECK_PIPES_H_
#define MLUSIM_CHECK_PIPES_H_

#include <cstdint>
#include <vector>

#include "machine/observer.h"

namespace mlusim {

// An access that may not have happened yet.
struct Busy {
  Region region;
  Agent agent;
  Kind kind;
  const char *name;
  const void *pc;
};

class Pipes {
 public:
  // The access of another unit that is not ordered before this one and conflicts with it; null if there is none.
  const Busy *conflict(const AccessEvent &event) const {
    const bool direct = event.agent == kScalar || event.agent == kCompute;
    return direct && idle() ? nullptr : find_conflict(event);
  }

  // Remembers the access until its unit is waited for. Synchronous copies are over at once, with all compute before them.
  void add(const AccessEvent &event);

  // The agents were waited for.
  void done(unsigned agents);

  // A synchronous copy waited for the agents, because it goes through their pipe. What they did is remembered until a sync waits too, for
  // those who want to know what relies on that.
  void done_by_copy(unsigned agents);
  const Busy *conflict_but_for_copy(const AccessEvent &event) const;

  // Whether no asynchronous copy is on its way.
  bool idle() const { return units_[kIo].list.empty() && units_[kMove].list.empty(); }

 private:
  // What one agent is busy with, and hulls of it: one on chip, one in device memory.
  struct Unit {
    std::vector<Busy> list;
    Range hull[2];
    const Busy *conflict(const AccessEvent &event, const Range &hull) const;
  };

  const Busy *find_conflict(const AccessEvent &event) const;
  bool is_new(const AccessEvent &event);
  void clear(Unit *units, unsigned agents);

  Unit units_[kAgents];
  Unit waited_[kAgents];  // of done_by_copy()
  // Hashes of the accesses in units_[kCompute].list, because loops repeat them.
  static constexpr std::size_t kRemembered = 256;
  std::uint64_t remembered_[kRemembered] = {};
  std::uint64_t generation_ = 1;
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_PIPES_H_
