// ThreeInterpolate against sums in double precision, on odd sizes and exactly sized memory.
#include "objects.h"

using namespace objects;

namespace {

struct Shape {
  std::int64_t batches, channels, sources, targets;
};

// For every weight, calls add(b, c, source m, target n, weight); invalid indices are skipped.
template <typename T, typename Add>
void for_each_term(const Shape &s, const Tensor<std::int32_t> &indices, const Tensor<T> &weights, const Add &add) {
  for (std::int64_t i = 0; i < indices.count; ++i) {
    const std::int64_t source = indices.data[i];
    if (source < 0 || source >= s.sources) continue;
    for (std::int64_t c = 0; c < s.channels; ++c) add(i / 3 / s.targets, c, source, i / 3 % s.targets, weights[i]);
  }
}

template <typename T>
void compare(const Shape &s, int shift, bool stray_indices, std::mt19937 &random, double tolerance) {
  const Handle handle;
  constexpr mluOpTensorLayout_t kArray = MLUOP_LAYOUT_ARRAY;
  Tensor<T> features({s.batches, s.channels, s.sources}, kArray, shift);
  Tensor<T> points({s.batches, s.channels, s.targets}, kArray, shift);
  Tensor<T> weights({s.batches, s.targets, 3}, kArray, shift);
  Tensor<std::int32_t> indices({s.batches, s.targets, 3}, kArray, shift);
  features.fill_uniform(random, -1, 1);
  weights.fill_uniform(random, 0, 1);
  indices.fill_integers(random, 0, static_cast<int>(s.sources) - 1);
  if (stray_indices) {
    const std::int32_t strays[] = {INT32_MIN, -1, static_cast<std::int32_t>(s.sources), INT32_MAX};
    for (std::int64_t i = 0; i < indices.count; i += 5) indices.data[i] = strays[i / 5 % 4];
  }

  std::vector<double> wanted(static_cast<std::size_t>(points.count)), scale(wanted.size());
  for_each_term(s, indices, weights,
                [&](std::int64_t b, std::int64_t c, std::int64_t m, std::int64_t n, double weight) {
                  const double term = weight * features[(b * s.channels + c) * s.sources + m];
                  const auto to = static_cast<std::size_t>((b * s.channels + c) * s.targets + n);
                  wanted[to] += term;
                  scale[to] += std::fabs(term);
                });
  CHECK_EQ(mluOpThreeInterpolateForward(handle, features.desc, features.data, indices.desc, indices.data, weights.desc,
                                        weights.data, points.desc, points.data),
           MLUOP_STATUS_SUCCESS);
  check_sums(points, wanted, scale, tolerance);

  points.fill_uniform(random, -1, 1);
  wanted.assign(static_cast<std::size_t>(features.count), 0.0);
  scale = wanted;
  for_each_term(s, indices, weights,
                [&](std::int64_t b, std::int64_t c, std::int64_t m, std::int64_t n, double weight) {
                  const double term = weight * points[(b * s.channels + c) * s.targets + n];
                  const auto to = static_cast<std::size_t>((b * s.channels + c) * s.sources + m);
                  wanted[to] += term;
                  scale[to] += std::fabs(term);
                });
  CHECK_EQ(mluOpThreeInterpolateBackward(handle, points.desc, points.data, indices.desc, indices.data, weights.desc,
                                         weights.data, features.desc, features.data),
           MLUOP_STATUS_SUCCESS);
  check_sums(features, wanted, scale, tolerance);
}

}  // namespace

TEST(odd_sizes) {
  std::mt19937 random(8);
  const Shape shapes[] = {{1, 1, 1, 1},
                          {1, 3, 2, 5},
                          {2, 5, 7, 3},
                          {1, 17, 31, 9},
                          {3, 2, 1, 33},
                          {1, 1, 257, 8},
                          {7, 6, 12, 129},
                          {1, 64, 5, 511},
                          {2, 3, 100, 513},
                          {1, 2, 1021, 1},
                          // Rows that start at the same offset in a cache line, and so many
                          // channels that targets are kept.
                          {1, 9, 13, 640},
                          {1, 1600, 21, 40}};
  for (const Shape &shape : shapes) {
    for (const int shift : {0, 1}) {
      for (const bool strays : {false, true}) {
        compare<float>(shape, shift, strays, random, 1e-5);
        compare<Half>(shape, shift, strays, random, 1e-3);
      }
    }
  }
}

TEST(many_targets_of_one_source) {
  std::mt19937 random(9);
  compare<float>({1, 3, 1, 4099}, 0, false, random, 1e-4);
}

TEST(an_invalid_index_ignores_its_weight) {
  const Handle handle;
  Tensor<float> features({1, 1, 2}), output({1, 1, 1}), weights({1, 1, 3});
  Tensor<std::int32_t> indices({1, 1, 3});
  const float values[] = {0.5f, NAN, INFINITY};
  const std::int32_t at[] = {1, 2, -1};
  features.data[0] = NAN;
  features.data[1] = 4.0f;
  std::memcpy(weights.data, values, sizeof values);
  std::memcpy(indices.data, at, sizeof at);
  CHECK_EQ(mluOpThreeInterpolateForward(handle, features.desc, features.data, indices.desc, indices.data, weights.desc,
                                        weights.data, output.desc, output.data),
           MLUOP_STATUS_SUCCESS);
  CHECK_EQ(output.data[0], 2.0f);
  output.data[0] = 3.0f;
  CHECK_EQ(mluOpThreeInterpolateBackward(handle, output.desc, output.data, indices.desc, indices.data, weights.desc,
                                         weights.data, features.desc, features.data),
           MLUOP_STATUS_SUCCESS);
  CHECK_EQ(features.data[0], 0.0f);
  CHECK_EQ(features.data[1], 1.5f);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
