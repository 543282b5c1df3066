// Problems of every operator and of every path of a kernel, for tests of the course of a call rather than of its
// values.
#ifndef MLUOPS_TESTS_PROBLEMS_H_
#define MLUOPS_TESTS_PROBLEMS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "objects.h"

namespace problems {

using objects::Descriptor;
using objects::Half;

// Memory between two guard areas whose bytes must not change.
class Memory {
 public:
  explicit Memory(std::int64_t bytes) : bytes_(bytes), all_(static_cast<std::size_t>(bytes + 2 * kWall), kBrick) {}

  char *data() { return all_.data() + kWall; }
  const char *data() const { return all_.data() + kWall; }
  std::int64_t bytes() const { return bytes_; }

  bool intact() const {
    const auto brick = [](char byte) { return byte == kBrick; };
    return std::all_of(all_.begin(), all_.begin() + kWall, brick) && std::all_of(all_.end() - kWall, all_.end(), brick);
  }

 private:
  static constexpr std::int64_t kWall = 4096;
  static constexpr char kBrick = 0x5a;
  const std::int64_t bytes_;
  std::vector<char> all_;
};

// A tensor: descriptor and memory.
struct Argument {
  Argument(const std::vector<std::int64_t> &dims, mluOpDataType_t dtype, mluOpTensorLayout_t layout)
      : desc(dims, dtype, layout), memory(static_cast<std::int64_t>(mluOpGetTensorElementNum(desc)) * size_of(dtype)) {}

  static std::int64_t size_of(mluOpDataType_t dtype) {
    std::size_t size = 0;
    CHECK_EQ(mluOpGetSizeOfDataType(dtype, &size), MLUOP_STATUS_SUCCESS);
    return static_cast<std::int64_t>(size);
  }

  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(memory.data());
  }

  Descriptor desc;
  Memory memory;
};

class Problem {
 public:
  using Call = std::function<mluOpStatus_t(mluOpHandle_t)>;

  Problem(std::string name, std::string function) : name(std::move(name)), function(std::move(function)) {}

  Argument &input(const std::vector<std::int64_t> &dims, mluOpDataType_t dtype,
                  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY) {
    arguments_.push_back(std::make_unique<Argument>(dims, dtype, layout));
    return *arguments_.back();
  }
  Argument &output(const std::vector<std::int64_t> &dims, mluOpDataType_t dtype,
                   mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY) {
    Argument &made = input(dims, dtype, layout);
    outputs_.push_back(&made);
    scrub();
    return made;
  }
  Memory &room(std::int64_t bytes) {
    rooms_.push_back(std::make_unique<Memory>(bytes));
    return *rooms_.back();
  }

  // In order of creation: inputs are named where a problem is built.
  Argument &argument(std::size_t number) const { return *arguments_[number]; }

  // Whether the guard areas are unchanged.
  bool intact() const {
    for (const auto &argument : arguments_) {
      if (!argument->memory.intact()) return false;
    }
    return std::all_of(rooms_.begin(), rooms_.end(), [](const auto &memory) { return memory->intact(); });
  }

  std::vector<char> results() const {
    std::vector<char> all;
    for (const Argument *output : outputs_) {
      all.insert(all.end(), output->memory.data(), output->memory.data() + output->memory.bytes());
    }
    return all;
  }

  // Bytes that a call does not write stay comparable between calls, and are invalid as indices.
  void scrub() {
    for (const auto &memory : rooms_) std::memset(memory->data(), 0x7f, static_cast<std::size_t>(memory->bytes()));
    for (Argument *output : outputs_) {
      std::memset(output->memory.data(), 0x33, static_cast<std::size_t>(output->memory.bytes()));
    }
  }

  const std::string name, function;
  Call call;
  std::vector<std::shared_ptr<void>> keep;

 private:
  std::vector<std::unique_ptr<Argument>> arguments_;
  std::vector<Argument *> outputs_;
  std::vector<std::unique_ptr<Memory>> rooms_;
};

using ProblemPointer = std::unique_ptr<Problem>;

constexpr mluOpDataType_t kFloat = MLUOP_DTYPE_FLOAT, kInt = MLUOP_DTYPE_INT32;

