// Means of bilinear samples in the bins of regions, and their gradient: what several operators do
// that differ in where the samples lie.
//
// Regions<T> tells that. `of(r)` is a Region, which has
//   image              number of its image, or -1 for none: its results are 0
//   mean               what sums are divided by
//   bin(i, j)          a bin
// A bin has
//   rows, columns      samples along its axes
//   kUpright           whether all samples of a row have the same y; if not, rows_near(sizes) are
//                      the rows that may lie on the map
//   row(number)        the samples of a row; its y(column) and x(column) rise, or fall, with the
//                      column, and y with the row if kUpright.
// UprightBin is the bin of regions that are not turned.
#ifndef MLUOPS_CPU_REGION_SAMPLES_H_
#define MLUOPS_CPU_REGION_SAMPLES_H_

#include "core/region_sizes.h"
#include "cpu/bilinear.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Every one is at least 1.
struct PoolSizes : RegionSizes {
  explicit PoolSizes(const RegionSizes &sizes) : RegionSizes(sizes) {}
  std::int64_t bins() const { return regions * rows * columns; }
};

struct Span {
  std::int64_t begin, end;
};

// The lowest number below `count` from which on `holds`, or `count`.
template <typename Predicate>
static inline std::int64_t first_that(std::int64_t count, const Predicate &holds) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Which of `count` places, which rise or fall, lie on a map. So the time of a call depends on the
// map and not on how far regions reach beside it.
template <typename Real, typename Place>
static inline Span places_inside(std::int64_t count, std::int64_t extent, const Place &place) {
  constexpr std::int64_t kFew = 32;
  if (count <= kFew) return {0, count};
  const Real most = static_cast<Real>(extent);
  const bool rises = place(0) <= place(count - 1);
  const std::int64_t begin =
      first_that(count, [&](std::int64_t i) { return rises ? place(i) >= -1 : place(i) <= most; });
  const std::int64_t end = first_that(count, [&](std::int64_t i) { return rises ? place(i) > most : place(i) < -1; });
  return {begin, larger(begin, end)};
}

template <typename Real, typename Row>
static inline Span columns_inside(const Row &row, std::int64_t columns, const PoolSizes &sizes) {
  const Span x = places_inside<Real>(columns, sizes.width, [&](std::int64_t i) { return row.x(i); });
  const Span y = places_inside<Real>(columns, sizes.height, [&](std::int64_t i) { return row.y(i); });
  return {larger(x.begin, y.begin), smaller(x.end, y.end)};
}

template <typename Real, typename Bin>
static inline Span rows_inside(const Bin &bin, const PoolSizes &sizes) {
  constexpr std::int64_t kFew = 32;
  if (bin.columns <= 0 || bin.rows <= kFew) return {0, bin.rows};
  if constexpr (!Bin::kUpright) return bin.rows_near(sizes);
  if constexpr (Bin::kUpright)
    return places_inside<Real>(bin.rows, sizes.height, [&](std::int64_t k) { return bin.row(k).y(0); });
}

// Calls body(y, x) for the samples of a bin that may lie on the map, row by row, until it returns
// false. False if it did, or if the call was interrupted.
template <typename Real, typename Bin, typename Body>
static inline bool for_samples(const Bin &bin, const PoolSizes &sizes, InterruptPoll &poll, const Body &body) {
  const Span rows = rows_inside<Real>(bin, sizes);
  for (std::int64_t k = rows.begin; k < rows.end; ++k) {
    const auto row = bin.row(k);
    const Span columns = columns_inside<Real>(row, bin.columns, sizes);
    if (poll.interrupted(64)) return false;
    for (std::int64_t l = columns.begin; l < columns.end; ++l) {
      if (!body(row.y(l), row.x(l))) return false;
    }
  }
  return true;
}

// ---- Bins of regions that are not turned --------------------------------------------------------

