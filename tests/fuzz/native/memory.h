// Memory for arguments between two pages without access rights.
//
// A buffer ends where the page behind it begins, or begins where the page before it ends; on its
// open side lies a canary.
#ifndef MLUOPS_FUZZ_MEMORY_H_
#define MLUOPS_FUZZ_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

constexpr std::size_t kLargestBuffer = std::size_t{1} << 20;
constexpr std::uint8_t kFill = 0xa5;  // of new memory

enum class Side {
  kEnd,
  kBegin
};

struct Buffer {
  std::uint8_t *data = nullptr;
  std::size_t size = 0;
  std::uint8_t *region = nullptr;  // what is compared: the bytes and the canaries
  std::size_t region_size = 0;
  std::vector<std::uint8_t> before{};  // the region as it was at keep()

  void keep();
  // Whether nothing changed since keep(), the canaries included.
  bool unchanged() const;
  // Whether the canaries are what they were.
  bool canaries_intact() const;
  // Puts back what keep() saw.
  void restore() const;
};

// Regions are mapped once and used again in every run.
class Arena {
 public:
  void begin_run() { used_ = 0; }
  // A buffer of `size` bytes, at most kLargestBuffer, filled with `fill`.
  Buffer make(std::size_t size, Side side = Side::kEnd, std::uint8_t fill = kFill);

 private:
  std::vector<std::uint8_t *> regions_;
  std::size_t used_ = 0;
};

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_MEMORY_H_
