// The transforms along one dim of a tensor.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_STAGE_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_STAGE_H_

#include "ops/fourier_transforms/cpu/real.h"
#include "ops/fourier_transforms/cpu/split.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr std::int64_t kFewSignals = 8;         // are computed one by one
constexpr std::int64_t kFewLongSignals = 16;    // so that several threads have some
constexpr std::int64_t kLong = 1024;            // from there on a signal is long
constexpr std::int64_t kMostInLanes = 1 << 16;  // longer ones too, since lanes of them leave the caches
constexpr std::int64_t kTogether = 256;         // elements of shorter ones in a task

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
  typedef typename Arithmetic<Real>::Vector Vector;
  static constexpr std::int64_t kWidth = Arithmetic<Real>::kWidth;

  Stage(const StageProblem<Real> &problem, Arena *arena)
      : p_(problem),
        table_(problem.axis->complex),
        length_(table_.length),
        signals_(problem.outer * problem.inner),
        one_by_one_(table_.split.between != nullptr && (signals_ < few(problem) || length_ > kMostInLanes)),
        width_(problem.ordered ? 1 : kWidth),
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
        if (one_by_one_) {
          run_single(group, memory_ + slot * bytes_);
        } else {
          run_group(group, memory_ + slot * bytes_);
        }
      }
    });
  }

 private:
  typedef Pair<Vector> Lanes;
  typedef Pair<Real> Number;

  // Real signals of an odd length cost twice as much one by one.
  static std::int64_t few(const StageProblem<Real> &problem) {
    const bool odd = problem.kind != FftKind::kComplex && problem.axis->levels != nullptr;
    return problem.axis->complex.length < kLong || odd ? kFewSignals : kFewLongSignals;
  }

  bool even() const { return p_.axis->halves != nullptr; }

  // Memory of one slot.
  Arena memory_of(char *memory, Single<Real> *single = nullptr, Number **line = nullptr) const {
    Arena arena(memory);
    if (!one_by_one_) {
      arena.allocate<Lanes>((p_.axis->levels == nullptr ? 2 : 3) * room_);
      return arena;
    }
    Single<Real> own(table_, inside_);
    (single == nullptr ? own : *single).allocate(&arena);
    Number *const found = arena.allocate<Number>(length_ + 1);
    if (line != nullptr) *line = found;
    return arena;
  }

  // ---- Signals in the lanes of vectors ----------------------------------------------------------

  void run_group(std::int64_t group, char *memory) const {
    const std::int64_t first = group * width_, count = smaller(width_, signals_ - first);
    const Group<Real> from(p_.from, first, count, p_.inner), to(p_.to, first, count, p_.inner);
    Lanes *const values = reinterpret_cast<Lanes *>(memory), *const others = values + room_;
    if (p_.kind == FftKind::kComplex) {
      from.load(length_, p_.inverse, values);
      to.store(length_, p_.inverse, p_.scale, run_length(table_, values, others));
    } else if (p_.axis->levels != nullptr) {
      run_odd(from, to, values);
    } else if (p_.kind == FftKind::kRealToComplex) {
      from.load(length_, false, values);
      Lanes *const found = run_length(table_, values, others);
      Lanes *const spectrum = even() ? (found == values ? others : values) : found;
      half_spectrum(found, spectrum);
      to.store(p_.axis->n / 2 + 1, false, p_.scale, spectrum);
    } else {
      from.load(p_.axis->n / 2 + 1, false, values);
      Lanes *const whole = even() ? others : values;
      whole_spectrum(values, whole);
      to.store(length_, true, p_.scale, run_length(table_, whole, even() ? values : others));
    }
  }

  void run_odd(const Group<Real> &from, const Group<Real> &to, Lanes *values) const {
    Lanes *const spectrum = values + 2 * room_;
    const OddTransform<Vector, Real> transform(*p_.axis, values, values + room_, spectrum);
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
    Single<Real> single(table_, inside_);
    Number *line = nullptr;
    memory_of(memory, &single, &line);
    Side from = p_.from, to = p_.to;
    from.data = at(from, signal);
    to.data = at(to, signal);
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
      gather(from, p_.axis->n / 2 + 1, line);
      whole_spectrum(line, line);
      single.run(own, target, true, p_.scale);
      if (target == own) scatter(line, length_, to);
    }
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
    for (std::int64_t i = 0; i < count; ++i) {
      const int parts = i < side.whole ? side.parts : i == side.whole && side.more ? 1 : 0;
      to[i].re = parts > 0 ? read<Real>(side, i * side.element) : Real{0};
      to[i].im = parts > 1 ? read<Real>(side, i * side.element + side.part) : Real{0};
    }
  }

  void scatter(const Number *from, std::int64_t count, const Side &to) const {
    for (std::int64_t i = 0; i < count; ++i) {
      write(to, i * to.element, from[i].re);
      if (to.parts == 2) write(to, i * to.element + to.part, from[i].im);
    }
  }

  // ---- Half spectra -----------------------------------------------------------------------------

  Pair<Real> root(std::int64_t k) const { return {p_.axis->halves[2 * k], p_.axis->halves[2 * k + 1]}; }

  template <typename Values>
  void half_spectrum(const Pair<Values> *from, Pair<Values> *to) const {
    const std::int64_t n = p_.axis->n;
    if (!even()) {
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
  std::int64_t middle(const Lanes *, Lanes *) const { return 1; }
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
      const Lanes one = load_complex(given + 2 * k), other = backwards(load_complex(given + 2 * mirrored));
      Lanes low = {}, high = {};
      body(one, other, load_complex(p_.axis->halves + 2 * k), &low, &high);
      store_complex(target + 2 * k, low);
      store_complex(target + 2 * mirrored, backwards(high));
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

  static Lanes exchanged(const Lanes &value) { return swapped(value); }
  static Number exchanged(const Number &value) { return value; }

  std::int64_t middle_back(const Lanes *, Lanes *) const { return 1; }
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
