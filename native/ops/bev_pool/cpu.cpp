// BevPool on the CPU, in float and in double. A task owns a band of cells, or of rows, and looks at
// all intervals, so there are no atomics and one order of additions, whatever the division.
#include "cpu/kernel.h"
#include "cpu/nontemporal.h"
#include "ops/bev_pool/bev_pool.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBandsPerThread = 4;
constexpr std::int64_t kValuesPerBand = 16384;
constexpr std::int64_t kRun = 1 << 14;  // channels between two polls
constexpr std::int64_t kTile = 512;     // channels of a row that are written together

// Rows start .. end; none where they do not count.
struct Interval {
  Interval(const BevPoolGeometry &g, std::int64_t number) {
    start = read_once(g.starts + number);
    end = start + read_once(g.lengths + number);
    counts = start >= 0 && start < end && end <= g.rows;
  }
  std::int64_t start, end;
  bool counts;
};

// The cell of a row, -1 beyond the grid.
inline std::int64_t cell_of(const BevPoolGeometry &g, std::int64_t row) {
  const std::int32_t *const place = g.places + 4 * row;
  const std::int64_t h = read_once(place), w = read_once(place + 1), d = read_once(place + 2);
  const std::int64_t b = read_once(place + 3);
  const bool inside = h >= 0 && h < g.height && w >= 0 && w < g.width && d >= 0 && d < g.depth;
  return inside && b >= 0 && b < g.batches ? ((b * g.depth + d) * g.height + h) * g.width + w : -1;
}

inline std::int64_t bands_of(std::int64_t rows, std::int64_t channels) {
  const std::int64_t worth = rows * channels / kValuesPerBand + 1;
  const std::int64_t threads = thread_count(), wanted = threads > 1 ? threads * kBandsPerThread : 1;
  return smaller(smaller(wanted, rows), worth);
}

// These return false if the call was interrupted.
template <typename Real>
bool clear(Real *to, std::int64_t count, InterruptPoll &poll) {
  for (std::int64_t i = 0; i < count; i += kRun) {
    if (poll.interrupted(kRun)) return false;
    std::memset(to + i, 0, static_cast<std::size_t>(smaller(kRun, count - i)) * sizeof(Real));
  }
  return true;
}

template <typename Real>
bool add(Real *__restrict to, const Real *from, std::int64_t count, InterruptPoll &poll) {
  for (std::int64_t i = 0; i < count; i += kRun) {
    const std::int64_t run = smaller(kRun, count - i);
    if (poll.interrupted(run)) return false;
    for (std::int64_t j = i; j < i + run; ++j) to[j] += from[j];
  }
  return true;
}

// Writes the cell of each interval, -1 where it does not count.
void find_cells(const BevPoolGeometry &g, std::int32_t *cells) {
  auto find = [&](std::int64_t begin, std::int64_t end) {
    for_slices(begin, end, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t number = first; number < last; ++number) {
        const Interval interval(g, number);
        cells[number] = interval.counts ? static_cast<std::int32_t>(cell_of(g, interval.start)) : -1;
      }
    });
  };
  parallel_for(g.intervals, kValuesPerBand, find);
}

template <typename Real>
mluOpStatus_t sum(const BevPoolForwardProblem &problem) {
  const BevPoolGeometry &g = problem.geometry;
  const Scratch<std::int32_t> cells(g.intervals);
  if (cells.data() == nullptr) return out_of_memory(problem.function);
  find_cells(g, cells.data());
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  const Real *const features = static_cast<const Real *>(problem.features);
  Real *const output = static_cast<Real *>(problem.output);
  const std::int64_t count = g.batches * g.depth * g.height * g.width, bands = bands_of(count, g.channels);
  auto add_band = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    const std::int64_t first = begin * count / bands, last = end * count / bands;
    if (!clear(output + first * g.channels, (last - first) * g.channels, poll)) return;
    for (std::int64_t number = 0; number < g.intervals; ++number) {
      if (poll.interrupted(1)) return;
      const std::int64_t cell = cells.data()[number];
      if (cell < first || cell >= last) continue;
      const Interval interval(g, number);  // which may have changed
      for (std::int64_t row = interval.start; interval.counts && row < interval.end; ++row)
        if (!add(output + cell * g.channels, features + row * g.channels, g.channels, poll)) return;
    }
  };
  parallel_for(bands, 1, add_band);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real>
