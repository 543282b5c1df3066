// ActiveRotatedFilter on the CPU. The table is turned into offsets for several planes at once, so
// that the inner loops are long although a plane may have only a cell or nine.
#include "cpu/bilinear.h"
#include "ops/active_rotated_filter/active_rotated_filter.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kRun = 256;  // values that offsets are made for at least, if a plane has fewer
constexpr std::int64_t kMostOffsets = kMostCells > kRun ? kMostCells : kRun;
constexpr std::int64_t kValuesPerPiece = 16384;

// For each rotation where the values of some planes are in others; -1 for nowhere.
class Offsets {
 public:
  explicit Offsets(const ActiveRotatedFilterGeometry &g)
      : g_(g), run_(g.cells * larger<std::int64_t>(kRun / g.cells, 1)), memory_(g.rotations * run_) {}

  bool has_memory() const { return memory_.data() != nullptr; }
  std::int64_t run() const { return run_; }
  const std::int32_t *of(std::int64_t rotation) const { return memory_.data() + rotation * run_; }
  // Whether there is no -1.
  bool is_complete(std::int64_t rotation) const { return complete_[rotation]; }

  // What comes to each cell: of several cells the last one.
  void find_sources(const std::int32_t *indices) {
    fill(indices,
         [](std::int32_t *to, std::int64_t cell, std::int64_t place) { to[place] = static_cast<std::int32_t>(cell); });
  }
  // Where each cell goes.
  void find_places(const std::int32_t *indices) {
    fill(indices,
         [](std::int32_t *to, std::int64_t cell, std::int64_t place) { to[cell] = static_cast<std::int32_t>(place); });
  }

 private:
  template <typename Set>
  void fill(const std::int32_t *indices, const Set &set) {
    for (std::int64_t q = 0; q < g_.rotations; ++q) {
      std::int32_t *const to = memory_.data() + q * run_;
      for (std::int64_t cell = 0; cell < g_.cells; ++cell) to[cell] = -1;
      for (std::int64_t cell = 0; cell < g_.cells; ++cell) {
        const std::int64_t place = std::int64_t{read_once(indices + cell * g_.rotations + q)} - 1;
        if (place >= 0 && place < g_.cells) set(to, cell, place);
      }
      complete_[q] = true;
      for (std::int64_t i = 0; i < run_; ++i) {
        const std::int32_t first = to[i % g_.cells];
        complete_[q] &= first >= 0;
        to[i] = first < 0 ? -1 : static_cast<std::int32_t>(i / g_.cells * g_.cells) + first;
      }
    }
  }

  const ActiveRotatedFilterGeometry &g_;
  const std::int64_t run_;
  const Scratch<std::int32_t> memory_;
  bool complete_[kMostRotations];
};

// Values are only moved, so their type does not matter but for its size.
template <typename Word>
class Rotate {
 public:
  Rotate(const ActiveRotatedFilterProblem &problem, const Offsets &offsets)
      : g_(problem.geometry),
        offsets_(offsets),
        filters_(static_cast<const Word *>(problem.source)),
        rotated_(static_cast<Word *>(problem.result)) {}

  // Rotations of filters.
  std::int64_t tasks() const { return g_.filters * g_.rotations; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t size = g_.planes * g_.cells;
    for (std::int64_t task = begin; task < end; ++task) {
      const Word *const from = filters_ + task / g_.rotations * size;
      Word *const to = rotated_ + task * size;
      for (std::int64_t i = 0; i < size; i += offsets_.run()) {
        const std::int64_t count = smaller(offsets_.run(), size - i);
        if (poll.interrupted(count)) return;
        move(task % g_.rotations, from + i, to + i, count);
      }
    }
  }

