// IngroupIndices on the CPU: one pass that counts, by a table where the groups lie close together,
// else by a hash table. Each rank depends on all values before it, and counting takes a few
// nanoseconds, so the pass is not shared among threads.
#include "cpu/kernel.h"
#include "ops/ingroup_indices/ingroup_indices.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kSlotsPerValue = 2;  // of both tables, so that a search is short

// The groups lie in least .. least + span - 1.
struct Range {
  std::int64_t least, span;
};

// False if the call was interrupted.
bool find_range(const IngroupIndicesProblem &p, Range *range) {
  std::int32_t least = INT32_MAX, most = INT32_MIN;
  for_slices(0, p.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t group = read_once(p.groups + i);
      least = smaller(least, group);
      most = larger(most, group);
    }
  });
  *range = {least, static_cast<std::int64_t>(most) - least + 1};
  return !interrupted();
}

template <typename T>
void clear(T *table, std::int64_t slots) {
  for_slices(0, slots, [&](std::int64_t begin, std::int64_t end) {
    std::memset(table + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
  });
}

mluOpStatus_t count_in_table(const IngroupIndicesProblem &p, const Range &range) {
  const Scratch<std::int32_t> counts(range.span);
  if (counts.data() == nullptr) return out_of_memory(p.function);
  clear(counts.data(), range.span);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  for_slices(0, p.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t slot = read_once(p.groups + i) - range.least;
      // A value may have changed since the range was found.
      p.ranks[i] = slot >= 0 && slot < range.span ? counts.data()[slot]++ : 0;
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

// A slot of the hash table; a count of 0 is an empty one.
struct Slot {
  std::int32_t group, count;
};

mluOpStatus_t count_by_hash(const IngroupIndicesProblem &p) {
  std::int64_t slots = 1;
  int bits = 0;
  for (; slots < kSlotsPerValue * p.count; slots *= 2) ++bits;
  const Scratch<Slot> table(slots);
  if (table.data() == nullptr) return out_of_memory(p.function);
  clear(table.data(), slots);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  for_slices(0, p.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t group = read_once(p.groups + i);
      // The upper bits of a product by the golden ratio.
      const std::uint64_t mixed = static_cast<std::uint32_t>(group) * std::uint64_t{0x9e3779b97f4a7c15};
      std::int64_t at = static_cast<std::int64_t>(mixed >> (64 - bits));
      while (table.data()[at].count != 0 && table.data()[at].group != group) at = (at + 1) & (slots - 1);
      table.data()[at].group = group;
      p.ranks[i] = table.data()[at].count++;
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t ingroup_indices(const IngroupIndicesProblem &problem) {
  Range range;
  if (!find_range(problem, &range)) return MLUOP_STATUS_SUCCESS;
  return range.span <= 2 * kSlotsPerValue * problem.count ? count_in_table(problem, range) : count_by_hash(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_ingroup_indices, ingroup_indices, IngroupIndicesProblem, problem.function);
