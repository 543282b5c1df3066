// Prints random numbers of libstdc++ as bits: kind, seed, two numbers of the distribution, count.
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

template <typename Real, typename Bits>
void print(const std::string &kind, int seed, double first, double second, int count) {
  std::default_random_engine engine(seed);
  const Real high = std::nextafter(static_cast<Real>(second), static_cast<Real>(-HUGE_VAL));
  std::uniform_real_distribution<Real> uniform(static_cast<Real>(first), high);
  std::normal_distribution<Real> gaussian(static_cast<Real>(first), static_cast<Real>(second));
  for (int i = 0; i < count; ++i) {
    const Real value = kind == "uniform" ? uniform(engine) : gaussian(engine);
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::printf("%" PRIu64 "\n", static_cast<std::uint64_t>(bits));
  }
}

int main(int, char **arguments) {
  const std::string kind = arguments[1], real = arguments[2];
  const int seed = std::atoi(arguments[3]), count = std::atoi(arguments[6]);
  const double first = std::atof(arguments[4]), second = std::atof(arguments[5]);
  if (real == "float") print<float, std::uint32_t>(kind, seed, first, second, count);
  if (real == "double") print<double, std::uint64_t>(kind, seed, first, second, count);
}
