// TinShift against its formula, on odd sizes and exactly sized memory.
#include "objects.h"

using namespace objects;

namespace {

struct Shape {
  std::int64_t batches, times, channels, pixels, groups;
};

template <typename T>
std::vector<T> expected(const Shape &s, const Tensor<T> &input, const Tensor<std::int32_t> &shifts) {
  std::vector<T> output;
  for (std::int64_t n = 0; n < s.batches; ++n) {
    for (std::int64_t t = 0; t < s.times; ++t) {
      for (std::int64_t c = 0; c < s.channels; ++c) {
        const std::int64_t from = t - shifts.data[n * s.groups + c / (s.channels / s.groups)];
        for (std::int64_t p = 0; p < s.pixels; ++p) {
          const bool inside = from >= 0 && from < s.times;
          output.push_back(inside ? input.data[((n * s.times + from) * s.channels + c) * s.pixels + p] : T{});
        }
      }
    }
  }
  return output;
}

template <typename T>
void compare(const Shape &s, int shift, std::mt19937 &random) {
  const Handle handle;
  const std::vector<std::int64_t> dims{s.batches, s.times, s.channels, s.pixels};
  Tensor<T> input(dims, MLUOP_LAYOUT_ARRAY, shift), output(dims, MLUOP_LAYOUT_ARRAY, shift);
  Tensor<std::int32_t> shifts({s.batches, s.groups}, MLUOP_LAYOUT_ARRAY, shift);
  input.fill_uniform(random, -4, 4);
  shifts.fill_integers(random, -static_cast<int>(s.times) - 1, static_cast<int>(s.times) + 1);
  const std::vector<T> wanted = expected(s, input, shifts);
  CHECK_EQ(mluOpTinShiftForward(handle, input.desc, input.data, shifts.desc, shifts.data, output.desc, output.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(output.same_bits(wanted));
  std::memset(static_cast<void *>(output.data), 0x5a, wanted.size() * sizeof(T));
  CHECK_EQ(mluOpTinShiftBackward(handle, input.desc, input.data, shifts.desc, shifts.data, output.desc, output.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(output.same_bits(wanted));
}

}  // namespace

TEST(odd_sizes) {
  std::mt19937 random(1);
  // The last ones have blocks of some kilobytes at various distances modulo 32 bytes.
  const Shape shapes[] = {{1, 1, 1, 1, 1},    {1, 2, 1, 3, 1},    {2, 3, 6, 5, 3},   {1, 8, 12, 7, 4},
                          {3, 5, 7, 17, 7},   {1, 6, 6, 1, 3},    {2, 4, 9, 31, 3},  {1, 13, 2, 33, 2},
                          {5, 2, 8, 65, 1},   {1, 3, 16, 127, 4}, {2, 7, 4, 257, 2}, {1, 1, 5, 1021, 5},
                          {1, 4, 6, 1021, 3}, {2, 3, 2, 1543, 1}, {1, 5, 3, 2050, 1}};
  for (const Shape &shape : shapes) {
    for (const int shift : {0, 1}) {
      compare<float>(shape, shift, random);
      compare<Half>(shape, shift, random);
    }
  }
}

TEST(extreme_shifts) {
  const Handle handle;
  for (const std::int32_t value : {INT32_MIN, INT32_MIN + 1, -5, -4, -1, 0, 1, 4, 5, INT32_MAX - 1, INT32_MAX}) {
    const Shape shape{1, 5, 2, 3, 1};
    Tensor<float> input({1, 5, 2, 3}), output({1, 5, 2, 3});
    Tensor<std::int32_t> shifts({1, 1});
    std::mt19937 random(2);
    input.fill_uniform(random, -1, 1);
    shifts.data[0] = value;
    CHECK_EQ(mluOpTinShiftForward(handle, input.desc, input.data, shifts.desc, shifts.data, output.desc, output.data),
             MLUOP_STATUS_SUCCESS);
    if (value > -6 && value < 6) {
      CHECK(output.same_bits(expected(shape, input, shifts)));
    } else {
      CHECK(output.same_bits(std::vector<float>(30)));
    }
  }
}

TEST(bits_pass_unchanged) {
  const Handle handle;
  const std::uint32_t patterns[] = {0x7fa00001u, 0xffc12345u, 0x80000000u, 0x7f800000u, 0x00000001u, 0xff800000u};
  Tensor<float> input({1, 1, 1, 6}), output({1, 1, 1, 6});
  Tensor<std::int32_t> shifts({1, 1});
  std::memcpy(input.data, patterns, sizeof patterns);
  shifts.data[0] = 0;
  CHECK_EQ(mluOpTinShiftForward(handle, input.desc, input.data, shifts.desc, shifts.data, output.desc, output.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(std::memcmp(output.data, patterns, sizeof patterns) == 0);
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
