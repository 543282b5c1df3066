// PsRoiPool on the CPU, in float and in double. The channels of a bin stand bins^2 apart in the
// map. Where bins overlap so much that the map is read several times, it is first sorted into a map
// for each bin, in which they lie side by side.
#include "cpu/kernel.h"
#include "ops/ps_roi_pool/ps_roi_pool.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTile = 128;  // channels that are added up at once
constexpr std::int64_t kValuesPerPiece = 16384;

// Half away from zero.
template <typename Real>
Real rounded(Real value) {
  const Real size = value < 0 ? -value : value;
  if (!(size < static_cast<Real>(std::int64_t{1} << 50))) return value;  // whole, or not finite
  const Real whole = static_cast<Real>(static_cast<std::int64_t>(size));
  const Real near = size - whole >= static_cast<Real>(0.5) ? whole + 1 : whole;
  return value < 0 ? -near : near;
}

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end > begin ? end - begin : 0; }
};

// One axis of a region: where its bins begin, and how long they are.
template <typename Real>
struct Axis {
  Axis(Real from, Real to, Real scale, std::int64_t bins) {
    start = rounded(from) * scale;
    const Real length = (rounded(to) + 1) * scale - start;
    finite = start - start == 0 && length - length == 0;
    step = (length < static_cast<Real>(0.1) ? static_cast<Real>(0.1) : length) / static_cast<Real>(bins);
  }

  // The pixels that a bin touches.
  Range bin(std::int64_t number, std::int64_t extent) const {
    if (!finite) return {0, 0};
    const Real low = static_cast<Real>(number) * step + start, high = static_cast<Real>(number + 1) * step + start;
    const Real most = static_cast<Real>(extent);
    Range range{extent, 0};
    if (low < most) range.begin = low > 0 ? static_cast<std::int64_t>(low) : 0;
    if (high > 0) {
      range.end = high < most ? static_cast<std::int64_t>(high) : extent;
      if (high < most && static_cast<Real>(range.end) < high) ++range.end;
    }
    return range;
  }

  Real start, step;
  bool finite;
};

template <typename Real>
struct Region {
  Region(const PsRoiPoolGeometry &g, const void *rois, std::int64_t number)
      : Region(g, static_cast<const Real *>(rois) + number * 5) {}
  Region(const PsRoiPoolGeometry &g, const Real *row)
      : y(read_once(row + 2), read_once(row + 4), static_cast<Real>(g.spatial_scale), g.bins),
        x(read_once(row + 1), read_once(row + 3), static_cast<Real>(g.spatial_scale), g.bins) {
    const Real number = read_once(row);
    if (number > -1 && number < static_cast<Real>(g.batches)) image = static_cast<std::int64_t>(number);
    if (image >= g.batches) image = -1;
  }
  std::int64_t image = -1;  // -1: none
  Axis<Real> y, x;
};

// The pixels of all bins of all regions together, in maps.
template <typename Real>
double pixels_of_bins(const PsRoiPoolGeometry &g, const void *rois) {
  double count = 0;
  InterruptPoll poll;
  for (std::int64_t r = 0; r < g.regions && !poll.interrupted(4 * g.bins); ++r) {
    const Region<Real> region(g, rois, r);
    double rows = 0, columns = 0;
    for (std::int64_t i = 0; i < g.bins && region.image >= 0; ++i) {
      rows += static_cast<double>(region.y.bin(i, g.height).size());
      columns += static_cast<double>(region.x.bin(i, g.width).size());
    }
    count += rows * columns;
  }
  return count;
}

// Where the channels of a bin stand: those of pixel p from data + p * pixel on, `next` apart.
template <typename Real>
struct Channels {
  const Real *data;
  std::int64_t pixel, next;
};

// The map as it is given.
template <typename Real>
struct Interleaved {
  const PsRoiPoolForwardProblem &problem;
  Channels<Real> of(std::int64_t image, std::int64_t bin) const {
    const PsRoiPoolGeometry &g = problem.geometry;
    return {static_cast<const Real *>(problem.input) + image * g.height * g.width * g.channels() + bin, g.channels(),
            g.bins * g.bins};
  }
};

// A map for each bin: [batches, bins^2, height, width, depth].
template <typename Real>
struct Sorted {
  const PsRoiPoolGeometry &g;
  const Real *maps;
  Channels<Real> of(std::int64_t image, std::int64_t bin) const {
    return {maps + (image * g.bins * g.bins + bin) * g.height * g.width * g.depth, g.depth, 1};
  }
};

