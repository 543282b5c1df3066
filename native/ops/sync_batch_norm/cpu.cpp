// Sums of batch normalisation on the CPU: two sums a channel, in double, of float sums over blocks
// of few values. Where a channel has many values side by side, they go to sixteen partial sums in
// turn; where it has few, each column of [N, C * S] has a sum of its own. Both orders, and the
// pieces that the values are cut into, depend on the sizes alone.
#include "ops/sync_batch_norm/cpu_sums.h"
#include "ops/sync_batch_norm/sync_batch_norm.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kShortest = 16;    // values of a channel side by side that make it a row
constexpr std::int64_t kPiece = 131072;   // values of a piece
constexpr std::int64_t kLongest = 65536;  // values of a row in one piece

inline std::int64_t parts(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

inline std::int64_t between(std::int64_t value, std::int64_t least, std::int64_t most) {
  return larger(smaller(value, most), least);
}

// How the values [N, C, S] are cut into pieces. The columns of a partial sum are channels, or
// where these are short, channels and their values.
class Pieces {
 public:
  explicit Pieces(const ChannelShape &shape)
      : long_(shape.inner >= kShortest),
        batches_(shape.batches),
        inner_(long_ ? shape.inner : 1),
        columns(long_ ? shape.channels : shape.channels * shape.inner) {
    run_ = smaller(inner_, kLongest);
    width_ = long_ ? between(kPiece / run_, 1, smaller(columns, kChannelsOfPiece)) : smaller(columns, kColumnsOfPiece);
    height_ = between(kPiece / (run_ * width_), long_ ? 1 : smaller<std::int64_t>(batches_, 64), batches_);
    runs_ = parts(inner_, run_);
    bands_ = parts(columns, width_);
  }

  std::int64_t count() const { return parts(batches_, height_) * runs_ * bands_; }
  // Partial sums that a column has, one after another in the order of the values.
  std::int64_t chunks() const { return parts(batches_, height_) * runs_; }

  // `partial` has the first and the second sums of all columns for each chunk.
  template <typename Kind>
  void add(const Kind &terms, std::int64_t number, const typename Kind::Real *constants, double *partial) const {
    const std::int64_t chunk = number / bands_, column = number % bands_ * width_;
    const std::int64_t batch = chunk / runs_ * height_, begin = chunk % runs_ * run_;
    const std::int64_t rows = smaller(height_, batches_ - batch), width = smaller(width_, columns - column);
    double *const firsts = partial + chunk * 2 * columns + column, *const seconds = firsts + columns;
    if (long_) {
      Sums sums[kChannelsOfPiece];
      for (std::int64_t row = batch; row < batch + rows; ++row) {
        for (std::int64_t c = 0; c < width; ++c) {
          const std::int64_t at = (row * columns + column + c) * inner_ + begin, count = smaller(run_, inner_ - begin);
          for (std::int64_t i = 0; i < count; i += kBlock)
            add_block(terms, at + i, smaller(kBlock, count - i), constants[column + c], &sums[c]);
        }
      }
      for (std::int64_t c = 0; c < width; ++c) {
        firsts[c] = total(sums[c].first) + sums[c].first_rest;
        seconds[c] = total(sums[c].second) + sums[c].second_rest;
      }
      return;
    }
    for (std::int64_t c = 0; c < width; ++c) firsts[c] = seconds[c] = 0;
    ColumnBlock<Kind> block(terms, columns, width);
    for (std::int64_t row = 0; row < rows; row += kRowsOfBlock) {
      block.add((batch + row) * columns + column, smaller(kRowsOfBlock, rows - row), constants + column, firsts,
                seconds);
    }
  }

 private:
  const bool long_;
  const std::int64_t batches_, inner_;
  std::int64_t run_, width_, height_, runs_, bands_;

 public:
  const std::int64_t columns;
};

// Finds both sums of each channel and hands them to `finish(channel, first, second)`. `constant` is
// the number of a channel that the terms need.
template <typename Kind, typename Constant, typename Finish>
mluOpStatus_t sum_up(const char *function, const ChannelShape &shape, const Kind &terms, const Constant &constant,
                     const Finish &finish) {
  const Pieces pieces(shape);
  const Scratch<typename Kind::Real> constants(pieces.columns);
  const Scratch<double> partial(pieces.chunks() * 2 * pieces.columns);
  if (constants.data() == nullptr || partial.data() == nullptr) return out_of_memory(function);
  const std::int64_t each = pieces.columns / shape.channels;  // columns of a channel
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const typename Kind::Real value = constant(c);
    for (std::int64_t i = 0; i < each; ++i) constants.data()[c * each + i] = value;
  }
  auto some = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      if (poll.interrupted(kPiece)) return;
      pieces.add(terms, number, constants.data(), partial.data());
    }
  };
  parallel_for(pieces.count(), 1, some);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  auto join = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      double first = 0, second = 0;
      for (std::int64_t chunk = 0; chunk < pieces.chunks(); ++chunk) {
        const double *const from = partial.data() + chunk * 2 * pieces.columns + c * each;
        for (std::int64_t i = 0; i < each; ++i) {
          first += from[i];
          second += from[pieces.columns + i];
        }
      }
      finish(c, first, second);
    }
  };
  parallel_for(shape.channels, 16384 / (pieces.chunks() * each) + 1, join);
  return MLUOP_STATUS_SUCCESS;
}

