// What a run knows of the simulated device: its allocations with what they hold, and the host
// memory that copies use.
#ifndef MLUOPS_FUZZ_DEVICE_MODEL_H_
#define MLUOPS_FUZZ_DEVICE_MODEL_H_

#include <cstdint>
#include <vector>

#include "bytes.h"
#include "memory.h"

namespace fuzz {

struct Allocation {
  std::uint8_t *begin;
  std::vector<std::uint8_t> held;  // what its bytes are
  bool known = true;               // false while work that was queued may change them
  bool live = true;
};

class DeviceModel {
 public:
  void begin_run();
  // Frees everything; the counters must say so.
  void end_run();

  void allocate(Bytes &bytes);
  void free(Bytes &bytes);
  // Copies of one, two and three dimensions, and sets; in a queue if `queue` is not null.
  void copy(Bytes &bytes, const void *queue, bool later);
  void copy_box(Bytes &bytes, bool flat);
  void set(Bytes &bytes, const void *queue, bool later);
  void ask(Bytes &bytes);
  // All queued work is done.
  void settled();
  void check_all();
  void forget_all() { allocations_.clear(); }
  std::uint64_t count() const;

 private:
  // One side of a copy: a place in device or host memory, and how many bytes follow it there.
  struct Place {
    std::uint8_t *pointer;
    bool device;
    Allocation *allocation;  // of device memory
    std::size_t room;
  };
  Place place(Bytes &bytes);
  static bool contains(const Place &place, std::uint64_t reach) { return reach <= place.room; }
  // Whether bytes that begin `offset` behind a place reach into any allocation.
  bool reaches(const Place &place, unsigned __int128 offset, unsigned __int128 reach) const;
  void check_host();
  void check(Allocation &allocation);

  std::vector<Allocation> allocations_;
  Arena arena_;
  std::vector<Buffer> host_;
};

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_DEVICE_MODEL_H_
