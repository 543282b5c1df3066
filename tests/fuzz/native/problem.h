// A call of an operator: which tensors of which shape it takes, as data that can be changed in one
// place.
#ifndef MLUOPS_FUZZ_PROBLEM_H_
#define MLUOPS_FUZZ_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bytes.h"
#include "problem_file.h"

namespace fuzz {

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

struct Tensor : problem_file::Tensor {
  explicit Tensor(const problem_file::Tensor &from) : problem_file::Tensor(from) {}

  std::vector<std::int64_t> strides{};  // empty: packed
  Desc desc = Desc::kGood;
  Data data = Data::kGood;
  std::size_t other = 0;     // which tensor it overlaps,
  std::size_t distance = 0;  // and where it begins there
};

struct Settings : problem_file::Settings {
  explicit Settings(const problem_file::Settings &from) : problem_file::Settings(from) {}

  Desc desc = Desc::kGood;
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
  bool has_workspace() const { return size_function != "-"; }
  // Whether the function that tells the size of the workspace is the one that is called.
  bool only_size() const { return function == size_function; }

  std::string function, size_function;
  std::vector<Tensor> tensors{};
  std::vector<problem_file::Number> numbers{};
  std::vector<Settings> settings{};
  Desc handle = Desc::kGood;
  Workspace workspace = Workspace::kNeeded;
  bool needs_workspace = true;
  int edits = 0;  // how many things were changed
};

// A problem that every library must accept, out of the file that MLUOPS_FUZZ_PROBLEMS names.
Problem legal_problem(Bytes &bytes);
// Changes nothing, one thing, or a few.
void edit_problem(Problem &problem, Bytes &bytes);

// The number of elements, or -1 if it does not fit; and the bytes of one.
std::int64_t elements(const Tensor &tensor);
std::int64_t item_size(std::int64_t dtype);

// Writes the contents of the file into `size` bytes and changes some of them. True if the changed
// ones may be illegal.
bool fill(const Tensor &tensor, Bytes &bytes, std::uint8_t *memory, std::size_t size);

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_PROBLEM_H_