inline void fill_floats(Argument &argument, float low, float high) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> values(low, high);
  float *to = argument.as<float>();
  std::generate(to, to + argument.memory.bytes() / 4, [&] { return values(random); });
}

inline void fill_integers(Argument &argument, int low, int high) {
  std::mt19937 random(6);
  std::uniform_int_distribution<std::int32_t> values(low, high);
  std::int32_t *to = argument.as<std::int32_t>();
  std::generate(to, to + argument.memory.bytes() / 4, [&] { return values(random); });
}

inline ProblemPointer tin_shift(bool forward, std::int64_t times, std::int64_t channels, std::int64_t pixels) {
  auto made = std::make_unique<Problem>("tin_shift", forward ? "mluOpTinShiftForward" : "mluOpTinShiftBackward");
  Argument &from = made->input({2, times, channels, pixels}, kFloat), &shifts = made->input({2, 2}, kInt);
  Argument &to = made->output({2, times, channels, pixels}, kFloat);
  fill_floats(from, -1, 1);
  fill_integers(shifts, -1, 1);
  const auto function = forward ? mluOpTinShiftForward : mluOpTinShiftBackward;
  made->call = [=, &from, &shifts, &to](mluOpHandle_t handle) {
    return function(handle, from.desc, from.as<void>(), shifts.desc, shifts.as<void>(), to.desc, to.as<void>());
  };
  return made;
}

inline ProblemPointer psamask(bool forward, int type, std::int64_t height, std::int64_t width, int mask_h, int mask_w) {
  auto made = std::make_unique<Problem>(type == 0 ? "psamask, collect" : "psamask, distribute",
                                        forward ? "mluOpPsamaskForward" : "mluOpPsamaskBackward");
  const std::vector<std::int64_t> masks = {1, height, width, std::int64_t{mask_h} * mask_w};
  const std::vector<std::int64_t> map = {1, height, width, height * width};
  constexpr mluOpTensorLayout_t kNhwc = MLUOP_LAYOUT_NHWC;
  Argument &from = made->input(forward ? masks : map, kFloat, kNhwc);
  Argument &to = made->output(forward ? map : masks, kFloat, kNhwc);
  fill_floats(from, -1, 1);
  const auto function = forward ? mluOpPsamaskForward : mluOpPsamaskBackward;
  made->call = [=, &from, &to](mluOpHandle_t handle) {
    return function(handle, type, from.desc, from.as<void>(), mask_h, mask_w, to.desc, to.as<void>());
  };
  return made;
}

inline ProblemPointer three_interpolate(bool forward, std::int64_t channels, std::int64_t sources,
                                        std::int64_t targets) {
  auto made = std::make_unique<Problem>(channels < 4 ? "three_interpolate, plain" : "three_interpolate, tiles",
                                        forward ? "mluOpThreeInterpolateForward" : "mluOpThreeInterpolateBackward");
  const std::vector<std::int64_t> dense = {2, channels, sources}, points = {2, channels, targets};
  Argument &from = made->input(forward ? dense : points, kFloat), &indices = made->input({2, targets, 3}, kInt);
  Argument &weights = made->input({2, targets, 3}, kFloat), &to = made->output(forward ? points : dense, kFloat);
  fill_floats(from, -1, 1);
  fill_floats(weights, 0, 1);
  fill_integers(indices, 0, static_cast<int>(sources) - 1);
  const auto function = forward ? mluOpThreeInterpolateForward : mluOpThreeInterpolateBackward;
  made->call = [=, &from, &indices, &weights, &to](mluOpHandle_t handle) {
    return function(handle, from.desc, from.as<void>(), indices.desc, indices.as<void>(), weights.desc,
                    weights.as<void>(), to.desc, to.as<void>());
  };
  return made;
}

