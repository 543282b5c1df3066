// BboxOverlaps on the CPU: half in float, and double. A tile of the second boxes lies with one
// array for each number, so that one box is compared with many at a time.
#include "cpu/vector.h"
#include "ops/bbox_overlaps/bbox_overlaps.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kTile = 256;
constexpr std::int64_t kRows = 64;

template <typename T>
struct SumOf {
  typedef float Type;
};
template <>
struct SumOf<double> {
  typedef double Type;
};

// The larger one of two numbers, or the smaller one; the other one where one is NaN.
static inline Vector larger_number(Vector a, Vector b) {
  const Vector found = a < b ? b : a;
  return found == found ? found : b;
}
static inline Vector smaller_number(Vector a, Vector b) {
  const Vector found = b < a ? b : a;
  return found == found ? found : b;
}
static inline double larger_number(double a, double b) {
  const double found = a < b ? b : a;
  return found == found ? found : b;
}
static inline double smaller_number(double a, double b) {
  const double found = b < a ? b : a;
  return found == found ? found : b;
}

// Values are numbers, or vectors of them.
template <typename Value>
struct Boxes {
  Value x1, y1, x2, y2;
  Value area(Value offset) const { return (x2 - x1 + offset) * (y2 - y1 + offset); }
};

template <typename Value>
static inline Value part_of(const Boxes<Value> &a, const Boxes<Value> &b, Value offset, bool of_first) {
  const Value zero = offset - offset;
  const Value width = larger_number(smaller_number(a.x2, b.x2) - larger_number(a.x1, b.x1) + offset, zero);
  const Value height = larger_number(smaller_number(a.y2, b.y2) - larger_number(a.y1, b.y1) + offset, zero);
  const Value common = width * height;
  const Value whole = of_first ? a.area(offset) : a.area(offset) + b.area(offset) - common;
  return common / larger_number(whole, offset);
}

// Some boxes, an array for each number.
template <typename Real>
struct Tile {
  alignas(kCacheLine) Real x1[kTile];
  alignas(kCacheLine) Real y1[kTile];
  alignas(kCacheLine) Real x2[kTile];
  alignas(kCacheLine) Real y2[kTile];

  template <typename T>
  void read(const T *boxes, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      x1[i] = to_sum(boxes[4 * i]);
      y1[i] = to_sum(boxes[4 * i + 1]);
      x2[i] = to_sum(boxes[4 * i + 2]);
      y2[i] = to_sum(boxes[4 * i + 3]);
    }
    for (std::int64_t i = count; i % kLanes != 0; ++i) x1[i] = y1[i] = x2[i] = y2[i] = 0;
  }
};

template <typename T>
class Comparison {
 public:
  using Real = typename SumOf<T>::Type;

  explicit Comparison(const BboxOverlapsProblem &problem)
      : problem_(problem),
        first_(static_cast<const T *>(problem.first)),
        second_(static_cast<const T *>(problem.second)) {}

  void run() const {
    const std::int64_t rows = problem_.aligned ? kTile : kRows, count = problem_.second_count;
    const std::int64_t down = (problem_.first_count + rows - 1) / rows;
    const std::int64_t across = problem_.aligned ? 1 : (count + kTile - 1) / kTile;
    parallel_slots(down * across, thread_count(), [&](std::int64_t, std::int64_t task) {
      if (interrupted()) return;
      const std::int64_t row = task / across * rows, column = task % across * kTile;
      const std::int64_t end = smaller(row + rows, problem_.first_count);
      if (problem_.aligned) {
        compare_rows(row, end - row);
      } else {
        compare_all(row, end, column, smaller(kTile, count - column));
      }
    });
  }

 private:
  void compare_all(std::int64_t row, std::int64_t end, std::int64_t column, std::int64_t count) const {
    Tile<Real> tile;
    tile.read(second_ + 4 * column, count);
    for (std::int64_t i = row; i < end; ++i) {
      const T *const box = first_ + 4 * i;
      const Boxes<Real> one{to_sum(box[0]), to_sum(box[1]), to_sum(box[2]), to_sum(box[3])};
      T *const to = static_cast<T *>(problem_.ious) + i * problem_.second_count + column;
      write(to, count, tile, [&one](std::int64_t) { return one; });
    }
  }

  void compare_rows(std::int64_t row, std::int64_t count) const {
    Tile<Real> tile, other;
    tile.read(first_ + 4 * row, count);
    other.read(second_ + 4 * row, count);
    T *const to = static_cast<T *>(problem_.ious) + row;
    write(
        to, count, other,
        [&tile](std::int64_t i) { return Boxes<Real>{tile.x1[i], tile.y1[i], tile.x2[i], tile.y2[i]}; }, &tile);
  }

  // Writes the values of first(i) and box i of a tile; `firsts` has all first(i), if they differ.
  template <typename First>
  void write(T *to, std::int64_t count, const Tile<Real> &tile, const First &first,
             const Tile<Real> *firsts = nullptr) const {
    const Real offset = static_cast<Real>(problem_.offset);
    if constexpr (sizeof(Real) == sizeof(float)) {
      const Boxes<Real> one = first(0);
      const Boxes<Vector> same{all_lanes(one.x1), all_lanes(one.y1), all_lanes(one.x2), all_lanes(one.y2)};
      for (std::int64_t i = 0; i < count; i += kLanes) {
        const Boxes<Vector> a = firsts == nullptr ? same : vectors(*firsts, i);
        const Vector values = part_of(a, vectors(tile, i), all_lanes(offset), problem_.of_first);
        if (i + kLanes <= count) {
          store(to + i, values);
        } else {
          for (std::int64_t j = i; j < count; ++j) store(to + j, values[j - i]);
        }
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const Boxes<Real> other{tile.x1[i], tile.y1[i], tile.x2[i], tile.y2[i]};
        to[i] = part_of(first(i), other, offset, problem_.of_first);
      }
    }
  }

  static Boxes<Vector> vectors(const Tile<float> &tile, std::int64_t i) {
    return {load(tile.x1 + i), load(tile.y1 + i), load(tile.x2 + i), load(tile.y2 + i)};
  }

  const BboxOverlapsProblem &problem_;
  const T *const first_;
  const T *const second_;
};

}  // namespace

mluOpStatus_t bbox_overlaps(const BboxOverlapsProblem &problem) {
  if (problem.type == MLUOP_DTYPE_DOUBLE) {
    Comparison<double>(problem).run();
  } else if (problem.type == MLUOP_DTYPE_HALF) {
    Comparison<Half>(problem).run();
  } else {
    Comparison<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_bbox_overlaps, bbox_overlaps, BboxOverlapsProblem, problem.function);
