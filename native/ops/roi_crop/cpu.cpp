// RoiCrop on the CPU, in float and in double. Channels lie side by side, so the loops over them
// become vectors. A corner beside the map is read from a row of zeros, as the sum has four terms
// whatever the place.
#include "cpu/nontemporal.h"
#include "ops/roi_crop/roi_crop.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kCorners = 4;                  // [yl, xl], [yl, xl + 1], [yl + 1, xl], [yl + 1, xl + 1]
constexpr std::int64_t kTileChannels = 256;  // a tile of all corners and the result stays in L1
constexpr std::int64_t kValuesPerPiece = 16384;

// Where a coordinate lies between two pixels. `inside` is false if both are beside the map.
template <typename Real>
struct Axis {
  Axis(Real at, std::int64_t extent) {
    const Real place = (at + 1) * static_cast<Real>(extent - 1) / 2;
    inside = place >= -1 && place <= static_cast<Real>(extent);
    if (!inside) return;
    low = static_cast<std::int64_t>(place);
    if (place < static_cast<Real>(low)) --low;
    weight[0] = 1 - (place - static_cast<Real>(low));
    weight[1] = 1 - weight[0];
    has[0] = low >= 0 && low < extent;
    has[1] = low + 1 >= 0 && low + 1 < extent;
  }
  bool inside;
  std::int64_t low = 0;
  Real weight[2] = {};
  bool has[2] = {};
};

// The corners of a point of a grid: pixels of its image, or -1 beside the map.
template <typename Real>
struct Point {
  Point(const RoiCropGeometry &g, const Real *grid, std::int64_t number) {
    const Axis<Real> y(read_once(grid + 2 * number), g.height), x(read_once(grid + 2 * number + 1), g.width);
    inside = y.inside && x.inside;
    for (int corner = 0; corner < kCorners; ++corner) {
      const int lower = corner / 2, right = corner % 2;
      weight[corner] = x.weight[right] * y.weight[lower];
      pixel[corner] = y.has[lower] && x.has[right] ? (y.low + lower) * g.width + x.low + right : -1;
    }
  }
  bool inside;
  std::int64_t pixel[kCorners];
  Real weight[kCorners];
};

inline std::int64_t points_of_image(const RoiCropGeometry &g) {
  return g.regions / g.batches * g.grid_height * g.grid_width;
}

template <typename Real>
class Forward {
 public:
  explicit Forward(const RoiCropForwardProblem &problem) : problem_(problem), g_(problem.geometry) {}

  // Points are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const Point<Real> point(g_, static_cast<const Real *>(problem_.grid), number);
      const Real *image =
          static_cast<const Real *>(problem_.input) + number / points_of_image(g_) * g_.height * g_.width * g_.channels;
      Real *const output = static_cast<Real *>(problem_.output) + number * g_.channels;
      for (std::int64_t c = 0; c < g_.channels; c += kTileChannels) {
        const std::int64_t count = smaller(kTileChannels, g_.channels - c);
        if (poll.interrupted(kCorners * count)) return;
        if (point.inside) {
          sample(point, image + c, output + c, count);
        } else {
          std::memset(output + c, 0, static_cast<std::size_t>(count) * sizeof(Real));
        }
      }
    }
  }

 private:
  void sample(const Point<Real> &point, const Real *image, Real *__restrict output, std::int64_t count) const {
    static const Real zeros[kTileChannels] = {};
    const Real *row[kCorners];
    for (int corner = 0; corner < kCorners; ++corner)
      row[corner] = point.pixel[corner] < 0 ? zeros : image + point.pixel[corner] * g_.channels;
    const Real *const a = row[0], *const b = row[1], *const c = row[2], *const d = row[3];
    const Real wa = point.weight[0], wb = point.weight[1], wc = point.weight[2], wd = point.weight[3];
    for (std::int64_t i = 0; i < count; ++i) output[i] = ((wa * a[i] + wb * b[i]) + wc * c[i]) + wd * d[i];
  }

  const RoiCropForwardProblem &problem_;
  const RoiCropGeometry &g_;
};

// A task owns a band of rows of one image, or some channels of one where there are fewer rows than
// threads, so there are no atomics and one order of additions, whatever the division.
template <typename Real>
class Backward {
 public:
  explicit Backward(const RoiCropBackwardProblem &problem) : problem_(problem), g_(problem.geometry) {
    const std::int64_t pixels = g_.height * g_.width;
    const std::int64_t worth = (points_of_image(g_) * kCorners + pixels) * g_.channels / kValuesPerPiece + 1;
    // Every band looks at all points, which costs little where they have many channels; then more
    // bands share the work more evenly.
    const std::int64_t threads = thread_count(), each = threads > 1 && g_.channels >= kManyChannels ? 4 : 1;
    bands_ = smaller(smaller((threads * each + g_.batches - 1) / g_.batches, g_.height), worth);
    rows_ = (g_.height + bands_ - 1) / bands_;
    const std::int64_t tasks = g_.batches * bands_;
    tiles_ = smaller(smaller((threads + tasks - 1) / tasks, g_.channels / kManyChannels + 1), worth);
    tile_ = (g_.channels + tiles_ - 1) / tiles_;
    const std::int64_t bytes = g_.batches * pixels * g_.channels * static_cast<std::int64_t>(sizeof(Real));
    nontemporal_ = tiles_ == 1 && bytes >= streaming_bytes();
  }

