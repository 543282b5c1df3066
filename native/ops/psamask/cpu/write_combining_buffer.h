// Write-combining buffer of distribute.
#ifndef MLUOPS_OPS_PSAMASK_CPU_WRITE_COMBINING_BUFFER_H_
#define MLUOPS_OPS_PSAMASK_CPU_WRITE_COMBINING_BUFFER_H_

#include "cpu/nontemporal.h"
#include "ops/psamask/cpu/map.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Collects the next pieces of many lines of the result until they are long enough to be written.
// With non-temporal stores only whole cache lines are written; the rest of a piece stays in front
// of the next one. For a result that stays in the caches it may be a view of the result.
class WriteCombiningBuffer {
 public:
  // Floats of memory for `lines` lines with pieces of `width`.
  static std::int64_t size(std::int64_t lines, std::int64_t width) { return lines * (stride_of(width) + 2); }

  WriteCombiningBuffer(float *memory, std::int64_t lines, std::int64_t width, bool nontemporal)
      : left_(reinterpret_cast<std::int32_t *>(memory + lines * stride_of(width))),
        skipped_(left_ + lines),
        lines_(memory + kFloatsPerLine),
        stride_(stride_of(width)),
        nontemporal_(nontemporal) {}

  // A view of lines that start at `lines`, `stride` apart.
  static WriteCombiningBuffer view(float *lines, std::int64_t stride) { return WriteCombiningBuffer(lines, stride); }

  // Lines first .. first + count start at `to`, `stride` apart in memory.
  void start(std::int64_t first, const float *to, std::int64_t stride, std::int64_t count) const {
    for (std::int64_t i = first; nontemporal_ && i < first + count; ++i, to += stride) {
      left_[i] = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % kFloatsPerLine);
      skipped_[i] = left_[i];
    }
  }

  // Place of the next piece of a line.
  float *line(std::int64_t i) const { return lines_ + i * stride_; }
  std::int64_t stride() const { return stride_; }

  // Writes the next `width` floats of a line to memory. Not for a view.
  void write(std::int64_t i, float *to, std::int64_t width, bool is_last) const {
    if (nontemporal_) {
      write_nontemporal(i, to, width, is_last);
    } else {
      copy_row(to, line(i), width);
    }
  }

  // Writes any number of zeros.
  void write_zeros(std::int64_t i, float *to, std::int64_t count, bool is_last) const {
    constexpr std::int64_t kMost = kFloatsPerLine;
    if (!nontemporal_) {
      clear_floats(to, count);
      return;
    }
    // Zeros up to the end of a cache line, after the pending floats. If more zeros follow, nothing
    // is pending or skipped any more.
    const std::int64_t head = smaller((kMost - left_[i]) % kMost, count);
    clear_floats(line(i), kMost);
    if (head > 0) write_nontemporal(i, to, head, is_last && head == count);
    if (head == count) return;
    const std::int64_t all = count - head, whole = is_last ? all : all / kMost * kMost;
    fill_nontemporal(to + head, 0, static_cast<std::size_t>(whole) * sizeof(float));
    clear_floats(line(i) - kMost, kMost);
    left_[i] = static_cast<std::int32_t>(all - whole);
  }

  void finish() const {
    if (nontemporal_) nontemporal_fence();
  }

 private:
  WriteCombiningBuffer(float *lines, std::int64_t stride)
      : left_(nullptr), skipped_(nullptr), lines_(lines), stride_(stride), nontemporal_(false) {}

  // A line has space for pending floats in front of it and for whole vectors after it.
  static std::int64_t stride_of(std::int64_t width) { return kFloatsPerLine + width + 2 * kLanes; }

  [[gnu::always_inline]] void write_nontemporal(std::int64_t i, float *to, std::int64_t width, bool is_last) const {
    float *const piece = line(i);
    const std::int64_t left = left_[i], skipped = skipped_[i], all = left + width;
    const std::int64_t whole = is_last ? all : all / kFloatsPerLine * kFloatsPerLine;
    const float *from = piece - left;
    to -= left;
    if (skipped == 0 && !is_last) {
      for (const float *const end = from + whole; from != end; from += kFloatsPerLine, to += kFloatsPerLine) {
        copy_line_nontemporal(reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from));
      }
    } else if (whole > 0) {
      copy_nontemporal(to + skipped, from + skipped, static_cast<std::size_t>(whole - skipped) * sizeof(float));
      skipped_[i] = 0;
    }
    copy_row(piece - kFloatsPerLine, piece + width - kFloatsPerLine, kFloatsPerLine);
    left_[i] = static_cast<std::int32_t>(all - whole);
  }

  std::int32_t *left_;     // pending floats of each line, in front of its piece
  std::int32_t *skipped_;  // the first of them that precede the line in memory and belong to others
  float *lines_;
  std::int64_t stride_;
  bool nontemporal_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_WRITE_COMBINING_BUFFER_H_