inline ProblemPointer border_align(bool forward, std::int64_t height, std::int64_t width, std::int64_t boxes,
                                   std::int64_t channels, std::int32_t pool_size) {
  auto made = std::make_unique<Problem>("border_align, pool size " + std::to_string(pool_size),
                                        forward ? "mluOpBorderAlignForward" : "mluOpBorderAlignBackward");
  constexpr mluOpTensorLayout_t kNhwc = MLUOP_LAYOUT_NHWC;
  const std::vector<std::int64_t> map = {1, height, width, 4 * channels}, borders = {1, boxes, 4, channels};
  Argument &box = made->input({1, boxes, 4}, kFloat);
  fill_floats(box, -1, static_cast<float>(std::min(height, width)));
  if (forward) {
    Argument &from = made->input(map, kFloat, kNhwc), &to = made->output(borders, kFloat, kNhwc);
    Argument &argmax = made->output(borders, kInt, kNhwc);
    fill_floats(from, -1, 1);
    made->call = [=, &box, &from, &to, &argmax](mluOpHandle_t handle) {
      return mluOpBorderAlignForward(handle, from.desc, from.as<void>(), box.desc, box.as<void>(), pool_size, to.desc,
                                     to.as<void>(), argmax.desc, argmax.as<std::int32_t>());
    };
  } else {
    Argument &from = made->input(borders, kFloat, kNhwc), &argmax = made->input(borders, kInt, kNhwc);
    Argument &to = made->output(map, kFloat, kNhwc);
    fill_floats(from, -1, 1);
    fill_integers(argmax, -1, std::min(pool_size, 100));
    made->call = [=, &box, &from, &to, &argmax](mluOpHandle_t handle) {
      return mluOpBorderAlignBackward(handle, from.desc, from.as<void>(), box.desc, box.as<void>(), argmax.desc,
                                      argmax.as<std::int32_t>(), pool_size, to.desc, to.as<void>());
    };
  }
  return made;
}

// A sparse convolution: the space, the filter, and the stride of all axes, 0 for sub-manifold mode.
struct Sparse {
  const char *name;
  int space[3];
  int filter[3];
  int stride;
  std::int64_t rows;
  bool ascending;  // sorted distinct rows
};

// Rows of one batch; unless distinct, about every tenth has the place of another one.
inline void fill_rows(Argument &rows, const Sparse &sparse) {
  std::mt19937_64 random(7);
  const std::int64_t cells = std::int64_t{sparse.space[0]} * sparse.space[1] * sparse.space[2];
  std::vector<std::int64_t> places;
  while (static_cast<std::int64_t>(places.size()) < sparse.rows) {
    const auto missing = sparse.rows - static_cast<std::int64_t>(places.size());
    for (std::int64_t i = 0; i < missing; ++i) {
      places.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cells)));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  if (!sparse.ascending) {
    std::shuffle(places.begin(), places.end(), random);
    for (std::size_t i = 10; i < places.size(); i += 10) places[i] = places[i - 7];
  }
  std::int32_t *to = rows.as<std::int32_t>();
  for (const std::int64_t place : places) {
    *to++ = 0;
    *to++ = static_cast<std::int32_t>(place / sparse.space[2] / sparse.space[1]);
    *to++ = static_cast<std::int32_t>(place / sparse.space[2] % sparse.space[1]);
    *to++ = static_cast<std::int32_t>(place % sparse.space[2]);
  }
}

struct SparseDescriptor {
  explicit SparseDescriptor(const Sparse &sparse) {
    int pad[3], stride[3], dilation[3] = {1, 1, 1};
    for (int axis = 0; axis < 3; ++axis) {
      stride[axis] = sparse.stride == 0 ? 1 : sparse.stride;
      pad[axis] = (sparse.filter[axis] - 1) / 2;
      out[axis] = sparse.stride == 0 ? sparse.space[axis]
                                     : (sparse.space[axis] + 2 * pad[axis] - sparse.filter[axis]) / stride[axis] + 1;
    }
    CHECK_EQ(mluOpCreateSparseConvolutionDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluOpSetSparseConvolutionDescriptor(desc, 5, 1, pad, stride, dilation, sparse.space, sparse.filter, out,
                                                 sparse.stride == 0, 0, 0),
             MLUOP_STATUS_SUCCESS);
  }
  ~SparseDescriptor() { CHECK_EQ(mluOpDestroySparseConvolutionDescriptor(desc), MLUOP_STATUS_SUCCESS); }
  SparseDescriptor(const SparseDescriptor &) = delete;
  SparseDescriptor &operator=(const SparseDescriptor &) = delete;

