// Stamps: the latest accesses to each 8 bytes of shared memory.
//
// Most accesses are copies of many bytes. 256 bytes therefore share one set of stamps while every
// access touches all of them. The first access to a part splits the set into one for each 64 bytes,
// and likewise into one for each 8 bytes.
#ifndef MLUSIM_CHECK_STAMPS_H_
#define MLUSIM_CHECK_STAMPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/memory.h"
#include "machine/observer.h"

namespace mlusim {

// One access: its epoch (which belongs to one run), its instruction, its kind, and the bytes that
// it touches in its cell.
using Stamp = std::uint64_t;

constexpr Stamp kStampBytes = 0xff;
constexpr Stamp kStampWrites = Stamp{1} << 8;  // kWrite and kAtomic
constexpr Stamp kStampAtomic = Stamp{1} << 9;
constexpr Stamp kStampAsync = Stamp{1} << 10;
constexpr int kStampPcShift = 11;
constexpr Stamp kStampPcs = Stamp{0xffff} << kStampPcShift;
constexpr int kStampEpochShift = 27;

inline Stamp make_stamp(std::uint64_t epoch, std::uint16_t place, Kind kind, bool async) {
  const Stamp writes = kind == Kind::kRead ? 0 : kStampWrites;
  const Stamp atomic = kind == Kind::kAtomic ? kStampAtomic : 0;
  return epoch << kStampEpochShift | Stamp{place} << kStampPcShift | writes | atomic | (async ? kStampAsync : 0);
}
inline std::uint64_t epoch_of(Stamp stamp) { return stamp >> kStampEpochShift; }
inline std::uint16_t pc_number_of(Stamp stamp) {
  return static_cast<std::uint16_t>((stamp & kStampPcs) >> kStampPcShift);
}
inline Kind kind_of(Stamp stamp) {
  if ((stamp & kStampWrites) == 0) return Kind::kRead;
  return (stamp & kStampAtomic) == 0 ? Kind::kWrite : Kind::kAtomic;
}

// An entry of a vector clock: the latest epochs of a run that happen before another run. `direct`
// counts scalar and compute accesses, `async` asynchronous copies.
struct ClockEntry {
  std::uint64_t direct = 0;
  std::uint64_t async = 0;
};

// The happens-before relation from the view of one run: the earlier accesses that are ordered
// before its own.
struct HappensBefore {
  Stamp floor = 0;  // smaller stamps belong to earlier launches or jobs, which are ordered before all
  std::uint32_t run = 0;
  const std::uint32_t *owners = nullptr;  // the run of each epoch from `first_epoch` on
  std::uint64_t first_epoch = 0;
  const ClockEntry *clock = nullptr;  // by run of this job, from `job_begin` on
  std::uint32_t job_begin = 0;

  enum class Relation {
    kOwn,
    kBefore,
    kUnordered
  };
  Relation relation(Stamp stamp) const {
    const std::uint64_t epoch = epoch_of(stamp);
    const std::uint32_t owner = owners[epoch - first_epoch];
    if (owner == run) return Relation::kOwn;
    if (owner < job_begin) return Relation::kUnordered;
    const ClockEntry &other = clock[owner - job_begin];
    return ((stamp & kStampAsync) != 0 ? other.async : other.direct) >= epoch ? Relation::kBefore
                                                                              : Relation::kUnordered;
  }
};

// The first access that conflicts with the current one.
struct Conflict {
  const char *address = nullptr;  // null: no conflict
  Stamp other = 0;
};

class StampShadow {
 public:
  StampShadow() = default;
  ~StampShadow();
  StampShadow(const StampShadow &) = delete;
  StampShadow &operator=(const StampShadow &) = delete;

  // Starts a launch with stamps for `memory`; earlier stamps become part of the past. False if the
  // system refuses the memory.
  bool begin_launch(const Range &memory);

  // Frees memory that launches of usual size do not need.
  void end_launch();

  // Compares the access with the stamps of its bytes, then stamps them.
  void touch(const char *begin, std::size_t bytes, Stamp stamp, const HappensBefore &order, Conflict *conflict);

 private:
  static constexpr int kSlots = 4;
  static constexpr int kLevels = 3;
  static constexpr std::size_t kUnitBytes[kLevels] = {8, 64, 256};
  static constexpr std::size_t parts_of(int level) { return kUnitBytes[level] / kUnitBytes[level - 1]; }

  // The stamps of a unit. If the first one is kSplit, the second holds the number of its parts, and
  // the third the launch that split it.
  struct Unit {
    Stamp slot[kSlots];
  };

  // The parts of all split units of one level, in memory that every launch uses again.
  class Parts {
   public:
    Unit *at(std::uint64_t number) { return &chunks_[number / kChunk][number % kChunk * count_]; }
    std::uint64_t take();
    void give_back(std::uint64_t number) { free_.push_back(number); }
    void reset(std::size_t count);
    void trim();

   private:
    static constexpr std::size_t kChunk = 4096;
    static constexpr std::size_t kMostKeptChunks = 256;
    std::vector<std::unique_ptr<Unit[]>> chunks_;
    std::vector<std::uint64_t> free_;
    std::uint64_t next_ = 0;
    std::size_t count_ = 0;  // parts of one unit
  };

  // One access on its way down to the units that it touches.
  struct Access {
    Stamp stamp;
    const HappensBefore &order;
    Conflict *conflict;
  };

  static bool may_go(Stamp old, Stamp stamp, const char *address, const Access &access);
  static void touch_unit(Unit *unit, Stamp stamp, const char *address, const Access &access);
  void touch_part(Unit *unit, int level, const char *address, std::size_t begin, std::size_t end, const Access &access);
  void split(Unit *unit, int level);
  bool merge(Unit *unit, int level, const char *address, const Access &access);
  void compare(Unit *unit, int level, const char *address, const Access &access);
  void drop(Unit *unit, int level);
  bool is_split(Unit *unit) const;
  Unit *parts(const Unit &unit, int level) { return parts_[level].at(unit.slot[1]); }

  Range memory_;
  Unit *units_ = nullptr;  // the units of the highest level
  std::size_t count_ = 0;
  Parts parts_[kLevels];  // the parts of split units, by level
  std::uint64_t launch_ = 0;
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_STAMPS_H_
