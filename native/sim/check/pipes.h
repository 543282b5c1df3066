// Tracks the pending work of a core's units, and finds accesses that conflict with it.
//
// Scalar and compute instructions of a core run in program order, and so do the asynchronous copies
// of one pipe. Only a sync orders one pipe with another, or compute with an asynchronous copy that
// follows.
#ifndef MLUSIM_CHECK_PIPES_H_
#define MLUSIM_CHECK_PIPES_H_

#include <cstdint>
#include <vector>

#include "machine/observer.h"

namespace mlusim {

// An access that may still be pending.
struct Busy {
  Region region;
  Agent agent;
  Kind kind;
  const char *name;
  const void *pc;
};

class Pipes {
 public:
  // Returns the pending access of another unit that conflicts with this one and is not ordered
  // before it; null if none does.
  const Busy *conflict(const AccessEvent &event) const {
    const bool direct = event.agent == kScalar || event.agent == kCompute;
    return direct && idle() ? nullptr : find_conflict(event);
  }

  // Keeps the access until a sync waits for its unit. A synchronous copy is complete at once, and
  // so are the compute instructions before it.
  void add(const AccessEvent &event);

  // A sync waited for the agents.
  void done(unsigned agents);

  // A synchronous copy waited for the agents because it uses their pipe. Their accesses stay in a
  // second list until a sync waits for them too, for the rule that reports reliance on such a wait.
  void done_by_copy(unsigned agents);
  const Busy *conflict_but_for_copy(const AccessEvent &event) const;

  // Whether no asynchronous copy is pending.
  bool idle() const { return units_[kIo].list.empty() && units_[kMove].list.empty(); }

 private:
  // The pending accesses of one agent, with their hull on chip and their hull in device memory.
  struct Unit {
    std::vector<Busy> list;
    Range hull[2];
    const Busy *conflict(const AccessEvent &event, const Range &hull) const;
  };

  const Busy *find_conflict(const AccessEvent &event) const;
  bool is_new(const AccessEvent &event);
  void clear(Unit *units, unsigned agents);

  Unit units_[kAgents];
  Unit waited_[kAgents];  // the accesses of done_by_copy()
  // Hashes of the accesses in units_[kCompute].list, because loops repeat them.
  static constexpr std::size_t kRemembered = 256;
  std::uint64_t remembered_[kRemembered] = {};
  std::uint64_t generation_ = 1;
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_PIPES_H_
