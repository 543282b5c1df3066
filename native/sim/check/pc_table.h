// Numbers the instructions of kernels, so that their addresses (pc: program counter) fit into a
// stamp.
#ifndef MLUSIM_CHECK_PC_TABLE_H_
#define MLUSIM_CHECK_PC_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mlusim {

class PcTable {
 public:
  // Returns 0 if all numbers are taken.
  std::uint16_t number_of(const void *pc) {
    Entry &entry = recent_[(reinterpret_cast<std::uintptr_t>(pc) >> 2) % kRecent];
    if (entry.pc != pc) entry = {pc, look_up(pc)};
    return entry.number;
  }

  const void *pc_of(std::uint16_t number) const { return pcs_[number]; }

 private:
  static constexpr std::size_t kRecent = 256;
  struct Entry {
    const void *pc = nullptr;
    std::uint16_t number = 0;
  };

  std::uint16_t look_up(const void *pc) {
    const auto found = numbers_.find(pc);
    if (found != numbers_.end()) return found->second;
    if (pcs_.size() > 0xffff) return 0;
    const std::uint16_t number = static_cast<std::uint16_t>(pcs_.size());
    pcs_.push_back(pc);
    numbers_.emplace(pc, number);
    return number;
  }

  std::vector<const void *> pcs_ = {nullptr};
  std::unordered_map<const void *, std::uint16_t> numbers_;
  Entry recent_[kRecent];
};

}  // namespace mlusim

#endif  // MLUSIM_CHECK_PC_TABLE_H_