class Spread {
 public:
  explicit Spread(const BevPoolBackwardProblem &problem)
      : g_(problem.geometry),
        gradient_(static_cast<const Real *>(problem.grad_output)),
        features_(static_cast<Real *>(problem.grad_features)),
        bands_(bands_of(g_.rows, g_.channels)),
        nontemporal_(g_.rows * g_.channels * static_cast<std::int64_t>(sizeof(Real)) >= streaming_bytes()) {}

  std::int64_t bands() const { return bands_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    const std::int64_t first = begin * g_.rows / bands_, last = end * g_.rows / bands_;
    float *const to = reinterpret_cast<float *>(features_ + first * g_.channels);
    if (nontemporal_ ? write(NontemporalSink(to), first, last, poll) : write(CachedSink(to), first, last, poll)) return;
    if (!clear(features_ + first * g_.channels, (last - first) * g_.channels, poll)) return;
    for (std::int64_t number = 0; number < g_.intervals && !poll.interrupted(4); ++number) {
      const Interval interval(g_, number);
      if (!interval.counts || interval.end <= first || interval.start >= last) continue;
      const std::int64_t cell = cell_of(g_, interval.start), end_row = smaller(interval.end, last);
      for (std::int64_t row = larger(interval.start, first); cell >= 0 && row < end_row; ++row)
        if (!add(features_ + row * g_.channels, gradient_ + cell * g_.channels, g_.channels, poll)) return;
    }
  }

 private:
  static constexpr std::int64_t kFloats = sizeof(Real) / sizeof(float);

  // Writes each row of the band once, if the intervals follow each other, as they do in a model;
  // else stops at the first one that does not, and returns false.
  template <typename Sink>
  bool write(Sink sink, std::int64_t first, std::int64_t last, InterruptPoll &poll) const {
    std::int64_t next = first;
    bool follow = true;
    for (std::int64_t number = 0; number < g_.intervals && !poll.interrupted(4); ++number) {
      const Interval interval(g_, number);
      if (!interval.counts || interval.end <= first || interval.start >= last) continue;
      const std::int64_t cell = cell_of(g_, interval.start), from = larger(interval.start, first);
      if (cell < 0) continue;
      follow = from >= next;
      if (!follow) break;
      write_zeros(sink, (from - next) * g_.channels, poll);
      next = smaller(interval.end, last);
      write_rows(sink, gradient_ + cell * g_.channels, next - from, poll);
    }
    if (follow) write_zeros(sink, (last - next) * g_.channels, poll);
    sink.finish();
    return follow;
  }

  template <typename Sink>
  static void write_zeros(Sink &sink, std::int64_t count, InterruptPoll &poll) {
    for (std::int64_t i = 0; i < count && !poll.interrupted(kRun); i += kRun)
      sink.zeros(smaller(kRun, count - i) * kFloats);
  }

  // Writes the same row some times; its sum with 0 has no negative zero.
  template <typename Sink>
  void write_rows(Sink &sink, const Real *row, std::int64_t times, InterruptPoll &poll) const {
    // The sinks may copy a whole vector.
    alignas(kCacheLine) float tile[kTile * kFloats + kCacheLine / sizeof(float)] = {};
    for (std::int64_t time = 0; time < times; ++time) {
      for (std::int64_t c = 0; c < g_.channels; c += kTile) {
        const std::int64_t count = smaller(kTile, g_.channels - c);
        if (poll.interrupted(count)) return;
        if (time == 0 || g_.channels > kTile) {
          for (std::int64_t i = 0; i < count; ++i) {
            const Real value = row[c + i] + 0;
            std::memcpy(tile + i * kFloats, &value, sizeof value);
          }
        }
        sink.values(tile, count * kFloats);
      }
    }
  }

  const BevPoolGeometry &g_;
  const Real *const gradient_;
  Real *const features_;
  const std::int64_t bands_;
  const bool nontemporal_;
};

template <typename Real>
mluOpStatus_t spread(const BevPoolBackwardProblem &problem) {
  Spread<Real> each(problem);
  parallel_for(each.bands(), 1, each);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t bev_pool_forward(const BevPoolForwardProblem &problem) {
  return problem.geometry.is_double ? sum<double>(problem) : sum<float>(problem);
}

mluOpStatus_t bev_pool_backward(const BevPoolBackwardProblem &problem) {
  return problem.geometry.is_double ? spread<double>(problem) : spread<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_bev_pool_forward, bev_pool_forward, BevPoolForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_bev_pool_backward, bev_pool_backward, BevPoolBackwardProblem, problem.function);
