// MutualInformation on the CPU, in float and in double.
//
// Forward, a cell waits for the ones above and before it. So a band of rows moves through the
// columns together, each row one column behind the one above it: the cells of such a front do not
// depend on each other and fill vectors. Steps are gathered in tiles first.
#include "cpu/exponential.h"
#include "ops/mutual_information/mutual_information.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kBand = 32;   // rows of a band
constexpr int kSteps = 32;  // steps of a tile

// Vectors of float, or single doubles.
template <typename Real>
struct Lanes_;

template <>
struct Lanes_<float> {
  using Value = Vector;
  static constexpr int kCount = kLanes;
  static constexpr float kNegligible = -15.9423847f;  // the logarithm of the float next to 1, less 1
  static constexpr float kInfinity = __builtin_inff();
  static Value all(float value) { return all_lanes(value); }
  static Value read(const float *from) { return load(from); }
  static void write(float *to, Value value) { store(to, value); }
  // The last lane of `before`, then `here` without its last one.
  static Value moved(Value before, Value here) {
    return __builtin_shuffle(before, here, lane_numbers(AllLanes()) + (kLanes - 1));
  }
  static void set_first(Value &value, float first) { value[0] = first; }
};

template <>
struct Lanes_<double> {
  using Value = double;
  static constexpr int kCount = 1;
  static constexpr double kNegligible = -36.04365338911715;
  static constexpr double kInfinity = __builtin_inf();
  static Value all(double value) { return value; }
  static Value read(const double *from) { return *from; }
  static void write(double *to, Value value) { *to = value; }
  static Value moved(Value before, Value) { return before; }
  static void set_first(Value &value, double first) { value = first; }
};

struct Region {
  std::int64_t top, left, bottom, right;
  bool empty() const { return top > bottom || left > right; }
};