inline double root(double value) { return __builtin_sqrt(value); }

// Real is the type of the numbers of a channel.
template <typename T, typename Real>
mluOpStatus_t find_stats(const ChannelStatsProblem &p) {
  Moments<T> terms;
  terms.x = static_cast<const T *>(p.x);
  const double count = static_cast<double>(p.shape.batches) * static_cast<double>(p.shape.inner);
  const Scratch<Real> shifts(p.shape.channels);
  if (shifts.data() == nullptr) return out_of_memory(p.function);
  for (std::int64_t c = 0; c < p.shape.channels; ++c) shifts.data()[c] = terms.one_constant(c * p.shape.inner, 0);
  return sum_up(
      p.function, p.shape, terms, [&](std::int64_t c) { return shifts.data()[c]; },
      [&](std::int64_t c, double first, double second) {
        const double mean = first / count, var = second / count - mean * mean;
        static_cast<Real *>(p.mean)[c] = static_cast<Real>(exact(shifts.data()[c]) + mean);
        static_cast<Real *>(p.invstd)[c] = static_cast<Real>(1 / root((var < 0 ? 0 : var) + p.eps));
      });
}

template <typename T, typename Real>
mluOpStatus_t find_sums(const ChannelSumsProblem &p) {
  const Real *const means = static_cast<const Real *>(p.mean), *const invstds = static_cast<const Real *>(p.invstd);
  auto put = [](void *to, std::int64_t c, double value) {
    if (to != nullptr) static_cast<Real *>(to)[c] = static_cast<Real>(value);
  };
  if (p.shape.batches == 0) {
    for (std::int64_t c = 0; c < p.shape.channels; ++c) {
      put(p.dfilter, c, 0);
      put(p.dbias, c, 0);
      put(p.sum_dy, c, 0);
      put(p.sum_dy_xmu, c, 0);
    }
    return MLUOP_STATUS_SUCCESS;
  }
  Products<T> terms;
  terms.dz = static_cast<const T *>(p.dz);
  terms.x = static_cast<const T *>(p.x);
  return sum_up(
      p.function, p.shape, terms, [&](std::int64_t c) { return means[c]; },
      [&](std::int64_t c, double first, double second) {
        put(p.dfilter, c, second * static_cast<double>(invstds[c]));
        put(p.dbias, c, first);
        put(p.sum_dy, c, first);
        put(p.sum_dy_xmu, c, second);
      });
}

// Joins the statistics of devices. Moving is the type of the counts and of the running statistics.
template <typename Real, typename Moving>
class Gather {
 public:
  static constexpr std::int64_t kBlock = 128;  // channels, whose sums stay in the cache

  explicit Gather(const GatherStatsProblem &problem)
      : p_(problem),
        means_(static_cast<const Real *>(problem.mean_all)),
        invstds_(static_cast<const Real *>(problem.invstd_all)),
        counts_(static_cast<const Moving *>(problem.count_all)) {
    for (std::int64_t d = 0; d < p_.devices; ++d) all_ += exact(counts_[d]);
  }

