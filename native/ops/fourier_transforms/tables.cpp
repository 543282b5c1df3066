#include "ops/fourier_transforms/tables.h"

#include <cmath>
#include <complex>
#include <mutex>
#include <utility>
#include <vector>

#include "core/settings.h"

namespace mluops {
namespace {

using Complex = std::complex<double>;

// The product of finite numbers; that of the library looks for others, which takes long.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

constexpr std::int64_t kMostPrime = 61;   // larger ones are slower than a convolution
constexpr std::int64_t kLeastSplit = 32;  // shorter signals are computed in one lane
constexpr std::size_t kKept = 16;         // tables of lengths used last
constexpr double kPi = 3.14159265358979323846;

// Roots of unity exp(-2 pi i k / n), as products of two of about sqrt(n) each that are exact to
// the last bits.
class Roots {
 public:
  explicit Roots(std::int64_t n) : n_(n) {
    while ((std::int64_t{1} << (2 * shift_)) < n) ++shift_;
    const std::int64_t low = std::int64_t{1} << shift_;
    for (std::int64_t k = 0; k < low; ++k) low_.push_back(exact(k));
    for (std::int64_t k = 0; k < n; k += low) high_.push_back(exact(k));
  }

  Complex operator()(std::int64_t k) const {
    const std::int64_t low = k & ((std::int64_t{1} << shift_) - 1);
    return low == 0 ? high_[static_cast<std::size_t>(k >> shift_)]
                    : product(high_[static_cast<std::size_t>(k >> shift_)], low_[static_cast<std::size_t>(low)]);
  }

 private:
  // The angle is brought into an eighth of the circle by integers, where sine and cosine are exact.
  Complex exact(std::int64_t k) const {
    const std::int64_t eighths = 8 * (k % n_);
    const std::int64_t octant = eighths / n_, rest = eighths - octant * n_;
    const bool mirrored = octant % 2 == 1;
    const double angle = kPi / 4 * static_cast<double>(mirrored ? n_ - rest : rest) / static_cast<double>(n_);
    const double near = std::cos(angle), far = std::sin(angle);
    const bool steep = (octant + 1) / 2 % 2 == 1;
    const double x = steep ? far : near, y = steep ? near : far;
    return {octant >= 2 && octant < 6 ? -x : x, octant < 4 ? -y : y};
  }

  std::int64_t n_;
  int shift_ = 0;
  std::vector<Complex> low_, high_;
};

std::vector<std::int64_t> primes_of(std::int64_t n) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) primes.push_back(p);
  }
  if (n > 1) primes.push_back(n);
  return primes;
}

// As the passes take them: products of small primes where they save a pass.
std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> factors;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3) factors.push_back(8);
  for (; twos >= 2; twos -= 2) factors.push_back(4);
  if (twos == 1) factors.push_back(2);
  for (; n % 9 == 0; n /= 9) factors.push_back(9);
  for (const std::int64_t prime : primes_of(n)) factors.push_back(prime);
  return factors;
}

bool is_smooth(std::int64_t n) {
  for (const std::int64_t prime : primes_of(n)) {
    if (prime > kMostPrime) return false;
  }
  return true;
}

// Operations for one element, about.
double cost_of(std::int64_t n) {
  double cost = 0;
  for (const std::int64_t factor : factors_of(n)) cost += factor <= 9 ? 8 : static_cast<double>(2 * factor);
  return cost;
}

std::int64_t in_blocks(std::int64_t n) { return (n + kFftBlock - 1) / kFftBlock * kFftBlock; }

// The first of the two lengths of a split, 0 for none: columns and rows are to fill whole vectors,
// and both parts shall be short.
std::int64_t best_split(std::int64_t n) {
  std::int64_t best = 0;
  double least = 0;
  const auto consider = [&](std::int64_t n1) {
    const std::int64_t n2 = n / n1;
    const double of_columns = cost_of(n1) * static_cast<double>(in_blocks(n2)) / static_cast<double>(n2);
    const double of_rows = cost_of(n2) * static_cast<double>(in_blocks(n1)) / static_cast<double>(n1);
    const double longer = static_cast<double>(n1 < n2 ? n2 : n1);
    const double cost = of_columns + of_rows + 2 * std::log2(longer);
    if (best == 0 || cost < least) best = n1, least = cost;
  };
  for (std::int64_t d = 2; d * d <= n; ++d) {
    if (n % d != 0) continue;
    consider(d);
    consider(n / d);
  }
  return best;
}

