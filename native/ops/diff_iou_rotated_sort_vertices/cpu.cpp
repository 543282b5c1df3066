// DiffIouRotatedSortVertices on the CPU: the vertex that follows in the order of angles is looked
// for among all of them, once for each corner.
#include "cpu/kernel.h"
#include "ops/diff_iou_rotated_sort_vertices/diff_iou_rotated_sort_vertices.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kCornersOfBoxes = 8;  // among the vertices; crossings come behind them

template <typename Real>
struct Vertex {
  Real x, y;
};

// The cosine of the angle with the x axis, squared, with its sign.
template <typename Real>
inline Real signed_square(Vertex<Real> v, Real epsilon) {
  return (v.x < 0 ? -v.x : v.x) * v.x / (v.x * v.x + v.y * v.y + epsilon);
}

// Whether the angle of `a` is less than that of `b`: first the upper half of the plane, then the
// lower one. A NaN compares false.
template <typename Real>
inline bool comes_before(Vertex<Real> a, Vertex<Real> b) {
  constexpr Real kEpsilon = static_cast<Real>(1e-8);
  const Real dx = a.x - b.x, dy = a.y - b.y;
  if ((dx < 0 ? -dx : dx) < kEpsilon && (dy < 0 ? -dy : dy) < kEpsilon) return false;
  if (a.y > 0 && b.y < 0) return true;
  if (a.y < 0 && b.y > 0) return false;
  const Real difference = signed_square(a, kEpsilon) - signed_square(b, kEpsilon);
  if (a.y > 0 && b.y > 0) return difference > kEpsilon;
  if (a.y < 0 && b.y < 0) return difference < kEpsilon;
  return false;
}

template <typename Real>
class SortVertices {
 public:
  explicit SortVertices(const SortVerticesProblem &problem) : problem_(problem) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t polygon = begin; polygon < end; ++polygon) {
      if (poll.interrupted(kPolygonVertices * kPolygonCorners)) return;
      sort(static_cast<const Vertex<Real> *>(problem_.vertices) + polygon * kPolygonVertices,
           problem_.mask + polygon * kPolygonVertices, read_once(problem_.counts + polygon),
           problem_.order + polygon * kPolygonPlaces);
    }
  }

 private:
  static void sort(const Vertex<Real> *vertices, const unsigned char *mask, std::int32_t count, std::int32_t *order) {
    const std::int32_t pad = first_unmasked(mask);
    const int corners = count < 3 ? 0 : smaller<int>(count, kPolygonCorners);
    for (int place = 0; place < corners; ++place)
      order[place] =
          place == 0 ? following(vertices, mask, nullptr) : following(vertices, mask, vertices + order[place - 1]);
    if (corners > 0) order[corners] = order[0];
    for (int place = corners == 0 ? 0 : corners + 1; place < kPolygonPlaces; ++place) order[place] = pad;
    if (corners == kPolygonCorners && are_one_box(order)) {
      order[4] = order[0];
      for (int place = 5; place < kPolygonPlaces; ++place) order[place] = pad;
    }
  }

  static std::int32_t first_unmasked(const unsigned char *mask) {
    for (std::int32_t k = kCornersOfBoxes; k < kPolygonVertices; ++k) {
      if (mask[k] == 0) return k;
    }
    return 0;
  }

  // The vertex with the least angle above that of `last`, if there is one.
  static std::int32_t following(const Vertex<Real> *vertices, const unsigned char *mask, const Vertex<Real> *last) {
    Vertex<Real> best{1, static_cast<Real>(-1e-8)};  // just below the x axis, where angles end
    std::int32_t found = 0;
    for (std::int32_t k = 0; k < kPolygonVertices; ++k) {
      if (mask[k] == 0 || !comes_before(vertices[k], best)) continue;
      if (last != nullptr && !comes_before(*last, vertices[k])) continue;
      best = vertices[k];
      found = k;
    }
    return found;
  }

  // Two equal boxes have the same four corners twice.
  static bool are_one_box(const std::int32_t *order) {
    int same = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 4; j < kPolygonCorners; ++j) same += order[i] == order[j] ? 1 : 0;
    }
    return same == 4;
  }

  const SortVerticesProblem &problem_;
};

template <typename Real>
mluOpStatus_t sort_all(const SortVerticesProblem &problem) {
  constexpr std::int64_t kGrain = 64;
  SortVertices<Real> sort(problem);
  parallel_for(problem.polygons, kGrain, sort);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t sort_vertices(const SortVerticesProblem &problem) {
  return problem.is_double ? sort_all<double>(problem) : sort_all<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_sort_vertices, sort_vertices, SortVerticesProblem, problem.function);
