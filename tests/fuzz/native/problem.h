// A call of an operator: which tensors of which shape it takes, as data that can be changed in one place.
#ifndef MLUOPS_FUZZ_PROBLEM_H_
#define MLUOPS_FUZZ_PROBLEM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytes.h"
#include "mlu_op.h"

namespace fuzz {

enum class Content {
  kFloats,
  kShifts,
  kBoxes,
  kArgmax,
  kIndices,
  kVoxels,
  kNothing
};
enum class Desc {
  kGood,
  kAny
};  // kAny: whatever Objects::any gives
enum class Data {
  kGood,
  kNull,
  kMisaligned,
  kOverlap
};

struct Tensor {
  std::string name;
  std::vector<std::int64_t> dims;
  std::int64_t dtype = MLUOP_DTYPE_FLOAT;
  std::int64_t layout = MLUOP_LAYOUT_ARRAY;
  bool output = false;
  Content content = Content::kFloats;
  std::vector<std::int64_t> strides{};  // empty: packed
  Desc desc = Desc::kGood;
  Data data = Data::kGood;
  std::size_t other = 0;     // which tensor it overlaps,
  std::size_t distance = 0;  // and where it begins there
};

struct Sparse {
  std::int64_t batch = 1, sub_m = 0;
  int axes[6][3];  // pad, stride, dilation, input, filter and output space
};

enum class Workspace {
  kNeeded,
  kMore,
  kLess,
  kNull,
  kMisaligned,
  kOverlap
};

struct Problem {
  std::string function;
  std::vector<Tensor> tensors;
  std::map<std::string, std::int64_t> values{};
  bool has_sparse = false;
  Sparse sparse{};
  Desc handle = Desc::kGood, sparse_desc = Desc::kGood;
  Workspace workspace = Workspace::kNeeded;
  int edits = 0;  // how many things were changed
};

// A problem that every library must accept.
Problem legal_problem(Bytes &bytes);
// Changes nothing, one thing, or a few.
void edit_problem(Problem &problem, Bytes &bytes);

// The number of elements, or -1 if it does not fit; and the bytes of one.
std::int64_t elements(const Tensor &tensor);
std::int64_t item_size(std::int64_t dtype);

// Writes values of the tensor's kind into `size` bytes. True if some of them are from the edges of their type.
bool fill(const Problem &problem, const Tensor &tensor, Bytes &bytes, std::uint8_t *memory, std::size_t size);

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_PROBLEM_H_