// The cheapest length of at least n with factors 2, 3 and 5.
std::int64_t convolution_length(std::int64_t n) {
  std::int64_t best = 1;
  while (best < n) best *= 2;
  double least = static_cast<double>(best) * cost_of(best);
  for (const std::int64_t odd : {3, 5, 9, 15, 25, 27, 45, 75}) {
    std::int64_t length = odd * 8;
    while (length < n) length *= 2;
    const double cost = static_cast<double>(length) * cost_of(length);
    if (cost < least) best = length, least = cost;
  }
  return best;
}

// A transform of a length with factors 2, 3 and 5, for tables: a pass for each factor in the order
// of Stockham.
std::vector<Complex> transform(std::vector<Complex> values) {
  const auto all = static_cast<std::int64_t>(values.size());
  const Roots roots(all);
  std::vector<Complex> circle, others(values.size());
  for (std::int64_t k = 0; k < all; ++k) circle.push_back(roots(k));
  const auto root = [&](std::int64_t k) { return circle[static_cast<std::size_t>(k)]; };
  std::int64_t before = 1;
  while (before < all) {
    const std::int64_t rest = all / before, radix = rest % 2 == 0 ? 2 : rest % 3 == 0 ? 3 : 5, inside = rest / radix;
    for (std::int64_t k = 0; k < before; ++k) {
      const Complex *const from = values.data() + k * radix * inside;
      Complex *const to = others.data() + k * inside;
      for (std::int64_t i = 0; i < inside; ++i) {
        for (std::int64_t q = 0; q < radix; ++q) {
          Complex sum = from[i];
          for (std::int64_t j = 1; j < radix; ++j)
            sum += product(from[i + j * inside], root(j * q % radix * (all / radix)));
          to[q * inside * before + i] = product(sum, root(q * i * before));
        }
      }
    }
    values.swap(others);
    before *= radix;
  }
  return values;
}

// A table with the memory that its pointers lead to.
template <typename Real>
class Owner {
 public:
  Owner(std::int64_t n, bool real) {
    axis.n = n;
    const bool half = real && n % 2 == 0;
    fill(&axis.complex, half ? n / 2 : n);
    if (real && n % 2 == 1 && n > 1 && is_smooth(n)) fill_levels(n);
    if (!half) return;
    const Roots roots(n);
    Real *const halves = numbers(2 * (n / 4 + 1));
    for (std::int64_t k = 0; k <= n / 4; ++k) put(halves + 2 * k, roots(k));
    axis.halves = halves;
  }

  FftAxis<Real> axis;

 private:
  Real *numbers(std::int64_t count) {
    memory_.emplace_back(new Real[static_cast<std::size_t>(count)]());
    return memory_.back().get();
  }

  static void put(Real *to, Complex value) {
    to[0] = static_cast<Real>(value.real());
    to[1] = static_cast<Real>(value.imag());
  }

  void fill(FftLength<Real> *table, std::int64_t n) {
    table->length = n;
    const std::int64_t length = is_smooth(n) ? n : convolution_length(2 * n - 1);
    fill(&table->steps, length);
    if (length >= kLeastSplit) fill(&table->split, length);
    if (length != n) fill_chirp(table, n, length);
  }

  void fill(FftSteps<Real> *steps, std::int64_t n) {
    steps->length = n;
    const Roots roots(n);
    std::int64_t before = 1;
    for (const std::int64_t radix : factors_of(n)) {
      const std::int64_t inside = n / before / radix;
      Real *const twiddles = numbers(2 * inside * (radix - 1)), *const own = numbers(2 * radix);
      for (std::int64_t i = 0; i < inside; ++i) {
        for (std::int64_t j = 1; j < radix; ++j) put(twiddles + 2 * (i * (radix - 1) + j - 1), roots(i * j * before));
      }
      // Of positive angles.
      for (std::int64_t j = 0; j < radix; ++j) put(own + 2 * j, std::conj(roots(j * (n / radix))));
      steps->passes[steps->count++] = {radix, before, inside, twiddles, own};
      before *= radix;
    }
  }

  void fill(FftSplit<Real> *split, std::int64_t n) {
    const std::int64_t n1 = best_split(n), n2 = n1 == 0 ? 0 : n / n1;
    if (n1 == 0) return;
    fill(&split->first, n1);
    fill(&split->second, n2);
    const Roots roots(n);
    Real *const between = numbers(2 * n1 * in_blocks(n2));
    Real *row = between;
    for (std::int64_t first = 0; first < n2; first += kFftBlock) {
      for (std::int64_t k = 0; k < n1; ++k, row += 2 * kFftBlock) {
        for (std::int64_t j = 0; j < kFftBlock && first + j < n2; ++j) {
          const Complex root = roots((first + j) * k);
          row[j] = static_cast<Real>(root.real());
          row[kFftBlock + j] = static_cast<Real>(root.imag());
        }
      }
    }
    split->between = between;
  }

