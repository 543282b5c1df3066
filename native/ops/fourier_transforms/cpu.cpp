// Fourier transforms on the CPU. Each dim is a stage: many signals lie in the lanes of vectors, few
// and long ones are cut into columns and rows that do. Which of both depends on the length and on
// the number of signals, and so do the last bits of the results; they do not depend on the number
// of threads or lanes.
#include "ops/fourier_transforms/cpu/stage.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr std::int64_t kChunk = 1 << 20;  // elements of signals of two dims between the stages

template <typename Real>
const FftAxes<Real> &axes_of(const FftProblem &p);
template <>
inline const FftAxes<float> &axes_of(const FftProblem &p) {
  return p.single;
}
template <>
inline const FftAxes<double> &axes_of(const FftProblem &p) {
  return p.twofold;
}

template <typename Real>
class Transform {
 public:
  explicit Transform(const FftProblem &problem)
      : p_(problem), half_(problem.dtype == MLUOP_DTYPE_HALF), axes_(axes_of<Real>(problem)), from_(problem.from) {}

  mluOpStatus_t run() {
    const std::int64_t copied = p_.overlapping ? input_elements() * element_bytes() : 0;
    const Scratch<char> copy(copied);
    if (copy.data() == nullptr) return out_of_memory(p_.function);
    input_ = p_.overlapping ? copy.data() : static_cast<const char *>(p_.input);
    if (p_.rank == 1) {
      Arena size(nullptr);
      stage_of_one(&size);
      const Scratch<char> scratch(size.used());
      if (scratch.data() == nullptr) return out_of_memory(p_.function);
      if (p_.overlapping) copy_input(copy.data());
      Arena arena(scratch.data());
      stage_of_one(&arena).run();
      return MLUOP_STATUS_SUCCESS;
    }
    return run_two(copied > 0 ? copy.data() : nullptr);
  }

 private:
  typedef StageProblem<Real> Step;

  bool even() const { return axes_.last->halves != nullptr; }
  std::int64_t element_bytes() const {
    const std::int64_t real = half_ ? static_cast<std::int64_t>(sizeof(Half)) : sizeof(Real);
    return p_.kind == FftKind::kRealToComplex ? real : 2 * real;
  }
  std::int64_t input_elements() const { return p_.outer * p_.inner * p_.from.count[0] * p_.from.count[1]; }

  // Signals one after another; later stages read these.
  void copy_input(char *to) {
    const FftLayout &f = p_.from;
    const std::int64_t bytes = element_bytes();
    const char *const input = static_cast<const char *>(p_.input);
    for (std::int64_t signal = 0; signal < p_.outer * p_.inner && !interrupted(); ++signal) {
      const std::int64_t start = signal / p_.inner * f.outer + signal % p_.inner * f.inner;
      for (std::int64_t i = 0; i < f.count[0]; ++i) {
        for (std::int64_t j = 0; j < f.count[1]; ++j, to += bytes)
          std::memcpy(to, input + (start + i * f.step[0] + j * f.step[1]) * bytes, static_cast<std::size_t>(bytes));
      }
    }
    from_.step[1] = 1;
    from_.step[0] = f.count[1];
    from_.inner = f.count[0] * f.count[1];
    from_.outer = p_.inner * from_.inner;
  }

  Stage<Real> stage_of_one(Arena *arena) const {
    const Form in = form_of(p_.kind, even(), true), out = form_of(p_.kind, even(), false);
    const Step step = {p_.kind,
                       axes_.last,
                       side_of(input_, half_, from_, 1, from_.outer, from_.inner, in),
                       side_of(p_.output, half_, p_.to, 1, p_.to.outer, p_.to.inner, out),
                       p_.outer,
                       p_.inner,
                       p_.inverse,
                       p_.ordered,
                       static_cast<Real>(p_.scale),
                       static_cast<Real>(p_.weight)};
    return Stage<Real>(step, arena);
  }

  // ---- Two dims ---------------------------------------------------------------------------------

  // The rows of the input, or of the columns' results, that lie between the stages.
  FftLayout between() const {
    const bool to_real = p_.kind == FftKind::kComplexToReal;
    const std::int64_t half = p_.n[1] / 2 + 1;
    const std::int64_t width = p_.kind == FftKind::kComplex ? p_.n[1] : to_real ? from_.count[1] : half;
    const std::int64_t height = to_real ? p_.n[0] : smaller(from_.count[0], p_.n[0]);
    return {width * height, 0, {width, 1}, {height, width}};
  }

