// YoloBox on the CPU, in float and in double: blocks of cells, many cells at once in float. A block
// reads and writes one plane after another.
#include "ops/yolo_box/yolo_box.h"

#include "cpu/exponential.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kBlock = 512;  // cells, whose confidences stay in the cache
constexpr std::int64_t kValuesPerPiece = 8192;

// Values of some cells of a row: a vector of floats, or one double.
template <typename Real>
struct Cells;

template <>
struct Cells<float> {
  typedef Vector Values;
  static constexpr std::int64_t kWidth = kLanes;
  static Values everywhere(double value) { return all_lanes(static_cast<float>(value)); }
  // The numbers of cells one after another.
  static Values numbers(std::int64_t first) {
    return __builtin_convertvector(lane_numbers(AllLanes()), Vector) + static_cast<float>(first);
  }
  static bool any_reaches(Values columns, float width) { return lane_bits(columns >= width) != 0; }
  static Values read(const float *from, std::int64_t count) { return load_some(from, count); }
  static void write(float *to, Values values, std::int64_t count) { store_some(to, values, count); }
};

template <>
struct Cells<double> {
  typedef double Values;
  static constexpr std::int64_t kWidth = 1;
  static Values everywhere(double value) { return value; }
  static Values numbers(std::int64_t first) { return static_cast<double>(first); }
  static bool any_reaches(Values column, double width) { return column >= width; }
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
  return choose(negative, x, small - small) - log_of_one_more(small);  // x - x is no number for infinity
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

  std::int64_t blocks_of_box() const { return (cells_ + kBlock - 1) / kBlock; }

  // Blocks are counted through images and anchors.
  void blocks(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t first = number % blocks_of_box() * kBlock;
      const Block block = {anchor_of(number / blocks_of_box()), first, smaller(kBlock, cells_ - first)};
      Real confidences[kBlock];
      if (poll.interrupted(5 * block.count)) return;
      find_corners(block, confidences);
      for (std::int64_t k = 0; k < p_.classes; ++k) {
        if (poll.interrupted(block.count)) return;
        find_scores(block, k, confidences);
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

  struct Block {
    Anchor anchor;
    std::int64_t first;  // cell
    std::int64_t count;
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

  void find_corners(const Block &block, Real *confidences) const {
    const Real width = static_cast<Real>(p_.width);
    Values row = C::everywhere(static_cast<double>(block.first / p_.width));
    Values column = C::numbers(block.first % p_.width);
    for (std::int64_t i = 0; i < block.count; i += C::kWidth) {
      while (C::any_reaches(column, width)) {
        const auto beyond = column >= width;
        row = choose(beyond, row + static_cast<Real>(1), row);
        column = choose(beyond, column - width, column);
      }
      const std::int64_t count = smaller(C::kWidth, block.count - i);
      const Values confidence = confidence_of(block.anchor, block.first + i, count);
      C::write(confidences + i, confidence, count);
      write_corners(block.anchor, block.first + i, count, row, column, confidence);
      column += static_cast<Real>(C::kWidth);
    }
  }

  void write_corners(const Anchor &anchor, std::int64_t cell, std::int64_t count, Values row, Values column,
                     Values confidence) const {
    const Real *const from = anchor.planes + cell;
    const Values x = centre(column, C::read(from, count), anchor.image_width, p_.width);
    const Values y = centre(row, C::read(from + cells_, count), anchor.image_height, p_.height);
    const Values width = side(C::read(from + 2 * cells_, count), anchor.width, anchor.image_width, p_.width);
    const Values height = side(C::read(from + 3 * cells_, count), anchor.height, anchor.image_height, p_.height);
    const Values half_width = width / static_cast<Real>(2), half_height = height / static_cast<Real>(2);
    const Values corners[4] = {first_corner(x - half_width), first_corner(y - half_height),
                               last_corner(x + half_width, anchor.image_width),
                               last_corner(y + half_height, anchor.image_height)};
    const auto dropped = is_dropped(confidence);
    for (int k = 0; k < 4; ++k)
      C::write(anchor.boxes + k * cells_ + cell, choose(dropped, C::everywhere(0), corners[k]), count);
  }

  void find_scores(const Block &block, std::int64_t number, const Real *confidences) const {
    const Real *const from = block.anchor.planes + (5 + number) * cells_ + block.first;
    Real *const to = block.anchor.scores + number * cells_ + block.first;
    for (std::int64_t i = 0; i < block.count; i += C::kWidth) {
      const std::int64_t count = smaller(C::kWidth, block.count - i);
      const Values confidence = C::read(confidences + i, count);
      const Values score = confidence * logistic(C::read(from + i, count));
      C::write(to + i, choose(is_dropped(confidence), C::everywhere(0), score), count);
    }
  }

  // The confidence that is no number stays.
  auto is_dropped(Values confidence) const { return confidence < C::everywhere(p_.threshold); }

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
  const std::int64_t count = problem.batch * problem.anchors * boxes.blocks_of_box();
  const std::int64_t values = smaller(kBlock, problem.height * problem.width) * (5 + problem.classes);
  auto run = [&](std::int64_t begin, std::int64_t end) { boxes.blocks(begin, end); };
  parallel_for(count, kValuesPerPiece / values + 1, run);
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
