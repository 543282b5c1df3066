// GenerateProposalsV2 on the CPU, in float and double: an image after the other, since its rows
// stand behind those of the images before.
#include "cpu/plane_boxes.h"
#include "cpu/suppression.h"
#include "ops/generate_proposals/generate_proposals.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr double kMostGrowth = 4.135166556742356;  // ln(1000 / 16): logarithm of the largest factor of sides
constexpr std::int64_t kGrain = 512;
constexpr int kBins = 1 << 16;

// A NaN is the highest score.
static inline std::uint64_t key_of(double score) { return score == score ? ranking_key(score) : 0; }

// Memory of a call.
template <typename Real>
struct Memory {
  Memory(Arena &arena, const GenerateProposalsProblem &problem)
      : suppression(arena, problem.anchor_count),
        decoded(arena.allocate<PlaneBox<Real>>(problem.most_ranked)),
        valid(arena.allocate<unsigned char>(problem.most_ranked)),
        kept(arena.allocate<std::int32_t>(problem.most_ranked)),
        bins(arena.allocate<std::int64_t>(kBins)) {}

  SuppressionMemory<PlaneBox<Real>> suppression;
  PlaneBox<Real> *decoded;  // of the ranked boxes in their order
  unsigned char *valid;
  std::int32_t *kept;
  std::int64_t *bins;
};

template <typename Real>
class Proposals {
 public:
  Proposals(const GenerateProposalsProblem &problem, const Memory<Real> &memory)
      : p_(problem), memory_(memory), offset_(static_cast<Real>(problem.pixel_offset ? 1 : 0)) {}

  void run() const {
    std::int64_t total = 0;
    for (std::int64_t image = 0; image < p_.batch && !interrupted(); ++image) total += propose(image, total);
    if (!interrupted()) *p_.total = static_cast<std::int32_t>(total);
  }