std::int64_t read_number(const std::int64_t *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

// Reads each region once, and refuses one that does not lie in its table.
mluOpStatus_t read_regions(const char *function, const MutualInformationTables &t, Region *regions) {
  InterruptPoll poll;
  for (std::int64_t b = 0; b < t.batches && !poll.interrupted(4); ++b) {
    regions[b] = {0, 0, t.rows, t.columns};
    if (t.boundary == nullptr) continue;
    const std::int64_t *const row = t.boundary + 4 * b;
    const Region r{read_number(row), read_number(row + 1), read_number(row + 2), read_number(row + 3)};
    const bool rows = r.top >= 0 && r.top <= t.rows && r.bottom >= 0 && r.bottom <= t.rows;
    const bool columns = r.left >= 0 && r.left <= t.columns && r.right >= 0 && r.right <= t.columns;
    MLUOPS_REQUIRE(rows && columns, MLUOP_STATUS_BAD_PARAM, function, "opt_boundary",
                   Text::format("s_begin and s_end from 0 to S=%lld, t_begin and t_end from 0 to T=%lld",
                                static_cast<long long>(t.rows), static_cast<long long>(t.columns)),
                   Text::format("[%lld, %lld, %lld, %lld] of batch %lld", static_cast<long long>(r.top),
                                static_cast<long long>(r.left), static_cast<long long>(r.bottom),
                                static_cast<long long>(r.right), static_cast<long long>(b)));
    regions[b] = r;
  }
  return MLUOP_STATUS_SUCCESS;
}

std::int64_t cells_of(const MutualInformationTables &t) { return (t.rows + 1) * (t.columns + 1); }

// ---- Forward -----------------------------------------------------------------------------------

template <typename Real>
class Forward {
  using L = Lanes_<Real>;
  using Value = typename L::Value;

 public:
  Forward(const MutualInformationForwardProblem &problem, std::int64_t batch, const Region &region)
      : region_(region),
        width_(problem.tables.columns + 1),
        px_(static_cast<const Real *>(problem.tables.px) + batch * problem.tables.rows * width_),
        py_(static_cast<const Real *>(problem.tables.py) + batch * (problem.tables.rows + 1) * (width_ - 1)),
        p_(static_cast<Real *>(problem.p) + batch * cells_of(problem.tables)),
        ans_(static_cast<Real *>(problem.ans) + batch),
        columns_(region.right - region.left + 1) {}

  void run(InterruptPoll &poll) {
    if (region_.empty()) {
      *ans_ = 0;
      return;
    }
    for (std::int64_t row = region_.top; row <= region_.bottom; row += kBand) {
      if (!run_band(row, smaller<std::int64_t>(kBand, region_.bottom + 1 - row), poll)) return;
    }
    *ans_ = p_[region_.bottom * width_ + region_.right];
  }

 private:
  static constexpr int kGroups = kBand / L::kCount;

  // What the steps of some fronts bring, and the sums: row i has front `first` + i.
  struct Tile {
    alignas(kCacheLine) Real down[kSteps][kBand];
    alignas(kCacheLine) Real on[kSteps][kBand];
    alignas(kCacheLine) Real sum[kSteps][kBand];
  };

  // Column of the region that row `k` of the band has in front `step` is step - k. Returns false if
  // the call was interrupted.
  bool run_band(std::int64_t row, std::int64_t rows, InterruptPoll &poll) {
    Tile tile;
    Value front[kGroups];
    for (Value &group : front) group = L::all(-L::kInfinity);
    const std::int64_t steps = columns_ + rows - 1;
    for (std::int64_t first = 0; first < steps; first += kSteps) {
      const std::int64_t count = smaller<std::int64_t>(kSteps, steps - first);
      if (poll.interrupted(4 * kBand * count)) return false;
      gather(row, rows, first, count, tile);
      for (std::int64_t i = 0; i < count; ++i)
        advance(row, rows, first + i, tile.down[i], tile.on[i], tile.sum[i], front);
      scatter(row, rows, first, count, tile);
    }
    return true;
  }

  void gather(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count, Tile &tile) const {
    for (std::int64_t i = 0; i < count; ++i) {
      for (int k = 0; k < kBand; ++k) tile.down[i][k] = tile.on[i][k] = -L::kInfinity;
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t begin = larger<std::int64_t>(first, k), end = smaller(first + count, columns_ + k);
      if (row + k > region_.top) {
        const Real *const from = px_ + (row + k - 1) * width_ + region_.left - k;
        for (std::int64_t step = begin; step < end; ++step) tile.down[step - first][k] = from[step];
      }
      const Real *const from = py_ + (row + k) * (width_ - 1) + region_.left - k - 1;
      for (std::int64_t step = larger(begin, k + 1); step < end; ++step) tile.on[step - first][k] = from[step];
    }
  }

  void advance(std::int64_t row, std::int64_t rows, std::int64_t step, const Real *down, const Real *on, Real *sum,
               Value *front) const {
    const std::int64_t lowest = smaller(step, rows - 1), highest = larger<std::int64_t>(0, step - columns_ + 1);
    const bool above = row > region_.top && step < columns_;
    const Value edge = L::all(above ? p_[(row - 1) * width_ + region_.left + step] : -L::kInfinity);
    for (std::int64_t g = lowest / L::kCount; g >= highest / L::kCount; --g) {
      const Value up = L::moved(g == 0 ? edge : front[g - 1], front[g]);
      const std::int64_t lane = g * L::kCount;
      front[g] = add(up + L::read(down + lane), front[g] + L::read(on + lane));
      if (step == 0 && row == region_.top) L::set_first(front[g], 0);
      L::write(sum + lane, front[g]);
    }
  }

  // The logarithm of the sum of exp(x) and exp(y). NaN if x is, but x if y alone is.
  static Value add(Value x, Value y) {
    const auto less = x < y;
    const Value most = choose(less, y, x), apart = choose(less, x, y) - most;
    const Value negligible = L::all(L::kNegligible);
    const auto near = apart >= negligible;
    const Value sum = most + log_of_one_more(exponential(choose(near, apart, negligible)));
    return choose(near, sum, most);
  }

  void scatter(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count, const Tile &tile) {
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t begin = larger<std::int64_t>(first, k), end = smaller(first + count, columns_ + k);
      Real *const to = p_ + (row + k) * width_ + region_.left - k;
      for (std::int64_t step = begin; step < end; ++step) to[step] = tile.sum[step - first][k];
    }
  }

  const Region region_;
  const std::int64_t width_;
  const Real *const px_, *const py_;
  Real *const p_, *const ans_;
  const std::int64_t columns_;
};

