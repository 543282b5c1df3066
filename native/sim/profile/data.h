// The data that a profile keeps of a launch: counts by core and instruction, the modelled timeline,
// the arrays used.
#ifndef MLUSIM_PROFILE_DATA_H_
#define MLUSIM_PROFILE_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "machine/core.h"
#include "mlusim_profile.h"

namespace mlusim {

// The way in which an instruction takes time.
enum class Work : std::uint8_t {
  kNone,     // a sync, a barrier or a lock
  kScalar,   // scalar accesses
  kCompute,  // by the vector or matrix unit
  kOnChip,   // a copy between memories on chip
  kOffChip,  // a copy, fill or atomic that uses device memory
};

// An instruction at one place of the source.
struct Site {
  const void *pc = nullptr;
  const char *name = "";
  Agent agent = kScalar;  // its pipe; kCompute for synchronous copies, which block the core
  Work work = Work::kNone;
  Space source = Space::kHost, target = Space::kHost;  // of a copy; kHost for a fill
  std::uint32_t element = 0;                           // bytes of an element; 0: unknown
  bool known = true;                                   // whether the time model has a figure for this instruction
};

// The counts of one core at one site.
struct Tally {
  std::uint64_t calls = 0, elements = 0, bytes = 0, charged = 0, pieces = 0, operations = 0;
  std::uint64_t least = 0, most = 0;  // bytes of the smallest and the largest call
  double busy = 0;                    // modelled, in ns
};

// The counts of one core outside of sites.
struct CoreTally {
  std::uint64_t runs = 0, syncs = 0, barriers = 0;
  std::uint64_t near_loads = 0, near_stores = 0, far_loads = 0, far_stores = 0;  // scalar accesses on and off chip
  double sync_wait = 0, barrier_wait = 0, scalar = 0, end = 0;                   // modelled, in ns
};

// One step of a core, in program order.
struct Record {
  enum Kind : std::uint8_t {
    kWork,
    kSync,
    kMeet,    // a barrier; also the start of a Union job, which waits for the previous one
    kLock,    // waits until the lock has been released `bytes` times
    kUnlock,  // releases it
    kRest,    // scalar accesses only
  };
  std::uint32_t site = 0;
  std::uint32_t near = 0, far = 0;  // scalar accesses before this step, on and off chip
  std::uint32_t far_first = 0;      // those off chip before the first one on chip
  Kind kind = kRest;
  std::uint8_t agents = 0;  // of kSync
  bool job = false;         // of kMeet: the start of a job
  double cost = 0;          // bytes to transfer if off chip; else ns
  std::uint64_t bytes = 0;  // of kWork: its bytes; of kMeet and kLock: the number of the barrier or lock
};

// Places count the cores and memory cores of the device; the memory core is the last of its
// cluster.
struct LaunchProfile {
  std::string kernel, unit;
  mlusimTimeModel model = {};
  std::uint32_t dim[3] = {};
  int type = 0, clusters = 0, cores_per_cluster = 0, arch = 0;
  std::string card;
  bool failed = false;
  std::uint64_t instructions = 0, modelled = 0, argument_bytes = 0;
  double estimate = 0;  // in ns

  std::vector<Site> sites;
  std::vector<std::vector<Tally>> tallies;   // by place, then site
  std::vector<CoreTally> cores;              // by place
  std::vector<std::vector<Record>> records;  // by place; emptied by make_timeline()
  std::vector<std::uint32_t> meetings;       // by number of the barrier: the cores that meet there
  std::vector<mlusimProfileEvent> events;
  std::vector<mlusimArray> arrays;
  std::vector<std::string> files;  // by site; filled at the end of the launch
  std::vector<int> lines;

  int places_per_cluster() const { return cores_per_cluster + 1; }
  Tally &tally(int place, std::uint32_t site) {
    std::vector<Tally> &of_core = tallies[static_cast<std::size_t>(place)];
    if (of_core.size() <= site) of_core.resize(sites.size());
    return of_core[site];
  }
};

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_DATA_H_
