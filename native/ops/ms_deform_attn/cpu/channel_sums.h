// Sums over channels, which give the gradients of locations and weights.
#ifndef MLUOPS_OPS_MS_DEFORM_ATTN_CPU_CHANNEL_SUMS_H_
#define MLUOPS_OPS_MS_DEFORM_ATTN_CPU_CHANNEL_SUMS_H_

#include "ops/ms_deform_attn/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Sums over channels for kLanes samples, in an order that is the same on every level: channel c is
// added to sum c % 16, then these are added in a tree. Eight channels are the lower half of the
// sums; the upper half would add 0, and no sum is -0.
template <int kSums>
struct ChannelSums {
  float sums[kLanes * kSums];  // those of a sample behind one another

  // The trees of all samples at once.
  Vector total() const {
    static_assert(kSums == 16 || (kSums == 8 && kLanes >= 8), "other trees");
    Vector tree[kLanes];
    if constexpr (kSums == 16 && kLanes == 16) {
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) tree[i] = load(sums + i * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        tree[i] = added<Fours<0, 1>, Fours<2, 1>>(tree[i], tree[i + 4]);
        tree[i + 8] = added<Fours<0, 1>, Fours<2, 1>>(tree[i + 8], tree[i + 12]);
        tree[i] = added<Fours<0, 2>, Fours<1, 2>>(tree[i], tree[i + 8]);
      }
      return of_fours(tree);
    } else if constexpr (kLanes == 16) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
        tree[i] = added<Fours<0, 2>, Fours<1, 2>>(load(sums + i * kLanes), load(sums + (i + 4) * kLanes));
      const Vector even_first = of_fours(tree);
      return pick<EvenFirst>(even_first, even_first, AllLanes());
    } else {
      constexpr int kVectors = kSums / kLanes;
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; ++i) tree[i] = halves_added<kVectors>(sums + i * kSums);
      if constexpr (kLanes == 8) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) tree[i] = added<Fours<0, 1>, Fours<1, 1>>(tree[i], tree[i + 4]);
      }
      return of_fours(tree);
    }
  }

 private:
  // The even or the odd ones of each two lanes of a, then of b, in each group of four lanes.
  template <int kOdd>
  struct OfPairs {
    static constexpr int of(int k) { return (k % 4 / 2 != 0 ? kLanes : 0) + k / 4 * 4 + k % 2 * 2 + kOdd; }
  };

  // Where sample k is if those with even numbers are four lanes before the odd ones.
  struct EvenFirst {
    static constexpr int of(int k) { return k / 8 * 8 + k % 2 * 4 + k % 8 / 2; }
  };

  template <typename First, typename Second>
  static Vector added(Vector a, Vector b) {
    return pick<First>(a, b, AllLanes()) + pick<Second>(a, b, AllLanes());
  }

  // The sum of kVectors vectors.
  template <int kVectors>
  static Vector halves_added(const float *from) {
    Vector vectors[kVectors];
    for (int v = 0; v < kVectors; ++v) vectors[v] = load(from + v * kLanes);
    for (int half = kVectors / 2; half > 0; half /= 2) {
      for (int v = 0; v < half; ++v) vectors[v] += vectors[v + half];
    }
    return vectors[0];
  }

  // Adds up the four lanes of each group.
  static Vector of_fours(const Vector *tree) {
    const Vector first = added<Interleaved<2, 0>, Interleaved<2, 1>>(tree[0], tree[1]);
    const Vector second = added<Interleaved<2, 0>, Interleaved<2, 1>>(tree[2], tree[3]);
    return added<OfPairs<0>, OfPairs<1>>(first, second);
  }
};

// The terms that the gradients of some samples get from their channels.
template <int kSums>
struct alignas(kCacheLine) SampleSums {
  ChannelSums<kSums> of_weight, of_x, of_y;

  // Samples that do not count have gradient 0.
  void write(const PlacedSamples &placed, const SampleLanes &lanes, float *locations, float *weights) const {
    const Vector x = masked(of_x.total(), placed.counts), y = masked(of_y.total(), placed.counts);
    lanes.store<2>(locations, 0, pick<Alternately<0>>(x, y, AllLanes()));
    lanes.store<2>(locations, 1, pick<Alternately<kLanes / 2>>(x, y, AllLanes()));
    lanes.store<1>(weights, 0, masked(of_weight.total(), placed.counts));
  }

 private:
  // Lanes of two vectors in turn, from lane kFirst on.
  template <int kFirst>
  struct Alternately {
    static constexpr int of(int k) { return k % 2 * kLanes + kFirst + k / 2; }
  };
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_MS_DEFORM_ATTN_CPU_CHANNEL_SUMS_H_
