// Reads files with calls of operators; tests/problem_files has their form and writes them.
#ifndef MLUOPS_TESTS_PROBLEM_FILE_H_
#define MLUOPS_TESTS_PROBLEM_FILE_H_

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace problem_file {

struct Tensor {
  std::string name;
  std::int64_t dtype = 0, layout = 0;
  bool output = false, in_place = false, bare = false, partly = false, any_content = false, huge = false;
  bool optional = false;  // the call may do without it
  std::vector<std::int64_t> dims;
  std::vector<char> content;
};

struct Number {
  std::string name;
  bool real = false, counts_passes = false;
  std::int64_t integer = 0;
  double value = 0;
};

// A descriptor that mluOpCreate<kind> makes and mluOpSet<kind> fills.
struct Settings {
  std::string parameter, kind;
  std::vector<std::pair<std::string, std::vector<int>>> fields;
};

struct Problem {
  std::string function, workspace, label;
  bool needs_workspace = true;  // else a call without one, or with a small one, takes memory of its own
  std::vector<Tensor> tensors;
  std::vector<Number> numbers;
  std::vector<Settings> settings;
};

namespace details {

inline Tensor read_tensor(std::istream &words) {
  Tensor tensor;
  std::string flags;
  std::size_t rank = 0;
  words >> tensor.name >> tensor.dtype >> tensor.layout >> flags >> rank;
  tensor.dims.resize(rank);
  for (std::int64_t &dim : tensor.dims) words >> dim;
  const auto has = [&flags](char flag) { return flags.find(flag) != std::string::npos; };
  tensor.output = has('o');
  tensor.in_place = has('i');
  tensor.bare = has('b');
  tensor.partly = has('p');
  tensor.any_content = has('c');
  tensor.huge = has('h');
  tensor.optional = has('m');
  return tensor;
}

inline Number read_number(std::istream &words, bool real) {
  Number number;
  std::string flags;
  words >> number.name >> flags;
  number.real = real;
  number.counts_passes = flags == "l";
  if (real) {
    words >> number.value;
  } else {
    words >> number.integer;
  }
  return number;
}

inline std::pair<std::string, std::vector<int>> read_field(std::istream &words) {
  std::string name;
  std::size_t count = 0;
  words >> name >> count;
  std::vector<int> values(count);
  for (int &value : values) words >> value;
  return {name, values};
}

// One line of a problem; the bytes of a content follow it in the file.
inline void read_line(const std::string &kind, std::istream &words, std::istream &file, Problem &problem) {
  if (kind == "tensor") {
    problem.tensors.push_back(read_tensor(words));
  } else if (kind == "content") {
    std::size_t bytes = 0;
    words >> bytes;
    problem.tensors.back().content.resize(bytes);
    file.read(problem.tensors.back().content.data(), static_cast<std::streamsize>(bytes));
    file.get();
  } else if (kind == "integer" || kind == "real") {
    problem.numbers.push_back(read_number(words, kind == "real"));
  } else if (kind == "settings") {
    problem.settings.emplace_back();
    words >> problem.settings.back().parameter >> problem.settings.back().kind;
  } else if (kind == "field") {
    problem.settings.back().fields.push_back(read_field(words));
  } else {
    throw std::runtime_error("a file of problems has a line of a kind that is not known: " + kind);
  }
}

}  // namespace details

inline std::vector<Problem> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Problem> all;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "problem") {
      all.emplace_back();
      words >> all.back().function >> all.back().workspace >> std::ws;
      std::getline(words, all.back().label);
      all.back().needs_workspace = all.back().workspace.rfind('?', 0) != 0;
      if (!all.back().needs_workspace) all.back().workspace.erase(0, 1);
    } else if (kind != "end") {
      details::read_line(kind, words, file, all.back());
    }
  }
  if (all.empty()) throw std::runtime_error(path + ": has no problems; tests/problem_files writes them");
  return all;
}

}  // namespace problem_file

#endif  // MLUOPS_TESTS_PROBLEM_FILE_H_