  mluOpSparseConvolutionDescriptor_t desc = nullptr;
  int out[3];
};

inline ProblemPointer get_indice_pairs(const Sparse &sparse) {
  auto made = std::make_unique<Problem>(std::string("get_indice_pairs, ") + sparse.name, "mluOpGetIndicePairs");
  const auto desc = std::make_shared<SparseDescriptor>(sparse);
  const std::int64_t volume = std::int64_t{sparse.filter[0]} * sparse.filter[1] * sparse.filter[2];
  const std::int64_t cells_out = std::int64_t{desc->out[0]} * desc->out[1] * desc->out[2];
  const std::int64_t rows_out = sparse.stride == 0 ? sparse.rows : std::min(sparse.rows * volume, cells_out);
  Argument &rows = made->input({sparse.rows, 4}, kInt), &pairs = made->output({volume, 2, sparse.rows}, kInt);
  Argument &outputs = made->output({rows_out, 4}, kInt), &counts = made->output({volume}, kInt);
  fill_rows(rows, sparse);
  std::size_t bytes = 0;
  const objects::Handle handle;
  CHECK_EQ(
      mluOpGetIndicePairsWorkspaceSize(handle, desc->desc, rows.desc, pairs.desc, outputs.desc, counts.desc, &bytes),
      MLUOP_STATUS_SUCCESS);
  Memory &workspace = made->room(static_cast<std::int64_t>(bytes));
  made->keep.push_back(desc);
  made->call = [=, &rows, &pairs, &outputs, &counts, &workspace](mluOpHandle_t handle) {
    return mluOpGetIndicePairs(handle, desc->desc, rows.desc, rows.as<void>(), workspace.data(), bytes, pairs.desc,
                               pairs.as<void>(), outputs.desc, outputs.as<void>(), counts.desc, counts.as<void>());
  };
  return made;
}

// Every path of GetIndicePairs, with about `rows` rows.
inline std::vector<Sparse> sparse_ways(std::int64_t rows) {
  const int side = static_cast<int>(std::cbrt(static_cast<double>(rows))) + 2;
  return {
      {"default, all words", {side, side, 2 * side}, {3, 3, 3}, 2, rows, false},
      {"default, words with marks", {4 * side, 8 * side, 8 * side}, {3, 3, 3}, 2, rows, false},
      {"default, row by row", {4 * side, 8 * side, 8 * side}, {2, 2, 13}, 1, rows / 8, false},
      {"sub-manifold, all words", {side, side, 2 * side}, {3, 3, 3}, 0, rows, true},
      {"sub-manifold, rows that share places", {4 * side, 8 * side, 8 * side}, {3, 3, 3}, 0, rows, false},
      {"sub-manifold, large filter", {side, 2 * side, 2 * side}, {3, 3, 13}, 0, rows / 8, true},
      {"default, sorted", {50, 40000, 40000}, {3, 3, 3}, 2, rows / 4, false},
      {"default, sorted, ascending", {50, 40000, 40000}, {3, 3, 3}, 2, rows / 4, true},
      {"default, sorted, wide lines", {1, 1, 1 << 30}, {1, 1, 20}, 1, rows / 8, false},
      {"sub-manifold, sorted", {50, 40000, 40000}, {3, 3, 3}, 0, rows / 4, false},
      {"sub-manifold, sorted, two words a row", {1 << 20, 1 << 20, 1 << 20}, {3, 3, 3}, 0, rows / 4, false},
  };
}

// Pairs of a sparse convolution with nine cells; targets ascend in each of them, or have any order and repeat.
inline void fill_pairs(Argument &pairs, std::int64_t rows, bool ascending) {
  std::mt19937 random(8);
  std::uniform_int_distribution<std::int32_t> values(0, static_cast<std::int32_t>(rows) - 1);
  std::int32_t *to = pairs.as<std::int32_t>();
  std::generate(to, to + pairs.memory.bytes() / 4, [&] { return values(random); });
  for (std::int64_t side = 0; ascending && side < pairs.memory.bytes() / 4 / rows; ++side) {
    for (std::int64_t l = 0; l < rows; ++l) to[side * rows + l] = static_cast<std::int32_t>(l);
  }
}