 private:
  // Writes the rows of an image from row `first` on; returns their number.
  std::int64_t propose(std::int64_t image, std::int64_t first) const {
    const Real *const scores = static_cast<const Real *>(p_.scores) + image * p_.anchor_count;
    const SuppressionMemory<PlaneBox<Real>> &suppression = memory_.suppression;
    const std::int64_t candidates = select(scores);
    Ranked *const ranked = sort_ranked(suppression.ranked, suppression.other, candidates);
    decode_all(image, ranked);
    // From here on a number is a place among the ranked ones.
    Ranked *const left = ranked == suppression.ranked ? suppression.other : suppression.ranked;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < p_.most_ranked; ++i)
      if (memory_.valid[i] != 0) left[count++] = Ranked{ranked[i].key, static_cast<std::int32_t>(i)};
    const std::int64_t most = smaller(p_.most_kept, count);
    const std::int64_t found = p_.eta < 1 ? suppress_more_and_more(left, count, most) : suppress(left, count, most);
    write(image, first, found, scores, ranked);
    return found == 0 ? 1 : found;
  }

  std::int64_t suppress(Ranked *left, std::int64_t count, std::int64_t most) const {
    PlaneBlock<Real, false> block(static_cast<Real>(p_.nms_threshold), offset_);
    const auto read = [this](std::int64_t place) { return memory_.decoded[place]; };
    return suppress_ranked(left, count, read, block, memory_.suppression, most, memory_.kept);
  }

  // Each box is compared with all that were kept, by the threshold that has fallen up to there.
  std::int64_t suppress_more_and_more(const Ranked *left, std::int64_t count, std::int64_t most) const {
    Real threshold = static_cast<Real>(p_.nms_threshold);
    const Real eta = static_cast<Real>(p_.eta), lowest = static_cast<Real>(0.5);
    InterruptPoll poll;
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count && found < most; ++i) {
      const PlaneBox<Real> &box = memory_.decoded[left[i].index];
      if (poll.interrupted(16 * (found + 1))) return found;
      bool overlaps = false;
      for (std::int64_t k = 0; k < found && !overlaps; ++k)
        overlaps = part_of_both(memory_.decoded[memory_.kept[k]], box, offset_) > threshold;
      if (overlaps) continue;
      memory_.kept[found++] = left[i].index;
      if (threshold > lowest) threshold *= eta;
    }
    return found;
  }

  // Leaves all that may be among the best ones in their order; returns their number. Scores are
  // counted by the first bits of their keys.
  std::int64_t select(const Real *scores) const {
    Ranked *const ranked = memory_.suppression.ranked;
    const std::int64_t count = p_.anchor_count;
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        ranked[i] = Ranked{key_of(static_cast<double>(read_once(scores + i))), static_cast<std::int32_t>(i)};
    });
    if (p_.most_ranked == count || interrupted()) return count;
    std::memset(memory_.bins, 0, kBins * sizeof *memory_.bins);
    for (std::int64_t i = 0; i < count; ++i) ++memory_.bins[ranked[i].key >> 48];
    std::uint64_t last = 0;
    for (std::int64_t sum = memory_.bins[0]; sum < p_.most_ranked;) sum += memory_.bins[++last];
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count; ++i)
      if (ranked[i].key >> 48 <= last) ranked[found++] = ranked[i];
    return found;
  }

  void decode_all(std::int64_t image, const Ranked *ranked) const {
    const Real *const shape = static_cast<const Real *>(p_.im_shape) + 2 * image;
    const Real height = read_once(shape), width = read_once(shape + 1);
    const Real *const deltas = static_cast<const Real *>(p_.deltas) + 4 * image * p_.anchor_count;
    const Real least = static_cast<Real>(p_.min_size > 1 ? p_.min_size : 1);
    const auto decode_some = [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      if (interrupted()) return;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t anchor = ranked[i].index;
        const PlaneBox<Real> box = decode(anchor, deltas + 4 * anchor, height, width);
        memory_.decoded[i] = box;
        memory_.valid[i] = is_valid(box, height, width, least) ? 1 : 0;
      }
    };
    std::memset(memory_.valid, 0, static_cast<std::size_t>(p_.most_ranked));
    parallel_ranges(p_.most_ranked, kGrain, decode_some);
  }

  static Real growth(Real delta, Real variance) {
    const Real product = delta * variance, most = static_cast<Real>(kMostGrowth);
    return static_cast<Real>(__builtin_exp(static_cast<double>(product > most ? most : product)));
  }

  // A NaN stays one.
  static Real limited(Real value, Real most) {
    const Real below = value > most ? most : value;
    return below < 0 ? 0 : below;
  }

  PlaneBox<Real> decode(std::int64_t number, const Real *delta, Real height, Real width) const {
    const Real *const anchor = static_cast<const Real *>(p_.anchors) + 4 * number;
    const Real *const variance = static_cast<const Real *>(p_.variances) + 4 * number;
    const Real x1 = read_once(anchor), y1 = read_once(anchor + 1);
    const Real w = read_once(anchor + 2) - x1 + offset_, h = read_once(anchor + 3) - y1 + offset_;
    const Real x = x1 + w / 2 + read_once(delta) * w * read_once(variance);
    const Real y = y1 + h / 2 + read_once(delta + 1) * h * read_once(variance + 1);
    const Real half_w = w * growth(read_once(delta + 2), read_once(variance + 2)) / 2;
    const Real half_h = h * growth(read_once(delta + 3), read_once(variance + 3)) / 2;
    const Real right = width - offset_, bottom = height - offset_;
    return PlaneBox<Real>(limited(x - half_w, right), limited(y - half_h, bottom), limited(x + half_w - offset_, right),
                          limited(y + half_h - offset_, bottom), offset_);
  }

  bool is_valid(const PlaneBox<Real> &box, Real height, Real width, Real least) const {
    const Real w = box.x2 - box.x1 + offset_, h = box.y2 - box.y1 + offset_;
    if (!(w >= least) || !(h >= least)) return false;
    return !p_.pixel_offset || (box.x1 + w / 2 <= width && box.y1 + h / 2 <= height);
  }

  // An image without boxes has a row of zeros.
  void write(std::int64_t image, std::int64_t first, std::int64_t found, const Real *scores,
             const Ranked *ranked) const {
    if (interrupted()) return;
    Real *const rois = static_cast<Real *>(p_.rois) + 4 * first;
    Real *const probabilities = static_cast<Real *>(p_.probabilities) + first;
    p_.counts[image] = static_cast<std::int32_t>(found == 0 ? 1 : found);
    if (found == 0) {
      for (int k = 0; k < 4; ++k) rois[k] = 0;
      probabilities[0] = 0;
    }
    for (std::int64_t i = 0; i < found; ++i) {
      const std::int64_t place = memory_.kept[i];
      const PlaneBox<Real> &box = memory_.decoded[place];
      rois[4 * i] = box.x1;
      rois[4 * i + 1] = box.y1;
      rois[4 * i + 2] = box.x2;
      rois[4 * i + 3] = box.y2;
      probabilities[i] = read_once(scores + ranked[place].index);
    }
  }

  const GenerateProposalsProblem &p_;
  const Memory<Real> &memory_;
  const Real offset_;
};

template <typename Real>
mluOpStatus_t run(const GenerateProposalsProblem &problem) {
  Arena sizes(nullptr);
  const Memory<Real> none(sizes, problem);
  const Scratch<char> scratch(sizes.used());
  if (scratch.data() == nullptr) return out_of_memory(problem.function);
  Arena arena(scratch.data());
  const Memory<Real> memory(arena, problem);
  Proposals<Real>(problem, memory).run();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t generate_proposals(const GenerateProposalsProblem &problem) {
  return problem.is_double ? run<double>(problem) : run<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_generate_proposals, generate_proposals, GenerateProposalsProblem, problem.function);
