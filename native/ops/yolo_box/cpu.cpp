// YoloBox on the CPU, in float and in double: rows of cells, many cells at once in float.
#include "ops/yolo_box/yolo_box.h"

#include "cpu/exponential.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kValuesPerPiece = 8192;

// Values of some cells of a row: a vector of floats, or one double.
template <typename Real>
struct Cells;

template <>
struct Cells<float> {
  typedef Vector Values;
  static constexpr std::int64_t kWidth = kLanes;
  static Values everywhere(double value) { return all_lanes(static_cast<float>(value)); }
  static Values columns(std::int64_t first) {
    return __builtin_convertvector(lane_numbers(AllLanes()), Vector) + static_cast<float>(first);
  }
  static Values read(const float *from, std::int64_t count) { return load_some(from, count); }
  static void write(float *to, Values values, std::int64_t count) { store_some(to, values, count); }
};

template <>
struct Cells<double> {
  typedef double Values;
  static constexpr std::int64_t kWidth = 1;
  static Values everywhere(double value) { return value; }
  static Values columns(std::int64_t first) { return static_cast<double>(first); }
  static Values read(const double *from, std::int64_t) { return read_once(from); }
  static void write(double *to, Values value, std::int64_t) { *to = value; }
};

// 1 / (1 + exp(-x)).
template <typename Values>
inline Values logistic(Values x) {
  const auto negative = x < 0.0f;
  const Values small = exponential(choose(negative, x, -x)), whole = small + 1.0f;
  return choose(negative, small, whole - small) / whole;
}

// Its logarithm.
template <typename Values>
inline Values log_logistic(Values x) {
  const auto negative = x < 0.0f;
  const Values small = exponential(choose(negative, x, -x));
  return choose(negative, x, x - x) - log_of_one_more(small);
}

// exp(x) for any x.
inline Vector exponential_of_any(Vector x) {
  const Vector root = exponential(x * 0.5f);
  return x > 176.0f ? all_lanes(__builtin_inff()) : root * root;
}
inline double exponential_of_any(double x) { return exponential(x); }

template <typename Real>
class YoloBox {
 public:
  typedef Cells<Real> C;
  typedef typename C::Values Values;

  explicit YoloBox(const YoloBoxProblem &problem)
      : p_(problem),
        cells_(problem.height * problem.width),
        planes_((5 + problem.classes) * cells_),
        bias_(static_cast<Real>(-0.5) * (static_cast<Real>(problem.scale) - 1)) {}

