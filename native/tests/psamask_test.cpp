// Psamask against its formula, on odd sizes and exactly sized memory.
#include "objects.h"

using namespace objects;

namespace {

struct Shape {
  std::int64_t batches, height, width;
  int h_mask, w_mask;
};

constexpr int kCollect = 0;
constexpr int kDistribute = 1;

// Calls move(mask side offset, map side offset) for every cell of the mask that lies on the map.
template <typename Move>
void for_each_cell(const Shape &s, int psa_type, const Move &move) {
  const std::int64_t cells = s.h_mask * s.w_mask, places = s.height * s.width;
  const std::int64_t up = (s.h_mask - 1) >> 1, left = (s.w_mask - 1) >> 1;
  for (std::int64_t n = 0; n < s.batches; ++n) {
    for (std::int64_t here = 0; here < places; ++here) {
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        const std::int64_t row = here / s.width + cell / s.w_mask - up,
                           column = here % s.width + cell % s.w_mask - left;
        if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
        const std::int64_t there = row * s.width + column;
        const std::int64_t map = psa_type == kCollect ? here * places + there : there * places + here;
        move((n * places + here) * cells + cell, n * places * places + map);
      }
    }
  }
}

void compare(const Shape &s, int psa_type, int shift, std::mt19937 &random) {
  const Handle handle;
  const std::vector<std::int64_t> mask_dims{s.batches, s.height, s.width, s.h_mask * s.w_mask};
  const std::vector<std::int64_t> map_dims{s.batches, s.height, s.width, s.height * s.width};
  Tensor<float> mask(mask_dims, MLUOP_LAYOUT_NHWC, shift), map(map_dims, MLUOP_LAYOUT_NHWC, shift);

  mask.fill_uniform(random, -1, 1);
  std::vector<float> wanted(static_cast<std::size_t>(map.count));
  for_each_cell(s, psa_type,
                [&](std::int64_t from, std::int64_t to) { wanted[static_cast<std::size_t>(to)] = mask.data[from]; });
  CHECK_EQ(mluOpPsamaskForward(handle, psa_type, mask.desc, mask.data, s.h_mask, s.w_mask, map.desc, map.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(map.same_bits(wanted));

  map.fill_uniform(random, -1, 1);
  wanted.assign(static_cast<std::size_t>(mask.count), 0.0f);
  for_each_cell(s, psa_type,
                [&](std::int64_t to, std::int64_t from) { wanted[static_cast<std::size_t>(to)] = map.data[from]; });
  CHECK_EQ(mluOpPsamaskBackward(handle, psa_type, map.desc, map.data, s.h_mask, s.w_mask, mask.desc, mask.data),
           MLUOP_STATUS_SUCCESS);
  CHECK(mask.same_bits(wanted));
}

}  // namespace

TEST(odd_sizes) {
  std::mt19937 random(3);
  const Shape shapes[] = {{1, 1, 1, 1, 1},   {1, 2, 2, 3, 3},    {2, 3, 5, 3, 5},  {1, 7, 1, 5, 1},
                          {3, 1, 13, 1, 7},  {1, 5, 5, 2, 4},    {1, 4, 3, 9, 11}, {2, 11, 7, 6, 3},
                          {1, 3, 17, 5, 33}, {1, 13, 9, 25, 17}, {1, 2, 31, 1, 2}, {4, 6, 6, 11, 11}};
  for (const Shape &shape : shapes) {
    for (const int psa_type : {kCollect, kDistribute}) {
      for (const int shift : {0, 1}) compare(shape, psa_type, shift, random);
    }
  }
}

TEST(maps_of_many_blocks_of_positions) {
  std::mt19937 random(5);
  for (std::int64_t width = 1; width < 40; ++width) {
    const int mask_h = 1 + static_cast<int>(width % 5), mask_w = 1 + static_cast<int>(width * 7 % 23);
    for (const int psa_type : {kCollect, kDistribute}) compare({1, 19, width, mask_h, mask_w}, psa_type, 0, random);
  }
  for (const Shape &shape : {Shape{1, 26, 19, 51, 37},
                             {1, 2, 301, 3, 9},
                             {1, 3, 205, 2, 411},
                             {1, 75, 3, 7, 5},
                             {1, 9, 70, 5, 139},
                             {1, 3, 80, 4, 256}}) {
    for (const int psa_type : {kCollect, kDistribute}) compare(shape, psa_type, 1, random);
  }
}

TEST(mask_much_larger_than_the_map) {
  std::mt19937 random(4);
  for (const int psa_type : {kCollect, kDistribute}) compare({1, 2, 3, 41, 67}, psa_type, 0, random);
}

TEST(mask_sizes_whose_product_overflows_are_refused) {
  const Handle handle;
  Tensor<float> mask({1, 2, 2, 9}, MLUOP_LAYOUT_NHWC), map({1, 2, 2, 4}, MLUOP_LAYOUT_NHWC);
  for (const int side : {1 << 16, 46341, INT32_MAX, INT32_MIN, -3, 0}) {
    CHECK_EQ(mluOpPsamaskForward(handle, kCollect, mask.desc, mask.data, side, side, map.desc, map.data),
             MLUOP_STATUS_BAD_PARAM);
    CHECK_EQ(mluOpPsamaskBackward(handle, kCollect, map.desc, map.data, side, side, mask.desc, mask.data),
             MLUOP_STATUS_BAD_PARAM);
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