// Samples of bins along their axes, as many as a call says, or one for each pixel if it says 0.
struct SampleGrid {
  template <typename Real>
  SampleGrid(std::int64_t ratio, Real height, Real width)
      : rows(ratio > 0 ? ratio : samples_along(height)), columns(ratio > 0 ? ratio : samples_along(width)) {}
  std::int64_t count() const { return larger<std::int64_t>(rows * columns, 1); }
  std::int64_t rows, columns;
};

template <typename Real>
struct UprightRow {
  Real y(std::int64_t) const { return at_y; }
  Real x(std::int64_t column) const {
    return left + (static_cast<Real>(column) + static_cast<Real>(0.5)) * width / columns;
  }
  Real at_y, left, width, columns;
};

template <typename Real>
struct UprightBin {
  static constexpr bool kUpright = true;
  UprightRow<Real> row(std::int64_t number) const {
    const Real part = (static_cast<Real>(number) + static_cast<Real>(0.5)) * height / static_cast<Real>(rows);
    return {top + part, left, width, static_cast<Real>(columns)};
  }
  std::int64_t rows, columns;
  Real top, left, height, width;
};

// ---- Means --------------------------------------------------------------------------------------

// Sums over samples for some channels: they stay in vectors while many samples are added. A Place
// is what a sample is made of.
template <typename T, typename Place = BilinearPlace<SumOf<T>>>
class SampleSums {
 public:
  using Real = SumOf<T>;
  static constexpr std::int64_t kMost = 1024;  // channels

  // `image` begins with the first of `count` channels.
  SampleSums(const T *image, std::int64_t channels, std::int64_t count)
      : image_(image), channels_(channels), count_(count) {
    std::memset(sums_, 0, static_cast<std::size_t>(count) * sizeof(Real));
  }

  void add(const Place &place) {
    if (!place.inside) return;
    places_[held_++] = place;
    if (held_ == kHeld) flush();
  }

  template <typename Write>
  void finish(Real divisor, const Write &write) {
    flush();
    for (std::int64_t c = 0; c < count_; c += kWidth)
      write(c, Channels<Real>::load(sums_ + c, count_ - c) / divisor, count_ - c);
  }

 private:
  static constexpr std::int64_t kWidth = Channels<T>::kWidth;
  static constexpr int kHeld = 16;

  void flush() {
    for (std::int64_t c = 0; c < count_; c += kWidth) {
      const std::int64_t left = count_ - c;
      typename Channels<T>::Sums sum = Channels<Real>::load(sums_ + c, left);
      for (int i = 0; i < held_; ++i) sum += places_[i].of(image_ + c, channels_, left);
      Channels<Real>::store(sums_ + c, sum, left);
    }
    held_ = 0;
  }

  const T *const image_;
  const std::int64_t channels_, count_;
  int held_ = 0;
  Place places_[kHeld];
  alignas(kCacheLine) Real sums_[kMost];
};

template <typename T, typename Regions>
class MeanForward {
 public:
  using Real = SumOf<T>;
  MeanForward(const PoolSizes &sizes, const Regions &regions, const void *input, void *output)
      : sizes_(sizes), regions_(regions), input_(static_cast<const T *>(input)), output_(static_cast<T *>(output)) {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t bin = begin; bin < end; ++bin) {
      const std::int64_t i = bin / sizes_.columns % sizes_.rows, j = bin % sizes_.columns;
      const auto region = regions_.of(bin / sizes_.columns / sizes_.rows);
      for (std::int64_t c = 0; c < sizes_.channels; c += SampleSums<T>::kMost) {
        if (!pool(region, bin, i, j, c, poll)) return;
      }
    }
  }

  void run() {
    constexpr std::int64_t kValuesPerPiece = 16384;
    parallel_for(sizes_.bins(), kValuesPerPiece / (16 * sizes_.channels) + 1, *this);
  }

 private:
  // False if the call was interrupted.
  template <typename Region>
  bool pool(const Region &region, std::int64_t bin, std::int64_t i, std::int64_t j, std::int64_t c,
            InterruptPoll &poll) const {
    const std::int64_t count = smaller(SampleSums<T>::kMost, sizes_.channels - c);
    const std::int64_t image = larger<std::int64_t>(region.image, 0);
    SampleSums<T> sums(input_ + image * sizes_.height * sizes_.width * sizes_.channels + c, sizes_.channels, count);
    if (poll.interrupted(count)) return false;
    auto add = [&](Real y, Real x) {
      sums.add(BilinearPlace<Real>(y, x, sizes_.height, sizes_.width));
      return !poll.interrupted(kCorners * count);
    };
    if (region.image >= 0 && !for_samples<Real>(region.bin(i, j), sizes_, poll, add)) return false;
    T *const output = output_ + bin * sizes_.channels + c;
    sums.finish(region.mean, [&](std::int64_t first, const typename Channels<T>::Sums &means, std::int64_t left) {
      Channels<T>::store(output + first, means, left);
    });
    return true;
  }

  const PoolSizes sizes_;
  const Regions &regions_;
  const T *const input_;
  T *const output_;
};