  // Rows are counted through images and anchors.
  void rows(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t box = row / p_.height, j = row % p_.height;
      const Anchor anchor = anchor_of(box);
      for (std::int64_t i = 0; i < p_.width; i += C::kWidth) {
        if (poll.interrupted(C::kWidth * (5 + p_.classes))) return;
        some_cells(anchor, j, i, smaller(C::kWidth, p_.width - i));
      }
    }
  }

 private:
  struct Anchor {
    const Real *planes;  // tx, ty, tw, th, confidence, classes
    const Real *overlap;
    Real *boxes;
    Real *scores;
    Real width, height, image_width, image_height;
  };

  // `box` counts the anchors of all images.
  Anchor anchor_of(std::int64_t box) const {
    const std::int64_t image = box / p_.anchors, anchor = box % p_.anchors;
    const std::int64_t channels = p_.anchors * ((p_.iou_aware ? 6 : 5) + p_.classes);
    const Real *const x = static_cast<const Real *>(p_.x) + image * channels * cells_;
    Anchor found;
    found.overlap = x + anchor * cells_;
    found.planes = x + (p_.iou_aware ? p_.anchors * cells_ : 0) + anchor * planes_;
    found.boxes = static_cast<Real *>(p_.boxes) + box * 4 * cells_;
    found.scores = static_cast<Real *>(p_.scores) + box * p_.classes * cells_;
    found.width = static_cast<Real>(read_once(p_.anchor_sizes + 2 * anchor));
    found.height = static_cast<Real>(read_once(p_.anchor_sizes + 2 * anchor + 1));
    found.image_height = static_cast<Real>(read_once(p_.image_sizes + 2 * image));
    found.image_width = static_cast<Real>(read_once(p_.image_sizes + 2 * image + 1));
    return found;
  }

  void some_cells(const Anchor &anchor, std::int64_t j, std::int64_t i, std::int64_t count) const {
    const std::int64_t cell = j * p_.width + i;
    const Real *const from = anchor.planes + cell;
    const Values confidence = confidence_of(anchor, cell, count);
    // The confidence that is no number stays.
    const auto dropped = confidence < C::everywhere(p_.threshold);
    const Values zero = C::everywhere(0);
    const Values x = centre(C::columns(i), C::read(from, count), anchor.image_width, p_.width);
    const Values y =
        centre(C::everywhere(static_cast<double>(j)), C::read(from + cells_, count), anchor.image_height, p_.height);
    const Values width = side(C::read(from + 2 * cells_, count), anchor.width, anchor.image_width, p_.width);
    const Values height = side(C::read(from + 3 * cells_, count), anchor.height, anchor.image_height, p_.height);
    const Values half_width = width / static_cast<Real>(2), half_height = height / static_cast<Real>(2);
    const Values corners[4] = {first_corner(x - half_width), first_corner(y - half_height),
                               last_corner(x + half_width, anchor.image_width),
                               last_corner(y + half_height, anchor.image_height)};
    for (int k = 0; k < 4; ++k) C::write(anchor.boxes + k * cells_ + cell, choose(dropped, zero, corners[k]), count);
    for (std::int64_t k = 0; k < p_.classes; ++k) {
      const Values score = confidence * logistic(C::read(from + (5 + k) * cells_, count));
      C::write(anchor.scores + k * cells_ + cell, choose(dropped, zero, score), count);
    }
  }

  Values confidence_of(const Anchor &anchor, std::int64_t cell, std::int64_t count) const {
    const Values object = C::read(anchor.planes + 4 * cells_ + cell, count);
    if (!p_.iou_aware || p_.iou_factor == 0) return logistic(object);
    const Values overlap = C::read(anchor.overlap + cell, count);
    if (p_.iou_factor == 1) return logistic(overlap);
    const Real factor = static_cast<Real>(p_.iou_factor);
    return exponential(log_logistic(object) * (1 - factor) + log_logistic(overlap) * factor);
  }

  Values centre(Values place, Values shift, Real image, std::int64_t count) const {
    const Values within = place + logistic(shift) * static_cast<Real>(p_.scale) + bias_;
    return within * image / static_cast<Real>(count);
  }

  Values side(Values value, Real anchor, Real image, std::int64_t count) const {
    const Real input = static_cast<Real>(p_.downsample) * static_cast<Real>(count);
    return exponential_of_any(value) * anchor * image / input;
  }

  Values first_corner(Values value) const { return p_.clip ? choose(value < 0.0f, C::everywhere(0), value) : value; }

  Values last_corner(Values value, Real image) const {
    const Values last = C::everywhere(static_cast<double>(image - 1));
    return p_.clip ? choose(value > last, last, value) : value;
  }

  const YoloBoxProblem &p_;
  const std::int64_t cells_;
  const std::int64_t planes_;  // values of an anchor
  const Real bias_;
};

template <typename Real>
void find_boxes(const YoloBoxProblem &problem) {
  const YoloBox<Real> boxes(problem);
  auto run = [&](std::int64_t begin, std::int64_t end) { boxes.rows(begin, end); };
  const std::int64_t values = problem.width * (5 + problem.classes);
  parallel_for(problem.batch * problem.anchors * problem.height, kValuesPerPiece / values + 1, run);
}

}  // namespace

mluOpStatus_t yolo_box(const YoloBoxProblem &problem) {
  if (problem.is_double) {
    find_boxes<double>(problem);
  } else {
    find_boxes<float>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_yolo_box, yolo_box, YoloBoxProblem, problem.function);
