// Masked convolution on the CPU. Values are only moved, so their type does not matter but for its
// size. Cells are read in runs, whose places serve several channels.
#include "cpu/kernel.h"
#include "ops/masked_conv/masked_conv.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kRun = 512;
constexpr std::int64_t kValuesPerPiece = 16384;
// Planes of several channels that stay in the cache while columns are written to them.
constexpr std::int64_t kCachedBytes = 1 << 18;
constexpr std::int64_t kMostChannels = 16;

// The places in a plane of a run of cells, moved down and to the right; -1 beside the plane.
class Places {
 public:
  void find(const MaskedMap &map, std::int64_t first, std::int64_t down, std::int64_t right) {
    count = smaller(kRun, map.cells - first);
    inside = true;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = read_once(map.mask_h + first + i) + down;
      const std::int64_t column = read_once(map.mask_w + first + i) + right;
      const bool is_inside = row >= 0 && row < map.height && column >= 0 && column < map.width;
      at[i] = is_inside ? static_cast<std::int32_t>(row * map.width + column) : -1;
      inside &= is_inside;
    }
  }

  std::int64_t count;
  bool inside;  // all of them
  std::int32_t at[kRun];
};

template <typename Word>
class Gather {
 public:
  explicit Gather(const MaskedIm2colProblem &problem)
      : problem_(problem),
        map_(problem.map),
        kernel_(problem.kernel_h * problem.kernel_w),
        blocks_((map_.channels + kMostChannels - 1) / kMostChannels) {}

  // A task has some channels and one cell of the kernel.
  std::int64_t tasks() const { return blocks_ * kernel_; }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    Places places;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t cell = task % kernel_, c = task / kernel_ * kMostChannels;
      const std::int64_t down = cell / problem_.kernel_w - problem_.pad_h;
      const std::int64_t right = cell % problem_.kernel_w - problem_.pad_w;
      for (std::int64_t first = 0; first < map_.cells; first += kRun) {
        places.find(map_, first, down, right);
        for (std::int64_t i = c; i < smaller(c + kMostChannels, map_.channels); ++i) {
          if (poll.interrupted(places.count)) return;
          gather(places, static_cast<const Word *>(problem_.feature) + i * map_.height * map_.width,
                 static_cast<Word *>(problem_.data_col) + (i * kernel_ + cell) * map_.cells + first);
        }
      }
    }
  }

 private:
  static void gather(const Places &places, const Word *plane, Word *column) {
    if (places.inside) {
      for (std::int64_t i = 0; i < places.count; ++i) column[i] = plane[places.at[i]];
      return;
    }
    for (std::int64_t i = 0; i < places.count; ++i) column[i] = places.at[i] < 0 ? Word{0} : plane[places.at[i]];
  }

  const MaskedIm2colProblem &problem_;
  const MaskedMap &map_;
  const std::int64_t kernel_, blocks_;
};

template <typename Word>
class Scatter {
 public:
  explicit Scatter(const MaskedCol2imProblem &problem)
      : problem_(problem),
        map_(problem.map),
        plane_(map_.height * map_.width),
        block_(smaller(larger<std::int64_t>(kCachedBytes / (plane_ * map_.value_bytes), 1), kMostChannels)) {}

  // A task has the planes of some channels, so the order of the columns decides which one is last.
  std::int64_t tasks() const { return (map_.channels + block_ - 1) / block_; }
  std::int64_t values() const { return block_ * (plane_ + map_.cells); }

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    Places places;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t c = task * block_, last = smaller(c + block_, map_.channels);
      Word *const im = static_cast<Word *>(problem_.im);
      for (std::int64_t i = c * plane_; i < last * plane_; i += kValuesPerPiece) {
        const std::int64_t count = smaller(kValuesPerPiece, last * plane_ - i);
        if (poll.interrupted(count)) return;
        std::memset(im + i, 0, static_cast<std::size_t>(count) * sizeof(Word));
      }
      for (std::int64_t first = 0; first < map_.cells; first += kRun) {
        places.find(map_, first, 0, 0);
        for (std::int64_t i = c; i < last; ++i) {
          if (poll.interrupted(places.count)) return;
          scatter(places, static_cast<const Word *>(problem_.col) + i * map_.cells + first, im + i * plane_);
        }
      }
    }
  }

 private:
  static void scatter(const Places &places, const Word *column, Word *plane) {
    for (std::int64_t i = 0; i < places.count; ++i) {
      if (places.at[i] >= 0) plane[places.at[i]] = column[i];
    }
  }

  const MaskedCol2imProblem &problem_;
  const MaskedMap &map_;
  const std::int64_t plane_, block_;
};

template <typename Word>
void gather_windows(const MaskedIm2colProblem &problem) {
  Gather<Word> gather(problem);
  parallel_for(gather.tasks(), kValuesPerPiece / (kMostChannels * problem.map.cells) + 1, gather);
}

template <typename Word>
void scatter_columns(const MaskedCol2imProblem &problem) {
  Scatter<Word> scatter(problem);
  parallel_for(scatter.tasks(), kValuesPerPiece / scatter.values() + 1, scatter);
}

}  // namespace

mluOpStatus_t masked_im2col(const MaskedIm2colProblem &problem) {
  switch (problem.map.value_bytes) {
    case 2:
      gather_windows<std::uint16_t>(problem);
      break;
    case 4:
      gather_windows<std::uint32_t>(problem);
      break;
    default:
      gather_windows<std::uint64_t>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t masked_col2im(const MaskedCol2imProblem &problem) {
  switch (problem.map.value_bytes) {
    case 2:
      scatter_columns<std::uint16_t>(problem);
      break;
    case 4:
      scatter_columns<std::uint32_t>(problem);
      break;
    default:
      scatter_columns<std::uint64_t>(problem);
  }
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_masked_im2col, masked_im2col, MaskedIm2colProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_masked_col2im, masked_col2im, MaskedCol2imProblem, problem.function);
