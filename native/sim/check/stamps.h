// The latest accesses to each 8 bytes of shared memory, as stamps.
//
// Most accesses are those of copies, many bytes at a time. So 256 bytes share one set of stamps as long as every access
// touches all of them. The first access to a part gives each 64 of them a set of their own, and likewise 8 of those.
#ifndef MLUSIM_CHECK_STAMPS_H_
#define MLUSIM_CHECK_STAMPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/memory.h"
#include "machine/observer.h"

namespace mlusim {

// One access: when (an epoch, which belongs to one run), from where, of what kind, and to which bytes of its cell.
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

// An entry of a vector clock: the latest epochs of a run that happen before another run. One counts scalar and compute accesses, one
// asynchronous copies.
struct ClockEntry {
  std::uint64_t direct = 0;
  std::uint64_t async = 0;
};

// The happens-before relation, as one run sees it: which earlier accesses are ordered before its own.
struct HappensBefore {
  Stamp floor = 0;  // smaller stamps are of the past, and ordered before everything
  std::uint32_t run = 0;
  const std::uint32_t *owners = nullptr;  // runs, by epoch from `first_epoch` on
  std::uint64_t first_epoch = 0;
  const ClockEntry *clock = nullptr;  // of the runs of this job, the first of which is `job_begin`
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

// The first access that conflicts with the one that is stamped.
struct Conflict {
  const char *address = nullptr;  // null: there is none
  Stamp other = 0;
};

class StampShadow {
 public:
  StampShadow() = default;
  ~StampShadow();
  StampShadow(const StampShadow &) = delete;
  StampShadow &operator=(const StampShadow &) = delete;

  // Starts a launch, with stamps for `memory`: those from before are of the past. False if the system refuses.
  bool begin_launch(const Range &memory);

  // Gives back what no launch of usual size needs.
  void end_launch();

  // Stamps bytes and compares with the stamps that they have.
  void touch(const char *begin, std::size_t bytes, Stamp stamp, const HappensBefore &order, Conflict *conflict);

 private:
  static constexpr int kSlots = 4;
  static constexpr int kLevels = 3;
  static constexpr std::size_t kUnitBytes[kLevels] = {8, 64, 256};
  static constexpr std::size_t parts_of(int level) { return kUnitBytes[level] / kUnitBytes[level - 1]; }

  // The stamps of a unit; or, if the first one is kSplit, the number of what its parts have, and the launch that split it.
  struct Unit {
    Stamp slot[kSlots];
  };

  // The units that a larger one was split into, for all of one level: memory that every launch uses again.
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
    std::size_t count_ = 0;  // of units in one
  };

  // One access, on its way down to the units that it touches.
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
  Unit *units_ = nullptr;  // of the highest level
  std::size_t count_ = 0;
  Parts parts_[kLevels];  // of a unit of this level
  std::uint64_t launch_ = 0;
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_STAMPS_H_