// ---- Gradient of the maps -----------------------------------------------------------------------

// The gradient of maps, written by tasks that own a band of rows of an image each: no atomics, and
// one order of additions, whatever the division. Gradients in half are added up in float, a band
// at a time.
template <typename T>
class MapBands {
 public:
  using Real = SumOf<T>;

  MapBands(const PoolSizes &sizes, void *map) : sizes_(sizes), map_(static_cast<T *>(map)) {
    const std::int64_t row = sizes.width * sizes.channels, threads = thread_count();
    // Every band looks at all regions, which costs little where they have many channels; then more
    // bands share the work more evenly.
    const std::int64_t each = threads > 1 && sizes.channels >= kManyChannels ? 4 : 1;
    std::int64_t bands = smaller((threads * each + sizes.batches - 1) / sizes.batches, sizes.height);
    bands = smaller(bands, (sizes.height * row + sizes.bins() * sizes.channels) / kValuesOfBand + 1);
    if (kHalf) bands = larger(bands, smaller(sizes.height, sizes.height * row / kMostInFloat + 1));
    rows_ = (sizes.height + bands - 1) / bands;
    bands_ = (sizes.height + rows_ - 1) / rows_;
    slots_ = useful_slots(tasks(), rows_ * row);
  }

  std::int64_t tasks() const { return sizes_.batches * bands_; }
  std::int64_t slots() const { return slots_; }
  // Values of memory for all slots.
  std::int64_t memory() const { return kHalf ? slots_ * rows_ * sizes_.width * sizes_.channels : 0; }

  // The band of a task: its image, its pixels, and where the first of them is added up.
  struct Band {
    std::int64_t image, begin, end;
    Real *sums;
    bool has(std::int64_t pixel) const { return pixel >= begin && pixel < end; }
  };

  // Zeros. `sums` is NULL if the call was interrupted.
  Band open(std::int64_t slot, std::int64_t task, Real *memory, InterruptPoll &poll) const {
    const std::int64_t top = task % bands_ * rows_, bottom = smaller(top + rows_, sizes_.height);
    Band band{task / bands_, top * sizes_.width, bottom * sizes_.width, nullptr};
    Real *sums;
    if constexpr (kHalf) {
      sums = memory + slot * rows_ * sizes_.width * sizes_.channels;
    } else {
      sums = place_of(band);
    }
    const std::int64_t values = (band.end - band.begin) * sizes_.channels;
    for (std::int64_t i = 0; i < values; i += kRun) {
      const std::int64_t count = smaller(kRun, values - i);
      if (poll.interrupted(count)) return band;
      std::memset(sums + i, 0, static_cast<std::size_t>(count) * sizeof(Real));
    }
    band.sums = sums;
    return band;
  }