// Pixels are counted through all images.
template <typename Real>
void sort(const PsRoiPoolForwardProblem &problem, Real *maps) {
  const PsRoiPoolGeometry &g = problem.geometry;
  const std::int64_t squares = g.bins * g.bins, pixels = g.height * g.width;
  auto pixel = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end && !poll.interrupted(g.channels()); ++number) {
      const Real *from = static_cast<const Real *>(problem.input) + number * g.channels();
      Real *const to = maps + (number / pixels * squares * pixels + number % pixels) * g.depth;
      for (std::int64_t bin = 0; bin < squares; ++bin) {
        for (std::int64_t d = 0; d < g.depth; ++d) to[bin * pixels * g.depth + d] = from[d * squares + bin];
      }
    }
  };
  parallel_for(g.batches * pixels, kValuesPerPiece / g.channels() + 1, pixel);
}

template <typename Real, typename Source>
class Forward {
 public:
  Forward(const PsRoiPoolForwardProblem &problem, const Source &source)
      : problem_(problem), g_(problem.geometry), source_(source) {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t squares = g_.bins * g_.bins;
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t bin = number % squares;
      const Region<Real> region(g_, problem_.rois, number / squares);
      const Range rows = region.y.bin(bin / g_.bins, g_.height), columns = region.x.bin(bin % g_.bins, g_.width);
      for (std::int64_t d = 0; d < g_.depth; d += kTile) {
        const std::int64_t count = smaller(kTile, g_.depth - d);
        if (poll.interrupted(2 * count)) return;
        name_channels(number, bin, d, count);
        Real sums[kTile] = {};
        if (region.image >= 0 && !add(source_.of(region.image, bin), rows, columns, d, count, sums, poll)) return;
        const Real area = static_cast<Real>(larger<std::int64_t>(rows.size() * columns.size(), 1));
        Real *const output = static_cast<Real *>(problem_.output) + number * g_.depth + d;
        for (std::int64_t i = 0; i < count; ++i) output[i] = sums[i] / area;
      }
    }
  }

 private:
  void name_channels(std::int64_t number, std::int64_t bin, std::int64_t first, std::int64_t count) const {
    std::int32_t *const mapping = problem_.mapping + number * g_.depth + first;
    for (std::int64_t i = 0; i < count; ++i)
      mapping[i] = static_cast<std::int32_t>((first + i) * g_.bins * g_.bins + bin);
  }

  // False if the call was interrupted.
  bool add(const Channels<Real> &channels, const Range &rows, const Range &columns, std::int64_t first,
           std::int64_t count, Real *__restrict sums, InterruptPoll &poll) const {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t column = columns.begin; column < columns.end; ++column) {
        if (poll.interrupted(count)) return false;
        const Real *from = channels.data + (row * g_.width + column) * channels.pixel + first * channels.next;
        if (channels.next == 1) {
          for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i];
        } else {
          for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i * channels.next];
        }
      }
    }
    return true;
  }

  const PsRoiPoolForwardProblem &problem_;
  const PsRoiPoolGeometry &g_;
  const Source source_;
};