  void fill_levels(std::int64_t n) {
    std::int64_t before = 1;
    for (const std::int64_t radix : factors_of(n)) {
      const std::int64_t all = n / before, inside = all / radix, half = radix / 2;
      const Roots roots(all);
      Real *const twiddles = numbers(2 * inside * half), *const own = numbers(2 * radix);
      for (std::int64_t i = 0; i < inside; ++i) {
        for (std::int64_t k = 1; k <= half; ++k) put(twiddles + 2 * (i * half + k - 1), roots(i * k));
      }
      for (std::int64_t j = 0; j < radix; ++j) put(own + 2 * j, std::conj(roots(j * inside)));
      levels_.emplace_back();
      levels_.back().pass = {radix, before, inside, twiddles, own};
      fill(&levels_.back().steps, inside);
      before *= radix;
    }
    axis.levels = levels_.data();
    axis.level_count = static_cast<int>(levels_.size());
  }

  void fill_chirp(FftLength<Real> *table, std::int64_t n, std::int64_t length) {
    const Roots roots(2 * n);
    Real *const chirp = numbers(2 * n), *const spectrum = numbers(2 * length);
    std::vector<Complex> signal(static_cast<std::size_t>(length));
    std::int64_t square = 0;  // k * k modulo 2 * n
    for (std::int64_t k = 0; k < n; ++k) {
      put(chirp + 2 * k, roots(square));
      const Complex value = std::conj(roots(square)) / static_cast<double>(length);
      signal[static_cast<std::size_t>(k)] = value;
      if (k > 0) signal[static_cast<std::size_t>(length - k)] = value;
      square = (square + 2 * k + 1) % (2 * n);
    }
    const std::vector<Complex> found = transform(std::move(signal));
    for (std::int64_t k = 0; k < length; ++k) put(spectrum + 2 * k, found[static_cast<std::size_t>(k)]);
    table->chirp = chirp;
    table->spectrum = spectrum;
  }

  std::vector<std::unique_ptr<Real[]>> memory_;
  std::vector<FftLevel<Real>> levels_;
};

// The tables used last. A thread that finds another one here, or a fork that was made then, makes
// its own.
template <typename Real>
class Kept {
 public:
  static Kept &instance() {
    static Kept *const kept = new Kept();  // outlives static destruction
    return *kept;
  }

  SharedFftAxis<Real> find(std::int64_t n, bool real) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return nullptr;
    for (Entry &entry : entries_) {
      if (entry.axis == nullptr || entry.axis->n != n || entry.real != real) continue;
      entry.used = ++clock_;
      return entry.axis;
    }
    return nullptr;
  }

  void keep(const SharedFftAxis<Real> &axis, bool real) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    Entry *oldest = entries_;
    for (Entry &entry : entries_) {
      if (entry.used < oldest->used) oldest = &entry;
    }
    *oldest = {axis, real, ++clock_};
  }

 private:
  struct Entry {
    SharedFftAxis<Real> axis;
    bool real = false;
    std::uint64_t used = 0;
  };

  std::mutex mutex_;
  std::uint64_t clock_ = 0;
  Entry entries_[kKept];
};

}  // namespace

template <typename Real>
SharedFftAxis<Real> fft_axis(std::int64_t n, bool real) {
  SharedFftAxis<Real> axis = Kept<Real>::instance().find(n, real);
  if (axis != nullptr) return axis;
  const auto owner = std::make_shared<const Owner<Real>>(n, real);
  axis = SharedFftAxis<Real>(owner, &owner->axis);
  Kept<Real>::instance().keep(axis, real);
  return axis;
}

template SharedFftAxis<float> fft_axis<float>(std::int64_t n, bool real);
template SharedFftAxis<double> fft_axis<double>(std::int64_t n, bool real);

std::shared_ptr<const FftTables> make_fft_tables(int rank, const int *n, bool real) {
  const auto tables = std::make_shared<FftTables>();
  tables->last = fft_axis<float>(n[rank - 1], real);
  if (rank == 2) tables->first = fft_axis<float>(n[0], false);
  return tables;
}

}  // namespace mluops
