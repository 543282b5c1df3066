// Who touched which bytes of shared memory last: stamps for every 8 bytes, kept in a shadow that is mapped as it is used.
//
// Most accesses are those of copies, whole blocks at a time. So a block of 256 bytes has one set of stamps while all of it was
// treated alike, and one for each 8 bytes of it (a cell) from the first access on that touches only a part.
#ifndef MLUSIM_CHECK_STAMPS_H_
#define MLUSIM_CHECK_STAMPS_H_

#include <cstddef>
#include <cstdint>

#include "machine/memory.h"
#include "machine/observer.h"

namespace mlusim {

// One access: when (an epoch, which belongs to one run), from where, of what kind, and to which bytes of its cell.
using Stamp = std::uint64_t;

constexpr Stamp kStampBytes = 0xff;
constexpr Stamp kStampWrites = Stamp{1} << 8;  // kWrite and kAtomic
constexpr Stamp kStampAtomic = Stamp{1} << 9;
constexpr Stamp kStampAsync = Stamp{1} << 10;
constexpr int kStampPlaceShift = 11;
constexpr Stamp kStampPlaces = Stamp{0xffff} << kStampPlaceShift;
constexpr int kStampEpochShift = 27;

inline Stamp make_stamp(std::uint64_t epoch, std::uint16_t place, Kind kind, bool async) {
  const Stamp writes = kind == Kind::kRead ? 0 : kStampWrites;
  const Stamp atomic = kind == Kind::kAtomic ? kStampAtomic : 0;
  return epoch << kStampEpochShift | Stamp{place} << kStampPlaceShift | writes | atomic | (async ? kStampAsync : 0);
}
inline std::uint64_t epoch_of(Stamp stamp) { return stamp >> kStampEpochShift; }
inline std::uint16_t place_number_of(Stamp stamp) {
  return static_cast<std::uint16_t>((stamp & kStampPlaces) >> kStampPlaceShift);
}
inline Kind kind_of(Stamp stamp) {
  if ((stamp & kStampWrites) == 0) return Kind::kRead;
  return (stamp & kStampAtomic) == 0 ? Kind::kWrite : Kind::kAtomic;
}

// The latest epochs of a run whose accesses are over for somebody else: of scalar and compute, and of asynchronous copies.
struct Known {
  std::uint64_t direct = 0;
  std::uint64_t async = 0;
};

// A run that accesses memory, and what it knows of the others.
struct Viewpoint {
  Stamp floor = 0;  // smaller stamps are of the past, and ordered before everything
  std::uint32_t run = 0;
  const std::uint32_t *owners = nullptr;  // runs, by epoch from `first_epoch` on
  std::uint64_t first_epoch = 0;
  const Known *known = nullptr;  // of the runs of this job, the first of which is `job_begin`
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
    const Known &other = known[owner - job_begin];
    return ((stamp & kStampAsync) != 0 ? other.async : other.direct) >= epoch ? Relation::kBefore
                                                                              : Relation::kUnordered;
  }
};

// The first access that conflicts with the one that is stamped.
struct Clash {
  const char *address = nullptr;  // null: there is none
  Stamp other = 0;
};

class StampShadow {
 public:
  StampShadow() = default;
  ~StampShadow();
  StampShadow(const StampShadow &) = delete;
  StampShadow &operator=(const StampShadow &) = delete;

  // Keeps stamps for `memory` from now on. False if the system refuses.
  bool cover(const Range &memory);

  // Stamps bytes and compares with the stamps that they have.
  void touch(const char *begin, std::size_t bytes, Stamp stamp, const Viewpoint &view, Clash *clash);

  // Between launches all stamps are of the past: gives memory back if there is much of it.
  void trim();

 private:
  static constexpr int kSlots = 4;
  static constexpr std::size_t kCellBytes = 8;
  static constexpr std::size_t kCells = 32;
  static constexpr std::size_t kBlockBytes = kCellBytes * kCells;

  struct Cell {
    Stamp slot[kSlots];
  };
  struct Block {
    Cell cells[kCells];
  };

  static bool may_go(Stamp old, Stamp stamp, const Viewpoint &view, const char *address, Clash *clash);
  static void touch_cell(Cell *cell, Stamp stamp, const Viewpoint &view, const char *address, Clash *clash);
  static void compare_cell(const Cell &cell, Stamp stamp, const Viewpoint &view, const char *address, Clash *clash);
  void touch_block(std::size_t number, Stamp stamp, const Viewpoint &view, Clash *clash);
  void touch_part(std::size_t number, std::size_t begin, std::size_t end, Stamp stamp, const Viewpoint &view,
                  Clash *clash);
  void split(std::size_t number);
  void unmap();

  Range memory_;
  Cell *headers_ = nullptr;  // by block; the first stamp is kSplit where the cells hold the stamps
  Block *blocks_ = nullptr;
  std::size_t count_ = 0;
  std::size_t split_count_ = 0;  // since the last trim
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_STAMPS_H_