  std::int64_t tasks() const { return g_.batches * bands_ * tiles_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t c = smaller(task % tiles_ * tile_, g_.channels), band = task / tiles_ % bands_;
      const std::int64_t top = smaller(band * rows_, g_.height), bottom = smaller(top + rows_, g_.height);
      const std::int64_t batch = task / tiles_ / bands_;
      Real *const image = static_cast<Real *>(problem_.grad_input) + batch * g_.height * g_.width * g_.channels;
      const Part part{image, top * g_.width, bottom * g_.width, c, smaller(tile_, g_.channels - c)};
      InterruptPoll poll;
      if (!clear(part, poll) || !add_points(part, batch * points_of_image(g_), poll)) return;
    }
  }

 private:
  static constexpr std::int64_t kManyChannels = 64;
  static constexpr std::int64_t kRun = 1 << 14;  // channels between two polls

  // Pixels begin .. end of an image, and `count` channels from c on.
  struct Part {
    Real *image;
    std::int64_t begin, end, c, count;
  };

  // These return false if the call was interrupted.
  bool clear(const Part &part, InterruptPoll &poll) const {
    if (tiles_ == 1)
      return clear_run(part.image + part.begin * g_.channels, (part.end - part.begin) * g_.channels, poll);
    for (std::int64_t pixel = part.begin; pixel < part.end; ++pixel) {
      if (!clear_run(part.image + pixel * g_.channels + part.c, part.count, poll)) return false;
    }
    return true;
  }

  bool clear_run(Real *to, std::int64_t count, InterruptPoll &poll) const {
    for (std::int64_t i = 0; i < count; i += kRun) {
      const std::size_t bytes = static_cast<std::size_t>(smaller(kRun, count - i)) * sizeof(Real);
      if (poll.interrupted(kRun)) return false;
      if (nontemporal_) {
        fill_nontemporal(reinterpret_cast<char *>(to + i), 0, bytes);
      } else {
        std::memset(to + i, 0, bytes);
      }
    }
    if (nontemporal_) nontemporal_fence();
    return true;
  }

  bool add_points(const Part &part, std::int64_t first, InterruptPoll &poll) const {
    for (std::int64_t number = first; number < first + points_of_image(g_); ++number) {
      if (poll.interrupted(kCorners)) return false;
      const Point<Real> point(g_, static_cast<const Real *>(problem_.grid), number);
      if (!point.inside) continue;
      const Real *gradient = static_cast<const Real *>(problem_.grad_output) + number * g_.channels + part.c;
      for (int corner = 0; corner < kCorners; ++corner) {
        const std::int64_t pixel = point.pixel[corner];
        if (pixel < part.begin || pixel >= part.end) continue;
        Real *const to = part.image + pixel * g_.channels + part.c;
        for (std::int64_t i = 0; i < part.count; i += kRun) {
          const std::int64_t count = smaller(kRun, part.count - i);
          if (poll.interrupted(count)) return false;
          add(to + i, point.weight[corner], gradient + i, count);
        }
      }
    }
    return true;
  }

  static void add(Real *__restrict to, Real weight, const Real *gradient, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] += weight * gradient[i];
  }

  const RoiCropBackwardProblem &problem_;
  const RoiCropGeometry &g_;
  std::int64_t bands_, rows_, tiles_, tile_;
  bool nontemporal_;
};

template <typename Real>
mluOpStatus_t crop(const RoiCropForwardProblem &problem) {
  const RoiCropGeometry &g = problem.geometry;
  Forward<Real> forward(problem);
  parallel_for(g.batches * points_of_image(g), kValuesPerPiece / g.channels + 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename Real>
mluOpStatus_t add_gradients(const RoiCropBackwardProblem &problem) {
  Backward<Real> backward(problem);
  parallel_for(backward.tasks(), 1, backward);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t roi_crop_forward(const RoiCropForwardProblem &problem) {
  return problem.geometry.is_double ? crop<double>(problem) : crop<float>(problem);
}

mluOpStatus_t roi_crop_backward(const RoiCropBackwardProblem &problem) {
  return problem.geometry.is_double ? add_gradients<double>(problem) : add_gradients<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_crop_forward, roi_crop_forward, RoiCropForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_crop_backward, roi_crop_backward, RoiCropBackwardProblem, problem.function);
