// Where the cells of a filter look, and the values there. A place is computed once for all channels
// of a deformable group; the channels of a pixel lie side by side, so the loops over them become
// vectors.
#ifndef MLUOPS_OPS_DEFORM_CONV_CPU_SAMPLES_H_
#define MLUOPS_OPS_DEFORM_CONV_CPU_SAMPLES_H_

#include "cpu/tiles.h"
#include "ops/deform_conv/deform_conv.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kCorners = 4;                  // [yl, xl], [yl, xl + 1], [yl + 1, xl], [yl + 1, xl + 1]
constexpr std::int64_t kTileChannels = 256;  // of all corners and the result, which stay in L1

// The place of a cell of the filter: pixels of the batch, or -1 beside the map. One that does not
// count has no pixels and weights of 0.
template <typename Value>
struct Place {
  bool counts = false;
  std::int64_t pixel[kCorners] = {-1, -1, -1, -1};
  Value weight[kCorners] = {};
  Value low[2] = {};  // how far behind the upper row and the left column
  Value mask = 0;
};

template <typename T>
class Samples {
 public:
  typedef typename Arithmetic<T>::Value Value;

  explicit Samples(const DeformConvProblem &problem) : g_(problem.geometry), problem_(problem) {}

  // `position` counts the places of the output through the batch.
  Place<Value> place(std::int64_t position, std::int64_t group, std::int64_t cell) const {
    const std::int64_t number = (position * g_.deformable_groups + group) * g_.cells() + cell;
    const std::int64_t column = position % g_.out_size[1], row = position / g_.out_size[1] % g_.out_size[0];
    const std::int64_t image = position / (g_.out_size[0] * g_.out_size[1]);
    const T *const offset = static_cast<const T *>(problem_.offset) + 2 * number;
    const Value y = at(0, row, cell / g_.kernel[1], read_value(offset));
    const Value x = at(1, column, cell % g_.kernel[1], read_value(offset + 1));
    Place<Value> place;
    place.mask = problem_.mask == nullptr ? 1 : read_value(static_cast<const T *>(problem_.mask) + number);
    place.counts = y > -1 && x > -1 && y < static_cast<Value>(g_.size[0]) && x < static_cast<Value>(g_.size[1]);
    if (!place.counts) return place;
    const std::int64_t top = below(y), left = below(x);
    place.low[0] = y - static_cast<Value>(top);
    place.low[1] = x - static_cast<Value>(left);
    for (int corner = 0; corner < kCorners; ++corner) {
      const int lower = corner / 2, right = corner % 2;
      const std::int64_t r = top + lower, c = left + right;
      place.weight[corner] =
          (lower != 0 ? place.low[0] : 1 - place.low[0]) * (right != 0 ? place.low[1] : 1 - place.low[1]);
      if (r >= 0 && c >= 0 && r < g_.size[0] && c < g_.size[1])
        place.pixel[corner] = (image * g_.size[0] + r) * g_.size[1] + c;
    }
    return place;
  }

  // Rows of the corners from a channel on; zeros beside the map.
  void corners(const Place<Value> &place, std::int64_t channel, const T **rows) const {
    static const T zeros[kTileChannels] = {};
    for (int corner = 0; corner < kCorners; ++corner) {
      rows[corner] = place.pixel[corner] < 0
                         ? zeros
                         : static_cast<const T *>(problem_.input) + place.pixel[corner] * g_.channels + channel;
    }
  }

  // The values of a position and a cell in all channels.
  void sample(std::int64_t position, std::int64_t cell, Value *to) const {
    const std::int64_t channels = g_.channels / g_.deformable_groups;
    for (std::int64_t group = 0; group < g_.deformable_groups; ++group, to += channels) {
      const Place<Value> found = place(position, group, cell);
      if (!found.counts) {
        std::memset(to, 0, static_cast<std::size_t>(channels) * sizeof *to);
        continue;
      }
      for (std::int64_t c = 0; c < channels; c += kTileChannels) {
        const T *rows[kCorners];
        corners(found, group * channels + c, rows);
        mix(found, rows, smaller(kTileChannels, channels - c), to + c);
      }
    }
  }

 private:
  static Value read_value(const float *from) { return read_once(from); }
  static double read_value(const double *from) { return read_once(from); }
  static float read_value(const Half *from) { return to_float(Half{__atomic_load_n(&from->bits, __ATOMIC_RELAXED)}); }

  Value at(int axis, std::int64_t position, std::int64_t cell, Value offset) const {
    return static_cast<Value>(position * g_.stride[axis] - g_.pad[axis] + cell * g_.dilation[axis]) + offset;
  }

  static std::int64_t below(Value place) {
    const std::int64_t whole = static_cast<std::int64_t>(place);
    return place < static_cast<Value>(whole) ? whole - 1 : whole;
  }

  static void mix(const Place<Value> &place, const T *const *rows, std::int64_t count, Value *__restrict to) {
    const T *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
    const Value wa = place.weight[0], wb = place.weight[1], wc = place.weight[2], wd = place.weight[3];
    for (std::int64_t i = 0; i < count; ++i) {
      const Value sum = ((wa * widened(a[i]) + wb * widened(b[i])) + wc * widened(c[i])) + wd * widened(d[i]);
      to[i] = sum * place.mask;
    }
  }

  const DeformConvGeometry &g_;
  const DeformConvProblem &problem_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CPU_SAMPLES_H_
