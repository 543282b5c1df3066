// The events of the machine, for its observers. Every checker is an observer.
//
// All events come from the one thread that runs kernels, in the order of execution in the
// simulator. Cores take turns, so the order between cores says nothing about a real device; only
// syncs and barriers do.
#ifndef MLUSIM_MACHINE_OBSERVER_H_
#define MLUSIM_MACHINE_OBSERVER_H_

#include <cstdint>

#include "machine/copy.h"
#include "machine/core.h"
#include "machine/fiber.h"

namespace mlusim {

enum class Kind : std::uint8_t {
  kRead,
  kWrite,
  kAtomic,  // reads and writes, without racing with another atomic
};

// One instruction or scalar access touches bytes.
struct AccessEvent {
  const Core &core;
  Agent agent;
  Kind kind;
  Space space;
  const Region &region;
  const char *name;  // the intrinsic, or "scalar load" and the like
  const void *pc;
};

struct Amount;
struct Call;

struct LaunchInfo {
  const char *kernel;
  unsigned dim_x, dim_y, dim_z;
  int type;            // cnrtFunctionType_t
  int clusters;        // of one job; 0 for Block
  int device;          // the number of the device
  std::uint64_t runs;  // number of tasks and memory-core runs in the launch
  const void *arguments;
  std::size_t argument_bytes;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void launch_begin(const LaunchInfo &) {}
  virtual void launch_end(const LaunchInfo &) {}
  // `core` starts or ends a run: a task, or the memory core's pass through the kernel. A sync of
  // all agents without a place follows the end of a run, which drains the pipes.
  virtual void run_begin(const Core &) {}
  virtual void run_end(const Core &) {}
  // An intrinsic states the size of its work; its accesses follow. Copies do not call this.
  virtual void instruction(const Call &, const Amount &) {}
  virtual void access(const AccessEvent &) {}
  // Whether it does anything at an access; the others are not called for each of them.
  virtual bool sees_accesses() const { return true; }
  // The core waits for the agents in `agents` (bits of AgentMask); their pending copies have
  // happened.
  virtual void sync(const Core &, unsigned /*agents*/, const void * /*pc*/) {}
  // `count` cores pass a barrier together; the pipes of each were drained before.
  virtual void barrier(Wait, Core *const * /*cores*/, int /*count*/) {}
  // A lock passes from one core to another.
  virtual void lock_released(const Core &, int /*lock*/) {}
  virtual void lock_taken(const Core &, int /*lock*/) {}
};

// The checkers that watch the running launch; none between launches, or when all are off.
struct Observers {
  Observer *const *begin() const { return list; }
  Observer *const *end() const { return list + count; }
  bool any() const { return count != 0; }
  Observer *list[8] = {};
  int count = 0;
  Observer *of_accesses[8] = {};  // those that see accesses
  int of_accesses_count = 0;
  bool init = false;  // whether shadows of initialised bytes are kept
};
extern Observers g_observers;

// Sets the function that chooses the observers of each launch; without it a launch has none. It
// runs on the device's thread, once device memory exists.
using ObserverChoice = void (*)(Observers *);
void set_observer_choice(ObserverChoice choose);

inline void observe(const AccessEvent &event) {
  const Unstoppable whole;
  for (int i = 0; i < g_observers.of_accesses_count; ++i) g_observers.of_accesses[i]->access(event);
}

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_OBSERVER_H_
