// The transforms along one dim of a tensor.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_STAGE_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_STAGE_H_

#include "ops/fourier_transforms/cpu/odd_split.h"
#include "ops/fourier_transforms/cpu/real.h"
#include "ops/fourier_transforms/cpu/split.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Signals are few if that many would not fill the lanes, or would leave the caches in them.
constexpr std::int64_t kFewSignals = 8;
constexpr std::int64_t kFewLongSignals = 16;
constexpr std::int64_t kFewConvolutions = 3;    // which take more time on the way than in the lanes
constexpr std::int64_t kLong = 1024;            // from there on a signal is long
constexpr std::int64_t kMostInLanes = 1 << 13;  // longer ones are computed one by one, however many
constexpr std::int64_t kMostConvolved = 1 << 16;
constexpr std::int64_t kTogether = 256;  // elements of shorter ones in a task

template <typename Real>
struct StageProblem {
  FftKind kind;
  const FftAxis<Real> *axis;
  Side from;
  Side to;
  std::int64_t outer;
  std::int64_t inner;
  bool inverse;
  bool ordered;
  Real scale;
  Real weight;
};

inline Form form_of(FftKind kind, bool even, bool input) {
  if (kind == FftKind::kComplex || (kind == FftKind::kComplexToReal) == input) return Form::kComplex;
  return even ? Form::kPairs : Form::kReal;
}

template <typename Real>
class Stage {
 public:
  typedef mluops::MLUOPS_LEVEL::Wide<Real> Wide;
  typedef mluops::MLUOPS_LEVEL::Narrow<Real> Narrow;
  static constexpr std::int64_t kWidth = Wide::kWidth;

  Stage(const StageProblem<Real> &problem, Arena *arena)
      : p_(problem),
        table_(problem.axis->complex),
        length_(table_.length),
        signals_(problem.outer * problem.inner),
        one_by_one_(table_.split.between != nullptr && (signals_ < few() || length_ > most_in_lanes())),
        narrow_(problem.ordered || signals_ <= Narrow::kWidth || length_ > kMostInLanes),
        width_(problem.ordered ? 1
               : narrow_       ? std::int64_t{Narrow::kWidth}
                               : kWidth),
        groups_(one_by_one_ ? signals_ : (signals_ + width_ - 1) / width_) {
    const std::int64_t values = 4 * length_ * (one_by_one_ ? 1 : width_);
    const bool apart = !one_by_one_ || groups_ >= thread_count();
    slots_ = problem.ordered || !apart ? 1 : useful_slots(groups_, values);
    inside_ = apart ? 1 : useful_slots(length_ / kWidth + 1, 8 * kWidth);
    room_ = larger(table_.steps.length, problem.axis->n / 2 + 1);
    bytes_ = memory_of(nullptr).used();
    memory_ = arena->allocate<char>(bytes_ * slots_);
  }

  void run() const {
    // Short signals: some groups at a time, so that the calls around them take no time.
    const std::int64_t some = larger<std::int64_t>(kTogether / length_, 1), tasks = (groups_ + some - 1) / some;
    parallel_slots(tasks, smaller(slots_, tasks), [&](int slot, std::int64_t task) {
      if (interrupted()) return;
      for (std::int64_t group = task * some; group < smaller(groups_, (task + 1) * some); ++group) {
        char *const memory = memory_ + slot * bytes_;
        if (one_by_one_) {
          run_single(group, memory);
        } else if (narrow_) {
          run_group<Narrow>(group, memory);
        } else {
          run_group<Wide>(group, memory);
        }
      }
    });
  }

 private:
  typedef Pair<typename Wide::Vector> Lanes;
  typedef Pair<Real> Number;

  std::int64_t few() const {
    if (table_.chirp != nullptr) return length_ < kLong ? kFewConvolutions : kFewSignals;
    return length_ < kLong ? kFewSignals : kFewLongSignals;
  }

  std::int64_t most_in_lanes() const { return table_.chirp == nullptr ? kMostInLanes : kMostConvolved; }

