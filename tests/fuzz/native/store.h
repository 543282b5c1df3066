// Memory that operators compute on: the host's own for the CPU, device memory with a copy on the
// host for the simulator.
#ifndef MLUOPS_FUZZ_STORE_H_
#define MLUOPS_FUZZ_STORE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "memory.h"

namespace fuzz {

struct Store {
  Buffer host;
  std::uint8_t *pointer = nullptr;  // what operators are given
  bool device = false;

  // Brings what the host holds to the device, and keeps it for comparison.
  void upload();
  std::vector<std::uint8_t> download() const;
  bool unchanged() const;
  // On the device a checker watches the borders.
  bool canaries_intact() const { return device || host.canaries_intact(); }
};

class Stores {
 public:
  void begin_run();
  void end_run();
  void add(std::size_t size, bool at_begin);
  Store &last() { return stores_.back(); }
  Store &at(std::size_t i) { return stores_[i]; }
  std::size_t count() const { return stores_.size(); }
  // Waits for the device, which must have found nothing; after a refusal it must have done nothing.
  void settle(bool refused);

 private:
  Arena arena_;
  std::deque<Store> stores_;
  std::uint64_t launches_ = 0;
};

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_STORE_H_