  // Two passes over the devices: the mean, then the variance about it.
  void block(std::int64_t begin) const {
    constexpr int kMost = kBlock / kDoubleLanes;
    const std::int64_t width = smaller(kBlock, p_.channels - begin);
    DoubleVector means[kMost] = {}, vars[kMost] = {};
    for (std::int64_t d = 0; d < p_.devices; ++d) {
      const double count = exact(counts_[d]);
      for (std::int64_t v = 0; v * kDoubleLanes < width; ++v)
        means[v] += some(means_, d, begin + v * kDoubleLanes) * count;
    }
    for (int v = 0; v < kMost; ++v) means[v] /= all_;
    for (std::int64_t d = 0; d < p_.devices; ++d) {
      const double count = exact(counts_[d]);
      for (std::int64_t v = 0; v * kDoubleLanes < width; ++v) {
        const std::int64_t channel = begin + v * kDoubleLanes;
        const DoubleVector invstd = some(invstds_, d, channel), own = 1 / (invstd * invstd) - p_.eps;
        const DoubleVector apart = some(means_, d, channel) - means[v];
        vars[v] += ((own < 0 ? DoubleVector{} : own) + apart * apart) * count;
      }
    }
    for (std::int64_t c = 0; c < width; ++c)
      write(begin + c, means[c / kDoubleLanes][c % kDoubleLanes], vars[c / kDoubleLanes][c % kDoubleLanes] / all_);
  }

 private:
  DoubleVector some(const Real *from, std::int64_t device, std::int64_t channel) const {
    const Real *const place = from + device * p_.channels + channel;
    return channel + kDoubleLanes <= p_.channels ? widen(place) : widen_some(place, p_.channels - channel);
  }

  void write(std::int64_t c, double mean, double var) const {
    const double unbiased = var * all_ / (all_ - 1);
    move(p_.moving_mean, c, mean);
    move(p_.moving_var, c, unbiased);
    static_cast<Real *>(p_.mean)[c] = static_cast<Real>(mean);
    static_cast<Real *>(p_.invstd)[c] = static_cast<Real>(1 / root(var + p_.eps));
    if (p_.var != nullptr) static_cast<Real *>(p_.var)[c] = static_cast<Real>(unbiased);
  }

  void move(void *moving, std::int64_t c, double value) const {
    if (moving == nullptr) return;
    Moving *const place = static_cast<Moving *>(moving) + c;
    const double moved = p_.momentum * value + (1 - p_.momentum) * exact(*place);
    if constexpr (sizeof(Moving) == sizeof(double))
      *place = moved;
    else
      store(place, static_cast<float>(moved));
  }

  const GatherStatsProblem &p_;
  const Real *const means_, *const invstds_;
  const Moving *const counts_;
  double all_ = 0;
};

template <typename Real, typename Moving>
mluOpStatus_t gather(const GatherStatsProblem &p) {
  typedef Gather<Real, Moving> Of;
  const Of of(p);
  auto some = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      if (poll.interrupted(2 * p.devices * Of::kBlock)) return;
      of.block(number * Of::kBlock);
    }
  };
  parallel_for(parts(p.channels, Of::kBlock), 8192 / (p.devices * Of::kBlock) + 1, some);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t channel_stats(const ChannelStatsProblem &problem) {
  if (problem.shape.dtype == MLUOP_DTYPE_DOUBLE) return find_stats<double, double>(problem);
  if (problem.shape.dtype == MLUOP_DTYPE_HALF) return find_stats<Half, float>(problem);
  return find_stats<float, float>(problem);
}

mluOpStatus_t channel_sums(const ChannelSumsProblem &problem) {
  if (problem.shape.dtype == MLUOP_DTYPE_DOUBLE) return find_sums<double, double>(problem);
  if (problem.shape.dtype == MLUOP_DTYPE_HALF) return find_sums<Half, float>(problem);
  return find_sums<float, float>(problem);
}

mluOpStatus_t gather_stats(const GatherStatsProblem &problem) {
  if (problem.dtype == MLUOP_DTYPE_DOUBLE) return gather<double, double>(problem);
  if (problem.moving_dtype == MLUOP_DTYPE_HALF) return gather<float, Half>(problem);
  return gather<float, float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_channel_stats, channel_stats, ChannelStatsProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_channel_sums, channel_sums, ChannelSumsProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_gather_stats, gather_stats, GatherStatsProblem, problem.function);
