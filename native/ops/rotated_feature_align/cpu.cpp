// RotatedFeatureAlign on the CPU. Channels lie side by side, so sums of all places of a box stay in
// vectors.
#include "cpu/region_samples.h"
#include "ops/rotated_feature_align/rotated_feature_align.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBoxSize = 5;  // y, x, width, height, angle
constexpr std::int64_t kValuesPerPiece = 16384;

template <typename Real>
struct Place {
  Real y, x;
};

// The places of a box in pixels of the map; all that an infinite box has are beside it, or NaN.
template <typename T>
void find_places(const RotatedFeatureAlignGeometry &g, const T *box, Place<SumOf<T>> *places) {
  using Real = SumOf<T>;
  const Real scale = static_cast<Real>(g.spatial_scale);
  const Real y = read_real(box) * scale, x = read_real(box + 1) * scale;
  places[0] = {y, x};
  if (g.places == 1) return;
  const Real width = read_real(box + 2) * scale / 2, height = read_real(box + 3) * scale / 2;
  // Sine and cosine of double are the same on every level.
  const double angle = static_cast<double>(read_real(box + 4));
  const Real sine = static_cast<Real>(__builtin_sin(angle)), cosine = static_cast<Real>(__builtin_cos(angle));
  const Real right_x = cosine * width, right_y = sine * width, down_x = -sine * height, down_y = cosine * height;
  places[1] = {y + right_y + down_y, x + right_x + down_x};
  places[2] = {y - right_y + down_y, x - right_x + down_x};
  places[3] = {y - right_y - down_y, x - right_x - down_x};
  places[4] = {y + right_y - down_y, x + right_x - down_x};
}

template <typename T>
class Forward {
 public:
  using Real = SumOf<T>;
  explicit Forward(const RotatedFeatureAlignProblem &problem)
      : g_(problem.geometry),
        map_(static_cast<const T *>(problem.source)),
        boxes_(static_cast<const T *>(problem.boxes)),
        result_(static_cast<T *>(problem.result)) {}

  // Pixels are counted through all images.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
      Place<Real> places[kMostPlaces];
      find_places(g_, boxes_ + pixel * kBoxSize, places);
      BilinearPlace<Real> inside[kMostPlaces];
      int count = 0;
      for (std::int64_t i = 0; i < g_.places; ++i) {
        inside[count] = BilinearPlace<Real>(places[i].y, places[i].x, g_.height, g_.width);
        count += inside[count].inside;
      }
      if (!add(pixel, inside, count, poll)) return;
    }
  }

 private:
  static constexpr std::int64_t kRun = 1 << 14;  // channels between two polls

  // False if the call was interrupted.
  bool add(std::int64_t pixel, const BilinearPlace<Real> *places, int count, InterruptPoll &poll) const {
    const std::int64_t area = g_.height * g_.width, width = Channels<T>::kWidth;
    const T *const image = map_ + pixel / area * area * g_.channels;
    const T *const from = map_ + pixel * g_.channels;
    T *const to = result_ + pixel * g_.channels;
    for (std::int64_t first = 0; first < g_.channels; first += kRun) {
      const std::int64_t last = smaller(first + kRun, g_.channels);
      if (poll.interrupted((last - first) * (kCorners * count + 1))) return false;
      for (std::int64_t c = first; c < last; c += width) {
        const std::int64_t left = g_.channels - c;
        typename Channels<T>::Sums sums = Channels<T>::load(from + c, left);
        for (int i = 0; i < count; ++i) sums += places[i].of(image + c, g_.channels, left);
        Channels<T>::store(to + c, sums, left);
      }
    }
    return true;
  }

  const RotatedFeatureAlignGeometry &g_;
  const T *const map_;
  const T *const boxes_;
  T *const result_;
};

// Bands of rows look at the boxes of all pixels of their image, so the places, for which sines are
// needed, are found once before.
template <typename T>
class Backward {
 public:
  using Real = SumOf<T>;
  Backward(const RotatedFeatureAlignProblem &problem, Place<Real> *places)
      : g_(problem.geometry),
        gradient_(static_cast<const T *>(problem.source)),
        boxes_(static_cast<const T *>(problem.boxes)),
        places_(places) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t pixel = begin; pixel < end && !poll.interrupted(64); ++pixel)
      find_places(g_, boxes_ + pixel * kBoxSize, places_ + pixel * g_.places);
  }

  // False if the call was interrupted. Each pixel of the band gets its gradients in the order of
  // the pixels that they come from.
  bool add(const MapBands<T> &bands, const typename MapBands<T>::Band &band, InterruptPoll &poll) const {
    const std::int64_t area = g_.height * g_.width, first = band.image * area;
    const Real top = static_cast<Real>(band.begin / g_.width), bottom = static_cast<Real>(band.end / g_.width);
    for (std::int64_t pixel = 0; pixel < area; ++pixel) {
      if (poll.interrupted(8)) return false;
      const T *const from = gradient_ + (first + pixel) * g_.channels;
      if (band.has(pixel) && !add_own(band.sums + (pixel - band.begin) * g_.channels, from, poll)) return false;
      for (std::int64_t i = 0; i < g_.places; ++i) {
        const Place<Real> &at = places_[(first + pixel) * g_.places + i];
        // The pixels around a place are less than one away from it, but for places beside the map.
        if (at.y < top - 1 || at.y > bottom) continue;
        const BilinearPlace<Real> place(at.y, at.x, g_.height, g_.width);
        if (!place.inside) continue;
        if (poll.interrupted(kCorners * g_.channels)) return false;
        bands.add(band, place, from, 1);
      }
    }
    return true;
  }

 private:
  bool add_own(Real *to, const T *from, InterruptPoll &poll) const {
    if (poll.interrupted(g_.channels)) return false;
    add_scaled(to, from, Real{1}, g_.channels);
    return true;
  }

  const RotatedFeatureAlignGeometry &g_;
  const T *const gradient_;
  const T *const boxes_;
  Place<Real> *const places_;
};

template <typename T>
mluOpStatus_t forward(const RotatedFeatureAlignProblem &problem) {
  const RotatedFeatureAlignGeometry &g = problem.geometry;
  Forward<T> forward(problem);
  parallel_for(g.pixels(), kValuesPerPiece / (kCorners * g.places * g.channels) + 1, forward);
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t backward(const RotatedFeatureAlignProblem &problem) {
  using Real = SumOf<T>;
  const RotatedFeatureAlignGeometry &g = problem.geometry;
  const RegionSizes sizes{g.type, g.batches, g.height, g.width, g.channels, g.pixels(), 1, 1};
  const MapBands<T> bands(PoolSizes(sizes), problem.result);
  const Scratch<Place<Real>> places(g.pixels() * g.places);
  if (places.data() == nullptr) return out_of_memory(problem.function);
  Backward<T> backward(problem, places.data());
  parallel_for(g.pixels(), kValuesPerPiece / 64, backward);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  return for_bands(problem.function, bands, [&](const typename MapBands<T>::Band &band, InterruptPoll &poll) {
    return backward.add(bands, band, poll);
  });
}

}  // namespace

mluOpStatus_t rotated_feature_align_forward(const RotatedFeatureAlignProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t rotated_feature_align_backward(const RotatedFeatureAlignProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_rotated_feature_align_forward, rotated_feature_align_forward,
                          RotatedFeatureAlignProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_rotated_feature_align_backward, rotated_feature_align_backward,
                          RotatedFeatureAlignProblem, problem.function);