 private:
  void move(std::int64_t rotation, const Word *from, Word *to, std::int64_t count) const {
    const std::int32_t *const at = offsets_.of(rotation);
    if (offsets_.is_complete(rotation)) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[at[i]];
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = at[i] < 0 ? Word{0} : from[at[i]];
    }
  }

  const ActiveRotatedFilterGeometry &g_;
  const Offsets &offsets_;
  const Word *const filters_;
  Word *const rotated_;
};

template <typename T>
class Collect {
 public:
  using Real = SumOf<T>;
  Collect(const ActiveRotatedFilterProblem &problem, const Offsets &offsets)
      : g_(problem.geometry),
        offsets_(offsets),
        runs_((g_.planes * g_.cells + offsets.run() - 1) / offsets.run()),
        rotated_(static_cast<const T *>(problem.source)),
        filters_(static_cast<T *>(problem.result)) {}

  // Runs of values of filters.
  std::int64_t tasks() const { return g_.filters * runs_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t size = g_.planes * g_.cells;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t filter = task / runs_, first = task % runs_ * offsets_.run();
      const std::int64_t count = smaller(offsets_.run(), size - first);
      Real sums[kMostOffsets];
      std::memset(sums, 0, static_cast<std::size_t>(count) * sizeof(Real));
      for (std::int64_t q = 0; q < g_.rotations; ++q) {
        if (poll.interrupted(count)) return;
        add(q, rotated_ + (filter * g_.rotations + q) * size + first, sums, count);
      }
      for (std::int64_t i = 0; i < count; ++i) store(filters_ + filter * size + first + i, sums[i]);
    }
  }

 private:
  void add(std::int64_t rotation, const T *from, Real *sums, std::int64_t count) const {
    const std::int32_t *const at = offsets_.of(rotation);
    for (std::int64_t i = 0; i < count; ++i) {
      if (at[i] >= 0) sums[i] += to_sum(from[at[i]]);
    }
  }

  const ActiveRotatedFilterGeometry &g_;
  const Offsets &offsets_;
  const std::int64_t runs_;
  const T *const rotated_;
  T *const filters_;
};

template <typename Word>
void rotate(const ActiveRotatedFilterProblem &problem, const Offsets &offsets) {
  Rotate<Word> rotate(problem, offsets);
  parallel_for(rotate.tasks(), kValuesPerPiece / (problem.geometry.planes * problem.geometry.cells) + 1, rotate);
}

template <typename T>
void collect(const ActiveRotatedFilterProblem &problem, const Offsets &offsets) {
  Collect<T> collect(problem, offsets);
  parallel_for(collect.tasks(), kValuesPerPiece / (problem.geometry.rotations * offsets.run()) + 1, collect);
}

}  // namespace

mluOpStatus_t active_rotated_filter_forward(const ActiveRotatedFilterProblem &problem) {
  Offsets offsets(problem.geometry);
  if (!offsets.has_memory()) return out_of_memory(problem.function);
  offsets.find_sources(problem.indices);
  switch (problem.geometry.type) {
    case MLUOP_DTYPE_HALF:
      rotate<std::uint16_t>(problem, offsets);
      break;
    case MLUOP_DTYPE_DOUBLE:
      rotate<std::uint64_t>(problem, offsets);
      break;
    default:
      rotate<std::uint32_t>(problem, offsets);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t active_rotated_filter_backward(const ActiveRotatedFilterProblem &problem) {
  Offsets offsets(problem.geometry);
  if (!offsets.has_memory()) return out_of_memory(problem.function);
  offsets.find_places(problem.indices);
  switch (problem.geometry.type) {
    case MLUOP_DTYPE_HALF:
      collect<Half>(problem, offsets);
      break;
    case MLUOP_DTYPE_DOUBLE:
      collect<double>(problem, offsets);
      break;
    default:
      collect<float>(problem, offsets);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_active_rotated_filter_forward, active_rotated_filter_forward,
                          ActiveRotatedFilterProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_active_rotated_filter_backward, active_rotated_filter_backward,
                          ActiveRotatedFilterProblem, problem.function);
