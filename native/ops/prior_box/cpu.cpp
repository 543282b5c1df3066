// PriorBox on the CPU, in float and double. All cells have the same boxes but for their centres, so
// a table has the distances of corners from these.
#include "cpu/vector.h"
#include "ops/prior_box/prior_box.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr double kNearOne = 1e-6;
constexpr std::int64_t kValuesPerTask = 8192;

template <typename Real>
class Priors {
 public:
  // `table` has room for four numbers of each box.
  Priors(const PriorBoxProblem &problem, Real *table) : p_(problem), table_(table) {
    const Real *const variances = static_cast<const Real *>(problem.variances);
    for (int k = 0; k < kPattern; ++k) variances_[k] = read_once(variances + k % 4);
    for (int k = 0; k < kPattern; ++k) sides_[k] = static_cast<Real>(k % 2 == 0 ? problem.im_width : problem.im_height);
    fill_table();
  }

  void cells(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t values = 4 * p_.boxes;
    for (std::int64_t cell = begin; cell < end; ++cell) {
      if (poll.interrupted(2 * values)) return;
      write_boxes(cell / p_.width, cell % p_.width, static_cast<Real *>(p_.output) + cell * values);
      write_variances(static_cast<Real *>(p_.var) + cell * values, values);
    }
  }

 private:
  static constexpr int kPattern = static_cast<int>(kLanes);
  static_assert(kLanes % 4 == 0, "a vector has whole boxes");

  void fill_table() {
    const Real *const ratios = static_cast<const Real *>(p_.aspect_ratios);
    for (std::int64_t i = 0; i < p_.min_count && found_ < p_.boxes && !interrupted(); ++i) {
      const double least = static_cast<double>(read_once(static_cast<const Real *>(p_.min_sizes) + i));
      if (p_.squares_first) {
        add(least / 2, least / 2);
        add_maximum(i, least);
      }
      for (std::int64_t j = 0; j < p_.ratio_count && found_ < p_.boxes; ++j) {
        const double ratio = static_cast<double>(read_once(ratios + j)), root = __builtin_sqrt(ratio);
        if (p_.squares_first && !(__builtin_fabs(ratio - 1) >= kNearOne)) continue;
        add(least * root / 2, least / root / 2);
      }
      if (!p_.squares_first) add_maximum(i, least);
    }
  }

  void add_maximum(std::int64_t i, double least) {
    if (!p_.has_maxima) return;
    const double most = static_cast<double>(read_once(static_cast<const Real *>(p_.max_sizes) + i));
    const double half = __builtin_sqrt(least * most) / 2;
    add(half, half);
  }

  // Ratios other than a single 1 may give more boxes than there is room for.
  void add(double half_width, double half_height) {
    if (found_ == p_.boxes) return;
    Real *const to = table_ + 4 * found_++;
    to[2] = static_cast<Real>(half_width);
    to[3] = static_cast<Real>(half_height);
    to[0] = -to[2];
    to[1] = -to[3];
  }

  void write_boxes(std::int64_t row, std::int64_t column, Real *to) const {
    const Real offset = static_cast<Real>(p_.offset);
    const Real x = (static_cast<Real>(column) + offset) * static_cast<Real>(p_.step_w);
    const Real y = (static_cast<Real>(row) + offset) * static_cast<Real>(p_.step_h);
    const std::int64_t values = 4 * found_;
    if constexpr (sizeof(Real) == sizeof(float)) {
      float centres[kLanes];
      for (int k = 0; k < kPattern; ++k) centres[k] = k % 2 == 0 ? x : y;
      const Vector centre = load(centres), side = load(sides_), one = all_lanes(1);
      for (std::int64_t i = 0; i < values; i += kLanes) {
        const std::int64_t count = smaller<std::int64_t>(kLanes, values - i);
        Vector part = (centre + load_some(table_ + i, count)) / side;
        if (p_.clip) {
          part = part < 0.0f ? one - one : part;
          part = part > 1.0f ? one : part;
        }
        store_some(to + i, part, count);
      }
    } else {
      for (std::int64_t i = 0; i < values; ++i) {
        const Real part = ((i % 2 == 0 ? x : y) + table_[i]) / sides_[i % 4];
        to[i] = !p_.clip ? part : part < 0 ? 0 : part > 1 ? 1 : part;
      }
    }
    // Fewer boxes than there is room for: the others are 0.
    for (std::int64_t i = values; i < 4 * p_.boxes; ++i) to[i] = 0;
  }

  void write_variances(Real *to, std::int64_t values) const {
    if constexpr (sizeof(Real) == sizeof(float)) {
      const Vector pattern = load(variances_);
      for (std::int64_t i = 0; i < values; i += kLanes)
        store_some(to + i, pattern, smaller<std::int64_t>(kLanes, values - i));
    } else {
      for (std::int64_t i = 0; i < values; ++i) to[i] = variances_[i % 4];
    }
  }

  const PriorBoxProblem &p_;
  Real *const table_;
  std::int64_t found_ = 0;
  Real variances_[kLanes];
  Real sides_[kLanes];
};

template <typename Real>
mluOpStatus_t run(const PriorBoxProblem &problem) {
  const Scratch<Real> table(4 * problem.boxes);
  if (table.data() == nullptr) return out_of_memory(problem.function);
  const Priors<Real> priors(problem, table.data());
  const std::int64_t grain = kValuesPerTask / (8 * problem.boxes) + 1;
  parallel_ranges(problem.height * problem.width, grain,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) { priors.cells(begin, end); });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t prior_box(const PriorBoxProblem &problem) {
  return problem.is_double ? run<double>(problem) : run<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_prior_box, prior_box, PriorBoxProblem, problem.function);
