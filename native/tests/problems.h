// Problems of every operator and of every path of a kernel, for tests of the course of a call
// rather than of its values. They come from files that tests/problem_files writes from the
// descriptions.
#ifndef MLUOPS_TESTS_PROBLEMS_H_
#define MLUOPS_TESTS_PROBLEMS_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calls.h"
#include "objects.h"
#include "problem_file.h"

namespace problems {

using objects::Descriptor;

// Bytes of an argument.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual char *data() = 0;
  virtual std::int64_t bytes() const = 0;
  virtual bool intact() const { return true; }
};

// Memory between two guard areas whose bytes must not change.
class Walled : public Memory {
 public:
  explicit Walled(std::int64_t bytes) : bytes_(bytes), all_(static_cast<std::size_t>(bytes + 2 * kWall), kBrick) {}

  char *data() override { return all_.data() + kWall; }
  std::int64_t bytes() const override { return bytes_; }
  bool intact() const override {
    const auto brick = [](char byte) { return byte == kBrick; };
    return std::all_of(all_.begin(), all_.begin() + kWall, brick) && std::all_of(all_.end() - kWall, all_.end(), brick);
  }

 private:
  static constexpr std::int64_t kWall = 4096;
  static constexpr char kBrick = 0x5a;
  const std::int64_t bytes_;
  std::vector<char> all_;
};

