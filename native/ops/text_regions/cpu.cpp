// Regions of text on the CPU. The order in which pixels are reached decides, so there is one
// thread.
#include "cpu/kernel.h"
#include "ops/text_regions/text_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

// Pixels whose neighbours are looked at next; each comes in once.
class Queue {
 public:
  explicit Queue(std::int32_t *memory) : pixels_(memory) {}
  void add(std::int64_t pixel) { pixels_[end_++] = static_cast<std::int32_t>(pixel); }
  bool empty() const { return begin_ == end_; }
  std::int64_t next() { return pixels_[begin_++]; }

 private:
  std::int32_t *pixels_;
  std::int64_t begin_ = 0, end_ = 0;
};

struct Step {
  int down, right;
};

// Lets labels grow: take(pixel, label) tells whether a pixel without a label gets that of its
// neighbour.
template <typename Take>
void grow(Queue &queue, std::int64_t height, std::int64_t width, const Step (&steps)[4], std::int32_t *labels,
          const Take &take) {
  InterruptPoll poll;
  while (!queue.empty()) {
    if (poll.interrupted(16)) return;
    // A division of 32 bits takes half of the time.
    const std::uint32_t number = static_cast<std::uint32_t>(queue.next()), side = static_cast<std::uint32_t>(width);
    const std::int64_t pixel = number, row = number / side, column = number % side;
    const std::int32_t label = labels[pixel];
    for (const Step &step : steps) {
      const std::int64_t i = row + step.down, j = column + step.right, other = i * width + j;
      if (i < 0 || i >= height || j < 0 || j >= width || labels[other] > 0 || !take(other, label)) continue;
      labels[other] = label;
      queue.add(other);
    }
  }
}

// Copies the labels, with 0 for what is none.
void read_labels(const std::int32_t *from, std::int64_t pixels, std::int64_t labels, std::int32_t *to) {
  for_slices(0, pixels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t label = read_once(from + i);
      to[i] = label > 0 && label < labels ? label : 0;
    }
  });
}

template <typename Real>
class PixelGroups {
 public:
  explicit PixelGroups(const PixelGroupProblem &problem)
      : problem_(problem),
        pixels_(problem.height * problem.width),
        embedding_(static_cast<const Real *>(problem.embedding)),
        limit_(static_cast<Real>(problem.distance) * static_cast<Real>(problem.distance)) {}

  void run(std::int32_t *memory, Real *centres) {
    static constexpr Step kSteps[4] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    read_labels(problem_.label, pixels_, problem_.labels, problem_.output);
    if (interrupted()) return;
    find_centres(centres);
    Queue queue(memory);
    for_slices(0, pixels_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (problem_.output[i] > 0 && problem_.contour[i] != 0) queue.add(i);
      }
    });
    const auto take = [&](std::int64_t pixel, std::int32_t label) {
      return problem_.mask[pixel] != 0 && is_near(pixel, centres + label * problem_.channels);
    };
    grow(queue, problem_.height, problem_.width, kSteps, problem_.output, take);
    if (!interrupted()) find_means();
  }

 private:
  // Calls body(pixel, label) for all pixels with a label.
  template <typename Body>
  void each_labelled(const Body &body) const {
    for_slices(0, pixels_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (problem_.output[i] > 0) body(i, problem_.output[i]);
      }
    });
  }

  void find_centres(Real *centres) {
    const std::int64_t channels = problem_.channels;
    for (std::int64_t i = 0; i < problem_.labels * channels; ++i) centres[i] = 0;
    for (std::int64_t i = 0; i < problem_.labels; ++i) problem_.counts[i] = 0;
    each_labelled([&](std::int64_t pixel, std::int32_t label) {
      ++problem_.counts[label];
      for (std::int64_t c = 0; c < channels; ++c) centres[label * channels + c] += embedding_[pixel * channels + c];
    });
    for (std::int64_t i = 0; i < problem_.labels; ++i) {
      for (std::int64_t c = 0; c < channels && problem_.counts[i] > 0; ++c)
        centres[i * channels + c] /= static_cast<Real>(problem_.counts[i]);
    }
  }

  // Squares and sums are those of double, rounded after each addition. A NaN counts as near.
  bool is_near(std::int64_t pixel, const Real *centre) const {
    Real sum = 0;
    for (std::int64_t c = 0; c < problem_.channels; ++c) {
      const double apart = static_cast<double>(embedding_[pixel * problem_.channels + c] - centre[c]);
      sum = static_cast<Real>(static_cast<double>(sum) + apart * apart);
    }
    return !(sum >= limit_);
  }

  void find_means() {
    Real *const means = static_cast<Real *>(problem_.means);
    for (std::int64_t i = 0; i < problem_.labels; ++i) {
      means[i] = 0;
      problem_.counts[i] = 0;
    }
    each_labelled([&](std::int64_t pixel, std::int32_t label) {
      means[label] += static_cast<const Real *>(problem_.score)[pixel];
      ++problem_.counts[label];
    });
    for (std::int64_t i = 0; i < problem_.labels; ++i) {
      if (problem_.counts[i] > 0) means[i] /= static_cast<Real>(problem_.counts[i]);
    }
  }

  const PixelGroupProblem &problem_;
  const std::int64_t pixels_;
  const Real *const embedding_;
  const Real limit_;
};

template <typename Real>
mluOpStatus_t group(const PixelGroupProblem &problem) {
  const Scratch<std::int32_t> queue(problem.height * problem.width);
  const Scratch<Real> centres(problem.labels * problem.channels);
  if (queue.data() == nullptr || centres.data() == nullptr) return out_of_memory(problem.function);
  PixelGroups<Real>(problem).run(queue.data(), centres.data());
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t contour_expand(const ContourExpandProblem &problem) {
  static constexpr Step kSteps[4] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  const std::int64_t pixels = problem.height * problem.width;
  const Scratch<std::int32_t> memory(pixels);
  const Scratch<std::int64_t> areas(problem.labels);
  if (memory.data() == nullptr || areas.data() == nullptr) return out_of_memory(problem.function);
  for (std::int64_t i = 0; i < problem.labels; ++i) areas.data()[i] = 0;
  std::int32_t *const labels = problem.output;
  read_labels(problem.label, pixels, problem.labels, labels);
  if (interrupted()) return MLUOP_STATUS_SUCCESS;
  Queue queue(memory.data());
  for_slices(0, pixels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++areas.data()[labels[i]];
  });
  for_slices(0, pixels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (labels[i] != 0 && areas.data()[labels[i]] < problem.least_area) labels[i] = 0;
      if (labels[i] != 0) queue.add(i);
    }
  });
  const auto take = [&](std::int64_t pixel, std::int32_t) { return problem.mask[pixel] != 0; };
  if (problem.masks > 1) grow(queue, problem.height, problem.width, kSteps, labels, take);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t pixel_group(const PixelGroupProblem &problem) {
  return problem.is_double ? group<double>(problem) : group<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_contour_expand, contour_expand, ContourExpandProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_pixel_group, pixel_group, PixelGroupProblem, problem.function);