  // Rounds what was added up.
  void close(const Band &band, InterruptPoll &poll) const {
    if constexpr (kHalf) {
      const std::int64_t values = (band.end - band.begin) * sizes_.channels;
      for (std::int64_t i = 0; i < values && !poll.interrupted(kRun); i += kRun)
        store_row(place_of(band) + i, band.sums + i, smaller(kRun, values - i));
    }
  }

  // Adds the gradient of a sample to the pixels around it; `weight` times it.
  void add(const Band &band, const BilinearPlace<Real> &place, const T *gradient, Real divisor) const {
    for (int corner = 0; corner < kCorners; ++corner) {
      if (!band.has(place.pixel[corner])) continue;
      add_scaled(band.sums + (place.pixel[corner] - band.begin) * sizes_.channels, gradient,
                 place.weight[corner] / divisor, sizes_.channels);
    }
  }

 private:
  static constexpr bool kHalf = sizeof(T) != sizeof(Real);
  static constexpr std::int64_t kManyChannels = 64;
  static constexpr std::int64_t kValuesOfBand = 16384;
  static constexpr std::int64_t kMostInFloat = 1 << 19;
  static constexpr std::int64_t kRun = 1 << 14;

  T *place_of(const Band &band) const {
    return map_ + (band.image * sizes_.height * sizes_.width + band.begin) * sizes_.channels;
  }

  const PoolSizes sizes_;
  T *const map_;
  std::int64_t bands_, rows_, slots_;
};

// Calls body(band, poll) for each band, between its opening and its closing.
template <typename T, typename Body>
static inline mluOpStatus_t for_bands(const char *function, const MapBands<T> &bands, const Body &body) {
  const Scratch<SumOf<T>> memory(bands.memory());
  if (memory.data() == nullptr) return out_of_memory(function);
  parallel_slots(bands.tasks(), bands.slots(), [&](std::int64_t slot, std::int64_t task) {
    InterruptPoll poll;
    const typename MapBands<T>::Band band = bands.open(slot, task, memory.data(), poll);
    if (band.sums == nullptr || !body(band, poll)) return;
    bands.close(band, poll);
  });
  return MLUOP_STATUS_SUCCESS;
}

// Calls body(region, bin, i, j) for every bin of the regions of an image, until it returns false.
template <typename Regions, typename Body>
static inline bool for_bins_of_image(const PoolSizes &sizes, const Regions &regions, std::int64_t image,
                                     InterruptPoll &poll, const Body &body) {
  for (std::int64_t r = 0; r < sizes.regions; ++r) {
    if (poll.interrupted(64)) return false;
    const auto region = regions.of(r);
    if (region.image != image) continue;
    for (std::int64_t i = 0; i < sizes.rows; ++i) {
      for (std::int64_t j = 0; j < sizes.columns; ++j) {
        if (!body(region, (r * sizes.rows + i) * sizes.columns + j, i, j)) return false;
      }
    }
  }
  return true;
}

// Each sample gives its share of the gradient of its bin to the four pixels around it.
template <typename T, typename Regions>
static inline mluOpStatus_t mean_backward(const char *function, const PoolSizes &sizes, const Regions &regions,
                                          const void *gradient, void *map) {
  using Real = SumOf<T>;
  const MapBands<T> bands(sizes, map);
  return for_bands(function, bands, [&](const typename MapBands<T>::Band &band, InterruptPoll &poll) {
    auto share = [&](const auto &region, std::int64_t bin, std::int64_t i, std::int64_t j) {
      const T *const from = static_cast<const T *>(gradient) + bin * sizes.channels;
      return for_samples<Real>(region.bin(i, j), sizes, poll, [&](Real y, Real x) {
        const BilinearPlace<Real> place(y, x, sizes.height, sizes.width);
        if (place.inside) bands.add(band, place, from, region.mean);
        return !poll.interrupted(place.inside ? sizes.channels + 8 : 8);
      });
    };
    return for_bins_of_image(sizes, regions, band.image, poll, share);
  });
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_REGION_SAMPLES_H_
