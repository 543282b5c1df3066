// BorderAlign against the documented order of operations: forward bit for bit, backward within
// rounding.
#include <algorithm>

#include "objects.h"

using namespace objects;

namespace {

struct Shape {
  std::int64_t batches, height, width, boxes, channels;
  std::int32_t pool_size;
};

// A pixel and its weight in an interpolated value.
struct Tap {
  std::int64_t pixel;
  float weight;
};

// The two pixels around a coordinate of one axis: pixel p has the weight max(0, 1 - |coordinate -
// p|). Coordinates up to one pixel outside the map are moved onto it; beyond that there is nothing
// to interpolate. Doubles hold all distances exactly.
std::vector<Tap> taps_along(float coordinate, std::int64_t extent) {
  const double last = static_cast<double>(extent) - 1.0;
  if (!(coordinate >= -1.0 && coordinate <= last + 1.0)) return {};
  const double place = std::clamp<double>(coordinate, 0.0, last);
  std::vector<Tap> taps;
  for (const double pixel : {std::floor(place), std::floor(place) + 1.0}) {
    const double weight = std::max(0.0, 1.0 - std::fabs(place - pixel));
    taps.push_back({static_cast<std::int64_t>(std::min(pixel, last)), static_cast<float>(weight)});
  }
  return taps;
}

// The taps of both axes combined, row by row; none outside the map.
std::vector<Tap> taps_at(const Shape &s, float x, float y) {
  std::vector<Tap> taps;
  for (const Tap &row : taps_along(y, s.height)) {
    for (const Tap &column : taps_along(x, s.width)) {
      taps.push_back({row.pixel * s.width + column.pixel, row.weight * column.weight});
    }
  }
  return taps;
}

struct Border {
  float x, y, step_x, step_y;
};

template <typename T>
Border border_of(const T *box, std::int64_t side, std::int32_t pool_size) {
  float corner[4];
  for (int i = 0; i < 4; ++i) corner[i] = static_cast<float>(to_double(box[i]));
  const float step_x = (corner[2] - corner[0]) / static_cast<float>(pool_size);
  const float step_y = (corner[3] - corner[1]) / static_cast<float>(pool_size);
  const Border borders[] = {{corner[0], corner[1], step_x, 0},
                            {corner[0], corner[1], 0, step_y},
                            {corner[2], corner[3], -step_x, 0},
                            {corner[2], corner[3], 0, -step_y}};
  return borders[side];
}

template <typename T>
struct Reference {
  const Shape &s;
  const Tensor<T> &input, &boxes;
  std::vector<T> output;
  std::vector<std::int32_t> argmax;

  // The first product is rounded, the others are added with one rounding each.
  float interpolate(std::int64_t batch, std::int64_t channel, float x, float y) const {
    float sum = 0;
    bool first = true;
    for (const Tap &tap : taps_at(s, x, y)) {
      const std::int64_t pixel = batch * s.height * s.width + tap.pixel;
      const auto texel = static_cast<float>(input[pixel * 4 * s.channels + channel]);
      sum = first ? texel * tap.weight : std::fma(texel, tap.weight, sum);
      first = false;
    }
    return sum;
  }

  void forward() {
    for (std::int64_t border = 0; border < s.batches * s.boxes * 4; ++border) {
      const std::int64_t batch = border / 4 / s.boxes, side = border % 4;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        const Border b = border_of(boxes.data + border / 4 * 4, side, s.pool_size);
        float x = b.x, y = b.y, best = interpolate(batch, side * s.channels + c, x, y);
        std::int32_t at = 0;
        for (std::int32_t i = 1; i <= s.pool_size; ++i) {
          x += b.step_x;
          y += b.step_y;
          const float next = interpolate(batch, side * s.channels + c, x, y);
          if (next > best) {
            best = next;
            at = i;
          }
        }
        output.push_back(from_double<T>(best));
        argmax.push_back(at);
      }
    }
  }
};

template <typename T>
void check_backward(const Shape &s, const Tensor<T> &gradient, const Tensor<T> &boxes,
                    const Tensor<std::int32_t> &argmax, const Tensor<T> &found, double tolerance) {
  std::vector<double> wanted(static_cast<std::size_t>(found.count)), scale(wanted.size());
  for (std::int64_t i = 0; i < gradient.count; ++i) {
    const std::int64_t border = i / s.channels, side = border % 4, batch = border / 4 / s.boxes;
    if (argmax.data[i] < 0 || argmax.data[i] > s.pool_size) continue;
    const Border b = border_of(boxes.data + border / 4 * 4, side, s.pool_size);
    const auto steps = static_cast<float>(argmax.data[i]);
    for (const Tap &tap : taps_at(s, b.x + b.step_x * steps, b.y + b.step_y * steps)) {
      const std::int64_t pixel = batch * s.height * s.width + tap.pixel;
      const auto target = static_cast<std::size_t>((pixel * 4 + side) * s.channels + i % s.channels);
      const double share = gradient[i] * static_cast<double>(tap.weight);
      wanted[target] += share;
      scale[target] += std::fabs(share);
    }
  }
  check_sums(found, wanted, scale, tolerance);
}