  bool even() const { return p_.axis->halves != nullptr; }
  bool odd() const { return p_.kind != FftKind::kComplex && p_.axis->levels != nullptr; }

  // Memory of one slot.
  Arena memory_of(char *memory, Single<Real> *single = nullptr, OddSingle<Real> *odd_single = nullptr,
                  Number **line = nullptr) const {
    Arena arena(memory);
    if (!one_by_one_) {
      const std::int64_t lanes = narrow_ ? std::int64_t{Narrow::kWidth} : kWidth;
      arena.allocate<Number>((p_.axis->levels == nullptr ? 2 : 3) * room_ * lanes);
      return arena;
    }
    Single<Real> own(table_, inside_);
    OddSingle<Real> odd(table_.split, inside_);
    if (this->odd()) {
      (odd_single == nullptr ? odd : *odd_single).allocate(&arena);
    } else {
      (single == nullptr ? own : *single).allocate(&arena);
    }
    Number *const found = arena.allocate<Number>(length_ + 1);
    if (line != nullptr) *line = found;
    return arena;
  }

  // ---- Signals in the lanes of vectors ----------------------------------------------------------

  template <typename Width>
  void run_group(std::int64_t group, char *memory) const {
    typedef Pair<typename Width::Vector> Values;
    const std::int64_t first = group * width_, count = smaller(width_, signals_ - first);
    const Group<Width> from(p_.from, first, count, p_.inner), to(p_.to, first, count, p_.inner);
    Values *const values = reinterpret_cast<Values *>(memory), *const others = values + room_;
    if (p_.kind == FftKind::kComplex) {
      from.load(length_, p_.inverse, values);
      to.store(length_, p_.inverse, p_.scale, run_length(table_, values, others));
    } else if (odd()) {
      run_odd(from, to, values);
    } else if (p_.kind == FftKind::kRealToComplex) {
      from.load(length_, false, values);
      Values *const found = run_length(table_, values, others);
      Values *const spectrum = even() ? (found == values ? others : values) : found;
      half_spectrum(found, spectrum);
      to.store(p_.axis->n / 2 + 1, false, p_.scale, spectrum);
    } else {
      from.load(p_.axis->n / 2 + 1, false, values);
      Values *const whole = even() ? others : values;
      whole_spectrum(values, whole);
      to.store(length_, true, p_.scale, run_length(table_, whole, even() ? values : others));
    }
  }

  template <typename Width>
  void run_odd(const Group<Width> &from, const Group<Width> &to, Pair<typename Width::Vector> *values) const {
    Pair<typename Width::Vector> *const spectrum = values + 2 * room_;
    const OddTransform<typename Width::Vector, Real> transform(*p_.axis, values, values + room_, spectrum);
    if (p_.kind == FftKind::kRealToComplex) {
      from.load(length_, false, values);
      transform.forward(p_.weight);
      to.store(p_.axis->n / 2 + 1, false, p_.scale, spectrum);
    } else {
      from.load(p_.axis->n / 2 + 1, false, spectrum);
      transform.inverse(p_.weight);
      to.store(length_, false, p_.scale, values);
    }
  }

  // ---- One signal -------------------------------------------------------------------------------

  void run_single(std::int64_t signal, char *memory) const {
    Side from = p_.from, to = p_.to;
    from.data = at(from, signal);
    to.data = at(to, signal);
    if (odd()) return run_single_odd(from, to, memory);
    Single<Real> single(table_, inside_);
    Number *line = nullptr;
    memory_of(memory, &single, nullptr, &line);
    Real *const own = reinterpret_cast<Real *>(line);
    Real *const target = to.packed() ? static_cast<Real *>(const_cast<void *>(to.data)) : own;
    if (p_.kind == FftKind::kComplex) {
      single.run(packed(from, length_, line), target, p_.inverse, p_.scale);
      if (target == own) scatter(line, length_, to);
    } else if (p_.kind == FftKind::kRealToComplex) {
      Real *const place = even() ? target : own;  // an odd length has more numbers than its half spectrum
      single.run(packed(from, length_, line), place, false, p_.scale);
      half_spectrum(reinterpret_cast<Number *>(place), reinterpret_cast<Number *>(place));
      if (place == own) scatter(line, p_.axis->n / 2 + 1, to);
    } else {
      whole_spectrum(reinterpret_cast<const Number *>(packed(from, p_.axis->n / 2 + 1, line)), line);
      single.run(own, target, true, p_.scale);
      if (target == own) scatter(line, length_, to);
    }
  }

