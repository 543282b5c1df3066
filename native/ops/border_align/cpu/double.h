// Both directions in double, a sample at a time.
#ifndef MLUOPS_OPS_BORDER_ALIGN_CPU_DOUBLE_H_
#define MLUOPS_OPS_BORDER_ALIGN_CPU_DOUBLE_H_

#include "cpu/kernel.h"
#include "ops/border_align/border_align.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The two pixels around a coordinate, and the weight of the higher one. A NaN is outside.
struct PixelsAround {
  PixelsAround(double at, std::int64_t extent) : inside(at >= -1 && at <= static_cast<double>(extent)) {
    const double place = inside && at > 0 ? at : 0;
    low = static_cast<std::int64_t>(place);
    if (low >= extent - 1) {
      low = high = extent - 1;
    } else {
      high = low + 1;
      part = place - static_cast<double>(low);
    }
  }
  bool inside;
  std::int64_t low, high = 0;
  double part = 0;
};

// Where a sample lies on the map: pixels and weights of its four corners, rows first.
struct DoubleSample {
  DoubleSample(const BorderAlignGeometry &g, double x, double y) {
    const PixelsAround column(x, g.width), row(y, g.height);
    inside = column.inside && row.inside;
    for (int corner = 0; corner < 4; ++corner) {
      const bool lower = corner >= 2, right = corner % 2 != 0;
      pixel[corner] = (lower ? row.high : row.low) * g.width + (right ? column.high : column.low);
      weight[corner] = (lower ? row.part : 1 - row.part) * (right ? column.part : 1 - column.part);
    }
  }
  bool inside;
  std::int64_t pixel[4];
  double weight[4];
};

// The first sample of a border, and the step to the next one.
struct DoubleWalk {
  DoubleWalk(const double *box, int border, std::int32_t pool_size) {
    const double x1 = read_once(box), y1 = read_once(box + 1), x2 = read_once(box + 2), y2 = read_once(box + 3);
    const bool far = border >= 2, along_x = border % 2 == 0;
    const double sign = far ? -1 : 1;
    x = far ? x2 : x1;
    y = far ? y2 : y1;
    dx = along_x ? sign * ((x2 - x1) / pool_size) : 0;
    dy = along_x ? 0 : sign * ((y2 - y1) / pool_size);
  }
  double x, y, dx, dy;
};

class DoubleForward {
 public:
  explicit DoubleForward(const BorderAlignForwardProblem &problem) : problem_(problem), g_(problem.geometry) {}

  // Borders are counted through all boxes and batches.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t box = number / kBorders, batch = box / g_.boxes;
      const int border = static_cast<int>(number % kBorders);
      const double *map = static_cast<const double *>(problem_.input) + batch * pixels() * row() + border * g_.channels;
      DoubleWalk walk(static_cast<const double *>(problem_.box) + box * 4, border, g_.pool_size);
      for (std::int64_t i = 0; i <= g_.pool_size; ++i, walk.x += walk.dx, walk.y += walk.dy) {
        take(map, DoubleSample(g_, walk.x, walk.y), static_cast<std::int32_t>(i), number * g_.channels);
        if (poll.interrupted(4 * g_.channels)) return;
      }
    }
  }

 private:
  std::int64_t pixels() const { return g_.height * g_.width; }
  std::int64_t row() const { return kBorders * g_.channels; }

  // The first sample starts the search, so a NaN there stays; a NaN later never wins.
  void take(const double *map, const DoubleSample &sample, std::int32_t number, std::int64_t place) const {
    double *const best = static_cast<double *>(problem_.output) + place;
    std::int32_t *const argmax = problem_.argmax + place;
    for (std::int64_t c = 0; c < g_.channels; ++c) {
      double value = 0;
      for (int corner = 0; sample.inside && corner < 4; ++corner)
        value += sample.weight[corner] * map[sample.pixel[corner] * row() + c];
      if (number != 0 && !(value > best[c])) continue;
      best[c] = value;
      argmax[c] = number;
    }
  }

  const BorderAlignForwardProblem &problem_;
  const BorderAlignGeometry &g_;
};

// A task owns the channels of one border in one batch, and adds to them box by box.
class DoubleBackward {
 public:
  explicit DoubleBackward(const BorderAlignBackwardProblem &problem) : problem_(problem), g_(problem.geometry) {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t task = begin; task < end; ++task) add_borders(task / kBorders, static_cast<int>(task % kBorders));
  }

 private:
  void add_borders(std::int64_t batch, int border) const {
    const std::int64_t pixels = g_.height * g_.width, row = kBorders * g_.channels;
    double *const map = static_cast<double *>(problem_.grad_input) + batch * pixels * row + border * g_.channels;
    InterruptPoll poll;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      if (poll.interrupted(g_.channels)) return;
      for (std::int64_t c = 0; c < g_.channels; ++c) map[pixel * row + c] = 0;
    }
    for (std::int64_t box = batch * g_.boxes; box < (batch + 1) * g_.boxes; ++box) {
      if (poll.interrupted(8 * g_.channels)) return;
      const DoubleWalk walk(static_cast<const double *>(problem_.box) + box * 4, border, g_.pool_size);
      const std::int64_t place = (box * kBorders + border) * g_.channels;
      const double *grad = static_cast<const double *>(problem_.grad_output) + place;
      for (std::int64_t c = 0; c < g_.channels; ++c) {
        const std::int32_t chosen = read_once(problem_.argmax + place + c);
        if (chosen < 0 || chosen > g_.pool_size) continue;
        const DoubleSample sample(g_, walk.x + walk.dx * chosen, walk.y + walk.dy * chosen);
        for (int corner = 0; sample.inside && corner < 4; ++corner)
          map[sample.pixel[corner] * row + c] += sample.weight[corner] * grad[c];
      }
    }
  }

  const BorderAlignBackwardProblem &problem_;
  const BorderAlignGeometry &g_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_CPU_DOUBLE_H_