template <typename Real, typename Source>
mluOpStatus_t pool_from(const PsRoiPoolForwardProblem &problem, const Source &source) {
  const PsRoiPoolGeometry &g = problem.geometry;
  Forward<Real, Source> forward(problem, source);
  parallel_for(g.regions * g.bins * g.bins, kValuesPerPiece / (8 * g.depth) + 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real>
mluOpStatus_t pool(const PsRoiPoolForwardProblem &problem) {
  const PsRoiPoolGeometry &g = problem.geometry;
  const std::int64_t pixels = g.batches * g.height * g.width;
  // Sorting reads and writes a value for each channel, a bin reads `depth` of them.
  const double all = static_cast<double>(pixels) * static_cast<double>(g.bins * g.bins);
  if (g.bins > 1 && pixels_of_bins<Real>(g, problem.rois) > 2 * all) {
    const Scratch<Real> maps(pixels * g.channels());
    if (maps.data() != nullptr) {  // without memory for it, the map stays as it is
      sort(problem, maps.data());
      return pool_from<Real>(problem, Sorted<Real>{g, maps.data()});
    }
  }
  return pool_from<Real>(problem, Interleaved<Real>{problem});
}

// A task owns a band of rows of one image, so there are no atomics and one order of additions,
// whatever the division.
template <typename Real>
class Backward {
 public:
  explicit Backward(const PsRoiPoolBackwardProblem &problem) : problem_(problem), g_(problem.geometry) {
    // Every band looks at all regions, so there are no more of them than threads need.
    const std::int64_t wanted = (thread_count() + g_.batches - 1) / g_.batches;
    const std::int64_t values = g_.height * g_.width * g_.channels() + g_.regions * g_.channels();
    bands_ = smaller(smaller(wanted, g_.height), values / kValuesPerPiece + 1);
    rows_ = (g_.height + bands_ - 1) / bands_;
  }

  std::int64_t tasks() const { return g_.batches * bands_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t top = task % bands_ * rows_;
      add_all(task / bands_, {smaller(top, g_.height), smaller(top + rows_, g_.height)});
    }
  }

 private:
  struct Shares {
    std::int32_t channel[kTile];
    Real value[kTile];
  };

  void add_all(std::int64_t image, const Range &band) const {
    const std::int64_t row = g_.width * g_.channels();
    Real *const map = static_cast<Real *>(problem_.bottom_grad) + image * g_.height * row;
    InterruptPoll poll;
    for (std::int64_t y = band.begin; y < band.end; ++y) {
      for (std::int64_t c = 0; c < row; c += kValuesPerPiece) {
        const std::int64_t count = smaller(kValuesPerPiece, row - c);
        if (poll.interrupted(count)) return;
        std::memset(map + y * row + c, 0, static_cast<std::size_t>(count) * sizeof(Real));
      }
    }
    for (std::int64_t r = 0; r < g_.regions; ++r) {
      if (poll.interrupted(8)) return;
      const Region<Real> region(g_, problem_.rois, r);
      if (region.image == image && !add_region(map, region, r, band, poll)) return;
    }
  }

  // False if the call was interrupted.
  bool add_region(Real *map, const Region<Real> &region, std::int64_t r, const Range &band, InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < g_.bins; ++i) {
      const Range rows = region.y.bin(i, g_.height);
      const Range here{larger(rows.begin, band.begin), smaller(rows.end, band.end)};
      if (here.size() == 0) continue;
      for (std::int64_t j = 0; j < g_.bins; ++j) {
        const Range columns = region.x.bin(j, g_.width);
        const std::int64_t place = ((r * g_.bins + i) * g_.bins + j) * g_.depth;
        for (std::int64_t d = 0; d < g_.depth && columns.size() > 0; d += kTile) {
          const std::int64_t count = smaller(kTile, g_.depth - d);
          Shares shares;
          find(place + d, count, rows.size() * columns.size(), &shares);
          if (!add(map, here, columns, shares, count, poll)) return false;
        }
      }
    }
    return true;
  }

  void find(std::int64_t place, std::int64_t count, std::int64_t area, Shares *shares) const {
    for (std::int64_t i = 0; i < count; ++i) {
      shares->channel[i] = read_once(problem_.mapping + place + i);
      shares->value[i] = static_cast<const Real *>(problem_.top_grad)[place + i] / static_cast<Real>(area);
    }
  }

  bool add(Real *map, const Range &rows, const Range &columns, const Shares &shares, std::int64_t count,
           InterruptPoll &poll) const {
    const std::int64_t channels = g_.channels();
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      for (std::int64_t x = columns.begin; x < columns.end; ++x) {
        if (poll.interrupted(count)) return false;
        Real *const pixel = map + (y * g_.width + x) * channels;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t channel = shares.channel[i];
          if (channel >= 0 && channel < channels) pixel[channel] += shares.value[i];
        }
      }
    }
    return true;
  }

  const PsRoiPoolBackwardProblem &problem_;
  const PsRoiPoolGeometry &g_;
  std::int64_t bands_, rows_;
};

template <typename Real>
mluOpStatus_t add_gradients(const PsRoiPoolBackwardProblem &problem) {
  Backward<Real> backward(problem);
  parallel_for(backward.tasks(), 1, backward);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t ps_roi_pool_forward(const PsRoiPoolForwardProblem &problem) {
  return problem.geometry.is_double ? pool<double>(problem) : pool<float>(problem);
}

mluOpStatus_t ps_roi_pool_backward(const PsRoiPoolBackwardProblem &problem) {
  return problem.geometry.is_double ? add_gradients<double>(problem) : add_gradients<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_ps_roi_pool_forward, ps_roi_pool_forward, PsRoiPoolForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_ps_roi_pool_backward, ps_roi_pool_backward, PsRoiPoolBackwardProblem,
                          problem.function);