template <typename T>
void compare(const Shape &s, int shift, std::mt19937 &random, double tolerance) {
  const Handle handle;
  constexpr mluOpTensorLayout_t kNhwc = MLUOP_LAYOUT_NHWC;
  Tensor<T> input({s.batches, s.height, s.width, 4 * s.channels}, kNhwc, shift);
  Tensor<T> boxes({s.batches, s.boxes, 4}, MLUOP_LAYOUT_ARRAY, shift);
  Tensor<T> output({s.batches, s.boxes, 4, s.channels}, kNhwc, shift);
  Tensor<std::int32_t> argmax({s.batches, s.boxes, 4, s.channels}, kNhwc, shift);
  input.fill_uniform(random, -1, 1);
  const double reach = static_cast<double>(std::max(s.height, s.width));
  boxes.fill_uniform(random, -2, reach + 2);  // some corners outside, some borders running backwards
  Reference<T> reference{s, input, boxes, {}, {}};
  reference.forward();
  CHECK_EQ(mluOpBorderAlignForward(handle, input.desc, input.data, boxes.desc, boxes.data, s.pool_size, output.desc,
                                   output.data, argmax.desc, argmax.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(output.same_bits(reference.output));
  CHECK(argmax.same_bits(reference.argmax));

  Tensor<T> gradient({s.batches, s.boxes, 4, s.channels}, kNhwc, shift);
  Tensor<T> result({s.batches, s.height, s.width, 4 * s.channels}, kNhwc, shift);
  gradient.fill_uniform(random, -1, 1);
  argmax.data[0] = INT32_MAX;  // outside [0, pool_size]: nothing is added
  argmax.data[argmax.count - 1] = -1;
  CHECK_EQ(mluOpBorderAlignBackward(handle, gradient.desc, gradient.data, boxes.desc, boxes.data, argmax.desc,
                                    argmax.data, s.pool_size, result.desc, result.data),
           MLUOP_STATUS_SUCCESS);
  check_backward(s, gradient, boxes, argmax, result, tolerance);
}

}  // namespace

TEST(odd_sizes) {
  std::mt19937 random(5);
  const Shape shapes[] = {{1, 1, 1, 1, 1, 1},    {1, 3, 4, 12, 1, 1},   {2, 5, 3, 7, 2, 4},   {1, 7, 11, 13, 3, 10},
                          {3, 2, 1, 5, 5, 2},    {1, 1, 9, 4, 17, 3},   {2, 13, 6, 31, 7, 8}, {1, 8, 8, 3, 65, 5},
                          {1, 17, 5, 2, 127, 7}, {1, 4, 4, 101, 1, 33}, {1, 3, 3, 1, 20, 1},  {1, 20, 20, 1, 3, 2}};
  for (const Shape &shape : shapes) {
    for (const int shift : {0, 1}) {
      compare<float>(shape, shift, random, 1e-6);
      compare<Half>(shape, shift, random, 1e-3);
    }
  }
}

TEST(many_boxes_on_few_pixels) {
  std::mt19937 random(6);
  compare<float>({1, 2, 2, 997, 3, 6}, 0, random, 1e-5);
}

TEST(extreme_boxes_stay_inside_the_arrays) {
  const Handle handle;
  const float values[] = {NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, -1.0f, 3.0f, 4.0f, 2.9999998f, -0.0f, 1e-45f};
  constexpr std::int64_t kBoxes = 11 * 11;
  Tensor<float> input({1, 3, 4, 4}, MLUOP_LAYOUT_NHWC), boxes({1, kBoxes, 4});
  Tensor<float> output({1, kBoxes, 4, 1}, MLUOP_LAYOUT_NHWC), result({1, 3, 4, 4}, MLUOP_LAYOUT_NHWC);
  Tensor<std::int32_t> argmax({1, kBoxes, 4, 1}, MLUOP_LAYOUT_NHWC);
  std::mt19937 random(7);
  input.fill_uniform(random, 1, 2);
  for (std::int64_t i = 0; i < kBoxes; ++i) {
    const float box[] = {values[i % 11], values[i / 11], values[i / 11], values[i % 11]};
    std::memcpy(boxes.data + i * 4, box, sizeof box);
  }
  for (const std::int32_t pool_size : {1, 2, 100}) {
    CHECK_EQ(mluOpBorderAlignForward(handle, input.desc, input.data, boxes.desc, boxes.data, pool_size, output.desc,
                                     output.data, argmax.desc, argmax.data),
             MLUOP_STATUS_SUCCESS);
    for (std::int64_t i = 0; i < output.count; ++i) {
      CHECK(output[i] >= 0 && output[i] <= 2);
      CHECK(argmax.data[i] >= 0 && argmax.data[i] <= pool_size);
    }
    CHECK_EQ(mluOpBorderAlignBackward(handle, output.desc, output.data, boxes.desc, boxes.data, argmax.desc,
                                      argmax.data, pool_size, result.desc, result.data),
             MLUOP_STATUS_SUCCESS);
  }
}

// A number outside [0, pool_size] adds nothing, with fewer and with more than sixteen samples.
TEST(invalid_sample_numbers_add_nothing) {
  const Handle handle;
  constexpr std::int32_t kNumbers[] = {INT32_MIN, INT32_MIN + 1, INT32_MIN + 15, -1, INT32_MAX, INT32_MAX - 15};
  for (const std::int64_t count : {1, 40}) {
    Tensor<float> gradient({1, count, 4, 3}, MLUOP_LAYOUT_NHWC), boxes({1, count, 4});
    Tensor<float> result({1, 5, 6, 12}, MLUOP_LAYOUT_NHWC);
    Tensor<std::int32_t> argmax({1, count, 4, 3}, MLUOP_LAYOUT_NHWC);
    std::mt19937 random(9);
    gradient.fill_uniform(random, 1, 2);
    boxes.fill_uniform(random, 0, 4);
    for (const std::int32_t pool_size : {3, 40, 2147}) {
      for (const std::int32_t number : kNumbers) {
        for (std::int64_t i = 0; i < argmax.count; ++i) argmax.data[i] = number;
        CHECK_EQ(mluOpBorderAlignBackward(handle, gradient.desc, gradient.data, boxes.desc, boxes.data, argmax.desc,
                                          argmax.data, pool_size, result.desc, result.data),
                 MLUOP_STATUS_SUCCESS);
        for (std::int64_t i = 0; i < result.count; ++i) CHECK_EQ(result[i], 0.0);
      }
    }
  }
}

TEST(few_borders_equal_the_same_borders_among_many) {
  const Handle handle;
  constexpr std::int64_t kBoxes = 64, kChannels = 5;
  Tensor<float> input({1, 4, 7, 4 * kChannels}, MLUOP_LAYOUT_NHWC), boxes({1, kBoxes, 4}), box({1, 1, 4});
  Tensor<float> outputs({1, kBoxes, 4, kChannels}, MLUOP_LAYOUT_NHWC), output({1, 1, 4, kChannels}, MLUOP_LAYOUT_NHWC);
  Tensor<std::int32_t> numbers({1, kBoxes, 4, kChannels}, MLUOP_LAYOUT_NHWC),
      number({1, 1, 4, kChannels}, MLUOP_LAYOUT_NHWC);
  std::mt19937 random(8);
  input.fill_uniform(random, -1, 1);
  boxes.fill_uniform(random, -2, 9);
  input.data[3] = NAN;
  for (std::int64_t i = 0; i < 8; ++i) boxes.data[i] = i % 3 == 0 ? NAN : INFINITY;
  for (const std::int32_t pool_size : {1, 7, 15, 16}) {
    CHECK_EQ(mluOpBorderAlignForward(handle, input.desc, input.data, boxes.desc, boxes.data, pool_size, outputs.desc,
                                     outputs.data, numbers.desc, numbers.data),
             MLUOP_STATUS_SUCCESS);
    for (std::int64_t i = 0; i < kBoxes; ++i) {
      std::memcpy(box.data, boxes.data + i * 4, 4 * sizeof(float));
      CHECK_EQ(mluOpBorderAlignForward(handle, input.desc, input.data, box.desc, box.data, pool_size, output.desc,
                                       output.data, number.desc, number.data),
               MLUOP_STATUS_SUCCESS);
      CHECK(std::memcmp(output.data, outputs.data + i * output.count, output.count * sizeof(float)) == 0);
      CHECK(std::memcmp(number.data, numbers.data + i * number.count, number.count * sizeof(std::int32_t)) == 0);
    }
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