  void run_single_odd(const Side &from, const Side &to, char *memory) const {
    OddSingle<Real> single(table_.split, inside_);
    Number *line = nullptr;
    memory_of(memory, nullptr, &single, &line);
    Real *const own = reinterpret_cast<Real *>(line);
    Real *const target = to.dense() ? static_cast<Real *>(const_cast<void *>(to.data)) : own;
    const bool forward = p_.kind == FftKind::kRealToComplex;
    const std::int64_t half = length_ / 2 + 1, count = forward ? length_ : half;
    const Real *source = static_cast<const Real *>(from.data);
    if (!from.dense() || from.whole < count) {
      gather_parts(from, count, own);
      source = own;
    }
    if (forward) {
      single.forward(source, p_.weight, p_.scale, target);
    } else {
      single.inverse(source, p_.weight, p_.scale, target);
    }
    if (target == own) scatter_parts(own, forward ? half : length_, to);
  }

  const void *at(const Side &side, std::int64_t signal) const {
    const std::int64_t offset = signal / p_.inner * side.outer + signal % p_.inner * side.inner;
    const std::int64_t bytes = side.half ? static_cast<std::int64_t>(sizeof(Half)) : sizeof(Real);
    return static_cast<const char *>(side.data) + offset * bytes;
  }

  const Real *packed(const Side &side, std::int64_t count, Number *line) const {
    if (side.packed() && side.whole >= count) return static_cast<const Real *>(side.data);
    gather(side, count, line);
    return reinterpret_cast<const Real *>(line);
  }

  void gather(const Side &side, std::int64_t count, Number *to) const {
    if (side.dense() && side.parts == 1 && side.whole >= count) {
      const Real *const from = static_cast<const Real *>(side.data);
      for (std::int64_t i = 0; i < count; ++i) to[i] = {from[i], Real{0}};
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const int parts = i < side.whole ? side.parts : i == side.whole && side.more ? 1 : 0;
      to[i].re = parts > 0 ? read<Real>(side, i * side.element) : Real{0};
      to[i].im = parts > 1 ? read<Real>(side, i * side.element + side.part) : Real{0};
    }
  }

  // Of real numbers the only parts.
  void gather_parts(const Side &side, std::int64_t count, Real *to) const {
    for (std::int64_t i = 0; i < count; ++i) {
      for (int part = 0; part < side.parts; ++part)
        *to++ = i < side.whole ? read<Real>(side, i * side.element + part * side.part) : Real{0};
    }
  }

  void scatter(const Number *from, std::int64_t count, const Side &to) const {
    if (to.parts == 2) return scatter_parts(reinterpret_cast<const Real *>(from), count, to);
    if (to.dense()) {
      Real *const target = static_cast<Real *>(const_cast<void *>(to.data));
      for (std::int64_t i = 0; i < count; ++i) target[i] = from[i].re;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) write(to, i * to.element, from[i].re);
  }

  void scatter_parts(const Real *from, std::int64_t count, const Side &to) const {
    if (to.dense()) {
      std::memcpy(const_cast<void *>(to.data), from, static_cast<std::size_t>(count * to.parts) * sizeof(Real));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (int part = 0; part < to.parts; ++part) write(to, i * to.element + part * to.part, *from++);
    }
  }

  // ---- Half spectra -----------------------------------------------------------------------------

  Pair<Real> root(std::int64_t k) const { return {p_.axis->halves[2 * k], p_.axis->halves[2 * k + 1]}; }