// `direction`: forward, backward data, backward filter. The three functions have the same kinds of arguments.
inline ProblemPointer indice_convolution(int direction, bool ascending, std::int64_t rows, std::int64_t in_channels,
                                         std::int64_t out_channels) {
  constexpr const char *kNames[] = {"mluopsExtIndiceConvolutionForward", "mluopsExtIndiceConvolutionBackwardData",
                                    "mluopsExtIndiceConvolutionBackwardFilter"};
  const decltype(&mluopsExtIndiceConvolutionForward) functions[] = {mluopsExtIndiceConvolutionForward,
                                                                    mluopsExtIndiceConvolutionBackwardData,
                                                                    mluopsExtIndiceConvolutionBackwardFilter};
  const decltype(&mluopsExtGetIndiceConvolutionForwardWorkspaceSize) sizes[] = {
      mluopsExtGetIndiceConvolutionForwardWorkspaceSize, mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize,
      mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize};
  constexpr std::int64_t kCells = 9;
  const std::vector<std::int64_t> features = {rows, in_channels}, outputs = {rows, out_channels},
                                  filters = {kCells, in_channels, out_channels};
  auto made = std::make_unique<Problem>(
      ascending ? "indice_convolution, ascending pairs" : "indice_convolution, any pairs", kNames[direction]);
  Argument &first = made->input(direction == 1 ? outputs : features, kFloat);
  Argument &second = made->input(direction == 2 ? outputs : filters, kFloat);
  Argument &pairs = made->input({kCells, 2, rows}, kInt);
  Argument &to = made->output(direction == 0 ? outputs : direction == 1 ? features : filters, kFloat);
  fill_floats(first, -1, 1);
  fill_floats(second, -1, 1);
  fill_pairs(pairs, rows, ascending);
  const auto counts = std::make_shared<std::vector<std::int64_t>>(kCells, rows);
  made->keep.push_back(counts);
  std::size_t bytes = 0;
  CHECK_EQ(sizes[direction](objects::Handle(), first.desc, second.desc, pairs.desc, to.desc, counts->data(), 0, &bytes),
           MLUOP_STATUS_SUCCESS);
  Memory &workspace = made->room(static_cast<std::int64_t>(bytes));
  const auto function = functions[direction];
  made->call = [=, &first, &second, &pairs, &to, &workspace](mluOpHandle_t handle) {
    return function(handle, first.desc, first.as<void>(), second.desc, second.as<void>(), pairs.desc, pairs.as<void>(),
                    counts->data(), 0, workspace.data(), bytes, to.desc, to.as<void>());
  };
  return made;
}

// All operators and paths; a problem has about `size` thousand values.
inline std::vector<ProblemPointer> every_way(std::int64_t size) {
  std::vector<ProblemPointer> all;
  const std::int64_t side = static_cast<std::int64_t>(std::sqrt(std::sqrt(1000.0 * static_cast<double>(size)))) + 1;
  for (const bool forward : {true, false}) {
    all.push_back(tin_shift(forward, 4, 4, size * 30));
    all.push_back(tin_shift(forward, 3, 256, size / 2 + 1));
    for (const int type : {0, 1}) {
      all.push_back(psamask(forward, type, side, side, static_cast<int>(side), static_cast<int>(side)));
      all.push_back(psamask(forward, type, 2, side * 3, 3, static_cast<int>(side * 6)));
    }
    all.push_back(three_interpolate(forward, 20, 100, size * 8));
    all.push_back(three_interpolate(forward, 1, size * 60, size * 60));
    all.push_back(border_align(forward, side, 2 * side, size / 2 + 8, 20, 10));
    all.push_back(border_align(forward, side, 2 * side, size / 20 + 8, 70, 40));
    all.push_back(border_align(forward, 3, 3, 1, 1, 3));
  }
  for (const Sparse &way : sparse_ways(size * 40)) all.push_back(get_indice_pairs(way));
  for (const int direction : {0, 1, 2}) {
    for (const bool ascending : {true, false})
      all.push_back(indice_convolution(direction, ascending, size * 15, 16, 20));
  }
  return all;
}

}  // namespace problems

#endif  // MLUOPS_TESTS_PROBLEMS_H_