template <typename Real>
mluOpStatus_t forward(const MutualInformationForwardProblem &problem) {
  const MutualInformationTables &t = problem.tables;
  const Scratch<Region> regions(t.batches);
  if (regions.data() == nullptr) return out_of_memory(problem.function);
  MLUOPS_TRY(read_regions(problem.function, t, regions.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  auto run = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t b = begin; b < end && !poll.interrupted(16); ++b)
      Forward<Real>(problem, b, regions.data()[b]).run(poll);
  };
  parallel_for(t.batches, (1 << 13) / cells_of(t) + 1, run);
  return MLUOP_STATUS_SUCCESS;
}

// ---- Backward ----------------------------------------------------------------------------------

template <typename Real>
class Backward {
  using L = Lanes_<Real>;
  using Value = typename L::Value;

 public:
  Backward(const MutualInformationBackwardProblem &problem, std::int64_t batch, const Region &region)
      : region_(region),
        rows_(problem.tables.rows),
        width_(problem.tables.columns + 1),
        px_(static_cast<const Real *>(problem.tables.px) + batch * rows_ * width_),
        py_(static_cast<const Real *>(problem.tables.py) + batch * (rows_ + 1) * (width_ - 1)),
        p_(static_cast<const Real *>(problem.p) + batch * cells_of(problem.tables)),
        px_grad_(static_cast<Real *>(problem.px_grad) + batch * rows_ * width_),
        py_grad_(static_cast<Real *>(problem.py_grad) + batch * (rows_ + 1) * (width_ - 1)),
        ans_grad_(static_cast<Real *>(problem.ans_grad) + batch),
        overwrite_(problem.overwrite) {}

  // Writes which part of the gradient of a neighbour a row hands on, 0 beside the region.
  void find_parts(std::int64_t row) const {
    const bool inside = !region_.empty() && row >= region_.top && row <= region_.bottom;
    const Real *const here = p_ + row * width_;
    if (row < rows_) {
      const bool some = inside && row < region_.bottom;
      write_parts(px_ + row * width_, here, here + width_, some ? region_.left : width_,
                  some ? region_.right + 1 : width_, width_, px_grad_ + row * width_);
    }
    const std::int64_t steps = width_ - 1;
    write_parts(py_ + row * steps, here, here + 1, inside ? region_.left : steps, inside ? region_.right : steps, steps,
                py_grad_ + row * steps);
  }

  // Multiplies the parts with the gradients of the neighbours, from the end of the region on.
  // `memory` has room for a row.
  void spread(Real *memory, InterruptPoll &poll) const {
    if (region_.empty()) return;
    const std::int64_t columns = region_.right - region_.left + 1;
    for (std::int64_t row = region_.bottom; row >= region_.top; --row) {
      if (poll.interrupted(2 * columns)) return;
      if (row == region_.bottom) {
        for (std::int64_t c = 0; c < columns - 1; ++c) memory[c] = 0;
        memory[columns - 1] = *ans_grad_;
      } else {
        Real *const parts = px_grad_ + row * width_ + region_.left;
        for (std::int64_t c = 0; c < columns; ++c) parts[c] = memory[c] = parts[c] * memory[c];
      }
      Real *const parts = py_grad_ + row * (width_ - 1) + region_.left;
      Real gradient = memory[columns - 1];
      for (std::int64_t c = columns - 2; c >= 0; --c) {
        parts[c] *= gradient;
        gradient = memory[c] + parts[c];
        memory[c] = gradient;
      }
    }
    if (overwrite_) *ans_grad_ = memory[0];
  }

