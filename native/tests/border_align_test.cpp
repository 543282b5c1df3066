// BorderAlign against the documented order of operations: forward bit for bit, backward within rounding.
#include <algorithm>

#include "objects.h"

using namespace objects;

namespace {

struct Shape {
  std::int64_t batches, height, width, boxes, channels;
  std::int32_t pool_size;
};

// One bilinear sample position.
struct Sample {
  bool inside = false;
  std::int64_t pixel[4] = {};
  float weight[4] = {};
};

Sample sample_at(const Shape &s, float x, float y) {
  Sample sample;
  if (!(y >= -1.0f && y <= static_cast<float>(s.height) && x >= -1.0f && x <= static_cast<float>(s.width)))
    return sample;
  if (y <= 0) y = 0;
  if (x <= 0) x = 0;
  std::int64_t top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  std::int64_t bottom = top + 1, right = left + 1;
  if (top >= s.height - 1) {
    top = bottom = s.height - 1;
    y = static_cast<float>(top);
  }
  if (left >= s.width - 1) {
    left = right = s.width - 1;
    x = static_cast<float>(left);
  }
  const float ly = y - static_cast<float>(top), lx = x - static_cast<float>(left), hy = 1 - ly, hx = 1 - lx;
  const std::int64_t pixels[] = {top * s.width + left, top * s.width + right, bottom * s.width + left,
                                 bottom * s.width + right};
  const float weights[] = {hy * hx, hy * lx, ly * hx, ly * lx};
  std::memcpy(sample.pixel, pixels, sizeof pixels);
  std::memcpy(sample.weight, weights, sizeof weights);
  sample.inside = true;
  return sample;
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

  float value(std::int64_t batch, std::int64_t channel, const Sample &at) const {
    if (!at.inside) return 0.0f;
    float sum = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const std::int64_t pixel = batch * s.height * s.width + at.pixel[corner];
      const auto texel = static_cast<float>(input[pixel * 4 * s.channels + channel]);
      sum = corner == 0 ? texel * at.weight[0] : std::fma(texel, at.weight[corner], sum);
    }
    return sum;
  }

  void forward() {
    for (std::int64_t border = 0; border < s.batches * s.boxes * 4; ++border) {
      const std::int64_t batch = border / 4 / s.boxes, side = border % 4;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        const Border b = border_of(boxes.data + border / 4 * 4, side, s.pool_size);
        float x = b.x, y = b.y, best = value(batch, side * s.channels + c, sample_at(s, x, y));
        std::int32_t at = 0;
        for (std::int32_t i = 1; i <= s.pool_size; ++i) {
          x += b.step_x;
          y += b.step_y;
          const float next = value(batch, side * s.channels + c, sample_at(s, x, y));
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
    const Sample at = sample_at(s, b.x + b.step_x * steps, b.y + b.step_y * steps);
    for (int corner = 0; at.inside && corner < 4; ++corner) {
      const std::int64_t pixel = batch * s.height * s.width + at.pixel[corner];
      const auto target = static_cast<std::size_t>((pixel * 4 + side) * s.channels + i % s.channels);
      wanted[target] += gradient[i] * static_cast<double>(at.weight[corner]);
      scale[target] += std::fabs(gradient[i] * static_cast<double>(at.weight[corner]));
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

TEST(strange_boxes_touch_nothing_outside) {
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

// Only numbers of samples count, whatever else stands there, in the first sixteen samples and in later ones.
TEST(numbers_of_no_sample_add_nothing) {
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

TEST(a_few_borders_give_what_they_give_among_many) {
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