  Stage<Real> rows(std::int64_t first, std::int64_t count, char *middle, Arena *arena) const {
    const bool last = p_.kind == FftKind::kComplexToReal;
    const FftLayout between = this->between();
    const Form in = form_of(p_.kind, even(), true), out = form_of(p_.kind, even(), false);
    const FftLayout &from = last ? between : from_, &to = last ? p_.to : between;
    const bool half_in = half_ && !last, half_out = half_ && last;
    const std::int64_t units_in = in == Form::kComplex ? 2 : 1, units_out = out == Form::kComplex ? 2 : 1;
    const void *const source = last ? middle : moved(input_, first * from.outer * units_in, half_in);
    const void *const target = last ? moved(p_.output, first * to.outer * units_out, half_out) : middle;
    const Step step = {p_.kind,
                       axes_.last,
                       side_of(source, half_in, from, 1, from.outer, from.step[0], in),
                       side_of(target, half_out, to, 1, to.outer, to.step[0], out),
                       count,
                       between.count[0],
                       p_.inverse,
                       false,
                       last ? static_cast<Real>(p_.scale) : Real{1},
                       Real{1}};
    return Stage<Real>(step, arena);
  }

  Stage<Real> columns(std::int64_t first, std::int64_t count, char *middle, Arena *arena) const {
    const bool last = p_.kind != FftKind::kComplexToReal;
    const FftLayout between = this->between();
    const FftLayout &from = last ? between : from_, &to = last ? p_.to : between;
    const bool half_in = half_ && !last, half_out = half_ && last;
    const void *const source = last ? middle : moved(input_, first * from.outer * 2, half_in);
    const void *const target = last ? moved(p_.output, first * to.outer * 2, half_out) : middle;
    const Step step = {FftKind::kComplex,
                       axes_.first,
                       side_of(source, half_in, from, 0, from.outer, from.step[1], Form::kComplex),
                       side_of(target, half_out, to, 0, to.outer, to.step[1], Form::kComplex),
                       count,
                       between.count[1],
                       p_.inverse,
                       false,
                       last ? static_cast<Real>(p_.scale) : Real{1},
                       Real{1}};
    return Stage<Real>(step, arena);
  }

  const void *moved(const void *data, std::int64_t distance, bool half) const {
    const std::int64_t real = half ? static_cast<std::int64_t>(sizeof(Half)) : sizeof(Real);
    return static_cast<const char *>(data) + distance * real;
  }

  mluOpStatus_t run_two(char *copy) {
    const FftLayout middle = between();
    const std::int64_t chunk =
        smaller(larger<std::int64_t>(kChunk / larger<std::int64_t>(middle.outer, 1), 1), p_.outer);
    Arena of_rows(nullptr), of_columns(nullptr);
    rows(0, chunk, nullptr, &of_rows);
    columns(0, chunk, nullptr, &of_columns);
    const Scratch<char> scratch(larger(of_rows.used(), of_columns.used()));
    const Scratch<Pair<Real>> values(middle.outer * chunk);
    if (scratch.data() == nullptr || values.data() == nullptr) return out_of_memory(p_.function);
    if (copy != nullptr) copy_input(copy);
    char *const between = reinterpret_cast<char *>(values.data());
    for (std::int64_t first = 0; first < p_.outer && !interrupted(); first += chunk) {
      const std::int64_t count = smaller(chunk, p_.outer - first);
      Arena one(scratch.data()), other(scratch.data());
      if (p_.kind == FftKind::kComplexToReal) {
        columns(first, count, between, &one).run();
        if (!interrupted()) rows(first, count, between, &other).run();
      } else {
        rows(first, count, between, &one).run();
        if (!interrupted()) columns(first, count, between, &other).run();
      }
    }
    return MLUOP_STATUS_SUCCESS;
  }

  const FftProblem &p_;
  const bool half_;
  const FftAxes<Real> &axes_;
  FftLayout from_;
  const char *input_ = nullptr;
};

}  // namespace

mluOpStatus_t fft(const FftProblem &problem) {
  if (problem.dtype == MLUOP_DTYPE_DOUBLE) return Transform<double>(problem).run();
  return Transform<float>(problem).run();
}

MLUOPS_END_LEVEL

MLUOPS_DEFINE_COLD_LAUNCH(launch_fft, fft, FftProblem, problem.function);