  template <typename Values>
  void half_spectrum(const Pair<Values> *from, Pair<Values> *to) const {
    const std::int64_t n = p_.axis->n;
    if (!even()) {
      to[0].im = Values{};  // a convolution leaves its error there
      for (std::int64_t k = 1; k <= n / 2 && p_.weight != Real{1}; ++k)
        to[k] = {from[k].re * p_.weight, from[k].im * p_.weight};
      return;
    }
    unfold(from[0], from[0], root(0), Real{1}, to, to + length_);
    for (std::int64_t k = middle(from, to); k <= length_ / 2; ++k) {
      const Pair<Values> one = from[k], other = from[length_ - k];
      unfold(one, other, root(k), p_.weight, to + k, to + length_ - k);
    }
  }

  // Treats the outer frequencies with vectors where they lie in a row, and returns the first that
  // is left.
  template <typename Values>
  std::int64_t middle(const Pair<Values> *, Pair<Values> *) const {
    return 1;
  }
  std::int64_t middle(const Number *from, Number *to) const {
    return in_vectors(from, to, [&](const Lanes &one, const Lanes &other, const Lanes &root, Lanes *low, Lanes *high) {
      unfold(one, other, root, p_.weight, low, high);
    });
  }

  template <typename Body>
  std::int64_t in_vectors(const Number *from, Number *to, const Body &body) const {
    const Real *const given = reinterpret_cast<const Real *>(from);
    Real *const target = reinterpret_cast<Real *>(to);
    std::int64_t k = 1;
    for (; k + kWidth <= length_ - k - kWidth + 1; k += kWidth) {
      const std::int64_t mirrored = length_ - k - kWidth + 1;
      const Lanes one = load_complex<Wide>(given + 2 * k);
      const Lanes other = backwards<Wide>(load_complex<Wide>(given + 2 * mirrored));
      Lanes low = {}, high = {};
      body(one, other, load_complex<Wide>(p_.axis->halves + 2 * k), &low, &high);
      store_complex<Wide>(target + 2 * k, low);
      store_complex<Wide>(target + 2 * mirrored, backwards<Wide>(high));
    }
    return k;
  }

  // What the inverse transform needs, of signals in lanes with exchanged parts.
  template <typename Values>
  void whole_spectrum(const Pair<Values> *from, Pair<Values> *to) const {
    const std::int64_t n = p_.axis->n;
    const Pair<Values> first = {from[0].re, Values{}};
    if (!even()) {
      to[0] = exchanged(first);
      for (std::int64_t k = 1; k <= n / 2; ++k) {
        const Pair<Values> value = {from[k].re * p_.weight, from[k].im * p_.weight};
        to[k] = exchanged(value);
        to[n - k] = exchanged(conjugate(value));
      }
      return;
    }
    const Pair<Values> last = {from[length_].re, Values{}};
    Pair<Values> one, other;
    fold(first, last, root(0), Real{1}, &one, &other);
    to[0] = exchanged(one);
    for (std::int64_t k = middle_back(from, to); k <= length_ / 2; ++k) {
      fold(from[k], from[length_ - k], root(k), p_.weight, &one, &other);
      to[k] = exchanged(one);
      to[length_ - k] = exchanged(other);
    }
  }

  template <typename Values>
  static Pair<Values> exchanged(const Pair<Values> &value) {
    return swapped(value);
  }
  static Number exchanged(const Number &value) { return value; }

  template <typename Values>
  std::int64_t middle_back(const Pair<Values> *, Pair<Values> *) const {
    return 1;
  }
  std::int64_t middle_back(const Number *from, Number *to) const {
    return in_vectors(from, to, [&](const Lanes &one, const Lanes &other, const Lanes &root, Lanes *low, Lanes *high) {
      fold(one, other, root, p_.weight, low, high);
    });
  }

  const StageProblem<Real> p_;
  const FftLength<Real> &table_;
  const std::int64_t length_;
  const std::int64_t signals_;
  const bool one_by_one_;
  const bool narrow_;
  const std::int64_t width_;
  const std::int64_t groups_;
  std::int64_t slots_;
  std::int64_t inside_;
  std::int64_t room_;
  std::int64_t bytes_;
  char *memory_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_STAGE_H_