// Gigabytes of address space mapped repeatedly to the same few megabytes, which hold zeros.
class Addresses : public Memory {
 public:
  explicit Addresses(std::int64_t bytes) : bytes_(bytes), size_(static_cast<std::size_t>(bytes + kPiece)) {
    const int file = memfd_create("addresses", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, kPiece) == 0);
    begin_ = static_cast<char *>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    CHECK(begin_ != MAP_FAILED);
    for (std::int64_t at = 0; at < bytes; at += kPiece) {
      CHECK(mmap(begin_ + at, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    }
    close(file);
  }
  ~Addresses() override { munmap(begin_, size_); }

  char *data() override { return begin_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  static constexpr std::int64_t kPiece = 4 << 20;
  const std::int64_t bytes_;
  const std::size_t size_;
  char *begin_;
};

inline const CallByName &function_named(const std::string &name) {
  const CallByName *end = calls_by_name + call_by_name_count;
  const CallByName *found = std::find_if(calls_by_name, end, [&](const CallByName &one) { return one.name == name; });
  if (found == end) throw std::runtime_error("no function is called " + name);
  return *found;
}

inline CallArgument argument_of(const void *pointer) {
  CallArgument argument;
  argument.pointer = const_cast<void *>(pointer);
  return argument;
}
inline CallArgument argument_of(std::int64_t integer) {
  CallArgument argument;
  argument.integer = integer;
  return argument;
}
inline CallArgument argument_of(double real) {
  CallArgument argument;
  argument.real = real;
  return argument;
}

// A tensor: descriptor, unless it has none, and memory.
struct Argument {
  explicit Argument(const problem_file::Tensor &from) : tensor(from) {
    const auto dtype = static_cast<mluOpDataType_t>(from.dtype);
    std::size_t item = 0;
    CHECK_EQ(mluOpGetSizeOfDataType(dtype, &item), MLUOP_STATUS_SUCCESS);
    item_size = static_cast<std::int64_t>(item);
    if (!from.bare)
      desc = std::make_unique<Descriptor>(from.dims, dtype, static_cast<mluOpTensorLayout_t>(from.layout));
    std::int64_t bytes = item_size;
    for (const std::int64_t dim : from.dims) bytes *= dim;
    if (from.huge) {
      memory = std::make_unique<Addresses>(bytes);
    } else {
      memory = std::make_unique<Walled>(bytes);
    }
    std::copy(from.content.begin(), from.content.end(), memory->data());
  }

  bool holds_integers() const { return tensor.dtype == MLUOP_DTYPE_INT32 || tensor.dtype == MLUOP_DTYPE_INT64; }
  void restore() { std::copy(tensor.content.begin(), tensor.content.end(), memory->data()); }

  const problem_file::Tensor tensor;
  std::int64_t item_size = 0;
  std::unique_ptr<Descriptor> desc;
  std::unique_ptr<Memory> memory;
};

// A descriptor that carries settings.
class Settings {
 public:
  explicit Settings(const problem_file::Settings &from) : kind_(from.kind) {
    const CallArgument place = argument_of(&object_);
    CHECK_EQ(function_named("mluOpCreate" + kind_).call(&place), MLUOP_STATUS_SUCCESS);
    const CallByName &set = function_named("mluOpSet" + kind_);
    std::vector<CallArgument> arguments{argument_of(object_)};
    for (int i = 1; i < set.count; ++i) arguments.push_back(argument(from, set.parameters[i]));
    CHECK_EQ(set.call(arguments.data()), MLUOP_STATUS_SUCCESS);
  }
  ~Settings() {
    const CallArgument object = argument_of(object_);
    CHECK_EQ(function_named("mluOpDestroy" + kind_).call(&object), MLUOP_STATUS_SUCCESS);
  }
  Settings(const Settings &) = delete;
  Settings &operator=(const Settings &) = delete;

  const void *object() const { return object_; }

 private:
  static CallArgument argument(const problem_file::Settings &from, const std::string &name) {
    for (const auto &field : from.fields) {
      if (field.first != name) continue;
      return field.second.size() == 1 ? argument_of(std::int64_t{field.second[0]}) : argument_of(field.second.data());
    }
    throw std::runtime_error("mluOpSet" + from.kind + ": " + name + " has no value");
  }

  const std::string kind_;
  void *object_ = nullptr;
};

class Problem {
 public:
  explicit Problem(const problem_file::Problem &from)
      : name(from.label), function(from.function), call_(function_named(from.function)), from_(from) {
    for (const problem_file::Tensor &tensor : from.tensors) arguments_.push_back(std::make_unique<Argument>(tensor));
    for (const problem_file::Settings &one : from.settings) settings_.push_back(std::make_unique<Settings>(one));
    if (from.workspace != "-") ask_for_workspace(function_named(from.workspace));
    scrub();
    for (int i = 0; i < call_.count; ++i) ready_.push_back(argument(nullptr, call_.parameters[i]));
    CHECK(std::string(call_.parameters[0]) == "handle" && call_.count <= kMostParameters);
  }

  // Allocates nothing itself.
  mluOpStatus_t call(mluOpHandle_t handle) const {
    CallArgument arguments[kMostParameters];
    std::copy(ready_.begin(), ready_.end(), arguments);
    arguments[0] = argument_of(static_cast<const void *>(handle));
    return call_.call(arguments);
  }

  // Inputs of which values may be used as addresses, or as any number.
  std::vector<Argument *> inputs() const {
    std::vector<Argument *> found;
    for (const auto &one : arguments_) {
      if (!one->tensor.output && one->memory->bytes() > 0) found.push_back(one.get());
    }
    return found;
  }

  // Whether the guard areas are unchanged.
  bool intact() const {
    for (const auto &argument : arguments_) {
      if (!argument->memory->intact()) return false;
    }
    return workspace_ == nullptr || workspace_->intact();
  }

  std::vector<char> results() const {
    std::vector<char> all;
    for (const auto &one : arguments_) {
      if (one->tensor.output) {
        all.insert(all.end(), one->memory->data(), one->memory->data() + one->memory->bytes());
      }
    }
    return all;
  }

  // Bytes that a call does not write stay comparable between calls, and are invalid as indices.
  void scrub() {
    if (workspace_ != nullptr) std::memset(workspace_->data(), 0x7f, static_cast<std::size_t>(workspace_->bytes()));
    for (const auto &one : arguments_) {
      if (!one->tensor.output || one->tensor.huge) continue;
      std::memset(one->memory->data(), 0x33, static_cast<std::size_t>(one->memory->bytes()));
    }
  }

  const std::string name, function;

 private:
  void ask_for_workspace(const CallByName &size) {
    const objects::Handle handle;
    std::size_t bytes = 0;
    std::vector<CallArgument> arguments;
    for (int i = 0; i < size.count; ++i) {
      const std::string parameter = size.parameters[i];
      const bool is_size = parameter == "workspace_size" || parameter == "size";
      arguments.push_back(is_size ? argument_of(&bytes) : argument(handle, parameter));
    }
    CHECK_EQ(size.call(arguments.data()), MLUOP_STATUS_SUCCESS);
    workspace_ = std::make_unique<Walled>(static_cast<std::int64_t>(bytes));
  }

  CallArgument argument(mluOpHandle_t handle, const std::string &parameter) const {
    if (parameter == "handle") return argument_of(static_cast<const void *>(handle));
    if (parameter == "workspace") return argument_of(static_cast<const void *>(workspace_->data()));
    if (parameter == "workspace_size") return argument_of(workspace_->bytes());
    for (const auto &one : arguments_) {
      if (parameter == one->tensor.name) return argument_of(static_cast<const void *>(one->memory->data()));
      if (parameter == one->tensor.name + "_desc") {
        return argument_of(static_cast<const void *>(static_cast<mluOpTensorDescriptor_t>(*one->desc)));
      }
    }
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (parameter == from_.settings[i].parameter) return argument_of(settings_[i]->object());
    }
    for (const problem_file::Number &number : from_.numbers) {
      if (parameter == number.name) return number.real ? argument_of(number.value) : argument_of(number.integer);
    }
    throw std::runtime_error(function + ": " + parameter + " has no value");
  }

  static constexpr int kMostParameters = 40;
  const CallByName &call_;
  const problem_file::Problem from_;
  std::vector<CallArgument> ready_;  // but for the handle
  std::vector<std::unique_ptr<Argument>> arguments_;
  std::vector<std::unique_ptr<Settings>> settings_;
  std::unique_ptr<Walled> workspace_;
};

using ProblemPointer = std::unique_ptr<Problem>;

// The problems of a file in the folder that MLUOPS_TEST_PROBLEMS names, read once.
inline const std::vector<problem_file::Problem> &file_of(const std::string &set) {
  static std::map<std::string, std::vector<problem_file::Problem>> files;
  const auto found = files.find(set);
  if (found != files.end()) return found->second;
  const char *folder = std::getenv("MLUOPS_TEST_PROBLEMS");
  if (folder == nullptr) throw std::runtime_error("MLUOPS_TEST_PROBLEMS names no folder; ctest sets it");
  return files.emplace(set, problem_file::read(std::string(folder) + "/" + set)).first->second;
}

// All problems of a set: "ways_400" and "ways_100" have every operator on all its ways with so many
// thousand values, "one_phase" has a few values, "phases" enough for every phase to be interrupted
// in its middle, "endless" takes minutes or hours.
inline std::vector<ProblemPointer> all_of(const std::string &set) {
  std::vector<ProblemPointer> all;
  for (const problem_file::Problem &from : file_of(set)) all.push_back(std::make_unique<Problem>(from));
  return all;
}

// One problem of a set; they begin anew behind the last one.
inline ProblemPointer one_of(const std::string &set, std::size_t number) {
  const std::vector<problem_file::Problem> &all = file_of(set);
  return std::make_unique<Problem>(all[number % all.size()]);
}

}  // namespace problems

#endif  // MLUOPS_TESTS_PROBLEMS_H_
