// TinShift on the CPU: copies of contiguous blocks. For a fixed batch, time and group the channels
// of the group are contiguous: a block of (channels / groups) * pixels elements is copied from
// another time or cleared.
#include "cpu/nontemporal.h"
#include "ops/tin_shift/tin_shift.h"

MLUOPS_BEGIN_LEVEL
namespace {

struct Blocks {
  const TinShiftProblem &problem;
  std::size_t block_bytes;
  std::size_t time_bytes;  // from one time to the next
  bool nontemporal;  // write with non-temporal stores; memcpy would decide by the size of a block instead of the tensor

  // Blocks are numbered in output order: batch, time, group.
  void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t groups = problem.groups;
    const std::int64_t times = problem.times;
    for (std::int64_t block = begin; block < end;) {
      const std::int64_t group = block % groups;
      const std::int64_t time = block / groups % times;
      const std::int32_t *shifts = problem.shifts + block / groups / times * groups;
      const std::int64_t shift = read_once(shifts + group);
      // Neighbouring groups with the same shift are moved together.
      const std::int64_t limit = smaller(end - block, groups - group);
      std::int64_t run = 1;
      while (run < limit && shifts[group + run] == shift) ++run;
      move(block, run, time, shift);
      block += run;
    }
    if (nontemporal) nontemporal_fence();
  }

  // A block may be as long as the tensor, so it is moved in parts, which can be interrupted.
  void move(std::int64_t block, std::int64_t run, std::int64_t time, std::int64_t shift) const {
    constexpr std::size_t kPart = 4 << 20;
    std::size_t offset = static_cast<std::size_t>(block) * block_bytes;
    const std::size_t end = offset + static_cast<std::size_t>(run) * block_bytes;
    for (; end - offset > kPart; offset += kPart) {
      if (interrupted()) return;
      move_part(offset, kPart, time, shift);
    }
    move_part(offset, end - offset, time, shift);
  }

  void move_part(std::size_t offset, std::size_t bytes, std::int64_t time, std::int64_t shift) const {
    char *target = static_cast<char *>(problem.output) + offset;
    const std::int64_t source_time = time - shift;
    if (source_time < 0 || source_time >= problem.times) {
      clear(target, bytes);
    } else {
      const char *source = static_cast<const char *>(problem.input) + offset;
      copy(target, source - shift * static_cast<std::int64_t>(time_bytes), bytes);
    }
  }

  void clear(char *target, std::size_t bytes) const {
    if (nontemporal) {
      fill_nontemporal(target, 0, bytes);
    } else {
      std::memset(target, 0, bytes);
    }
  }

  void copy(char *target, const char *source, std::size_t bytes) const {
    if (nontemporal) {
      copy_nontemporal(target, source, bytes);
    } else {
      copy_cached(target, source, bytes);
    }
  }
};

}  // namespace

mluOpStatus_t tin_shift(const TinShiftProblem &problem) {
  const std::size_t pixels = static_cast<std::size_t>(problem.pixels) * problem.element_size;
  const std::size_t time = static_cast<std::size_t>(problem.channels) * pixels;
  const std::int64_t times = problem.batches * problem.times;
  Blocks blocks{problem, static_cast<std::size_t>(problem.channels / problem.groups) * pixels, time,
                times * static_cast<std::int64_t>(time) >= streaming_bytes()};
  constexpr std::size_t kBytesPerPiece = 64 * 1024;
  const std::int64_t grain = static_cast<std::int64_t>(kBytesPerPiece / blocks.block_bytes) + 1;
  parallel_for(times * problem.groups, grain, blocks);
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_tin_shift, tin_shift, TinShiftProblem, problem.function);