 private:
  // to[i] is the exponential of here + step - next for begin <= i < end, and 0 elsewhere up to
  // `count`.
  static void write_parts(const Real *step, const Real *here, const Real *next, std::int64_t begin, std::int64_t end,
                          std::int64_t count, Real *to) {
    for (std::int64_t i = 0; i < begin; ++i) to[i] = 0;
    std::int64_t i = begin;
    for (; i + L::kCount <= end; i += L::kCount)
      L::write(to + i, part(L::read(step + i), L::read(here + i), L::read(next + i)));
    if (i < end) {
      Real values[3][L::kCount] = {}, found[L::kCount];
      const std::size_t bytes = static_cast<std::size_t>(end - i) * sizeof(Real);
      std::memcpy(values[0], step + i, bytes);
      std::memcpy(values[1], here + i, bytes);
      std::memcpy(values[2], next + i, bytes);
      L::write(found, part(L::read(values[0]), L::read(values[1]), L::read(values[2])));
      std::memcpy(to + i, found, bytes);
    }
    for (i = end; i < count; ++i) to[i] = 0;
  }

  static Value part(Value step, Value here, Value next) {
    return finite_exponential((step + at_least(here)) - at_least(next));
  }

  static Value at_least(Value p) {
    const Value least = L::all(static_cast<Real>(-1e30));
    return choose(p < least, least, p);
  }

  // exp(x), or 0 where that or x is not finite. The square of exp(x / 2) reaches all floats.
  static Value finite_exponential(Value x) {
    const Value most = L::all(1500);
    const Value root = exponential_of_half(choose(x > most, most, x)), found = root * root;
    return choose(found - found == 0, found, L::all(0));
  }

  static Vector exponential_of_half(Vector x) {
    const Vector half = 0.5f * x, most = all_lanes(88);
    return exponential(choose(half > most, most, half));
  }
  static double exponential_of_half(double x) { return exponential(0.5 * x); }

  const Region region_;
  const std::int64_t rows_, width_;
  const Real *const px_, *const py_, *const p_;
  Real *const px_grad_, *const py_grad_, *const ans_grad_;
  const bool overwrite_;
};

template <typename Real>
mluOpStatus_t backward(const MutualInformationBackwardProblem &problem) {
  const MutualInformationTables &t = problem.tables;
  const std::int64_t slots = useful_slots(t.batches, 2 * cells_of(t)), width = t.columns + 1;
  const Scratch<Region> regions(t.batches);
  const Scratch<Real> memory(slots * width);
  if (regions.data() == nullptr || memory.data() == nullptr) return out_of_memory(problem.function);
  MLUOPS_TRY(read_regions(problem.function, t, regions.data()));
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  auto find = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end && !poll.interrupted(4 * width); ++i) {
      const std::int64_t b = i / (t.rows + 1);
      Backward<Real>(problem, b, regions.data()[b]).find_parts(i % (t.rows + 1));
    }
  };
  parallel_for(t.batches * (t.rows + 1), (1 << 13) / width + 1, find);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  parallel_slots(t.batches, slots, [&](int slot, std::int64_t b) {
    InterruptPoll poll;
    if (interrupted()) return;
    Backward<Real>(problem, b, regions.data()[b]).spread(memory.data() + slot * width, poll);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t mutual_information_forward(const MutualInformationForwardProblem &problem) {
  return problem.tables.is_double ? forward<double>(problem) : forward<float>(problem);
}

mluOpStatus_t mutual_information_backward(const MutualInformationBackwardProblem &problem) {
  return problem.tables.is_double ? backward<double>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_mutual_information_forward, mutual_information_forward,
                          MutualInformationForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_mutual_information_backward, mutual_information_backward,
                          MutualInformationBackwardProblem, problem.function);
