// Calls operators with legal problems in which nothing, one thing or a few things were changed.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "abi.h"
#include "bytes.h"
#include "finding.h"
#include "memory.h"
#include "objects.h"
#include "problem.h"
#include "store.h"

namespace fuzz {
namespace {

// More passes of a loop only take time.
constexpr std::int64_t kMostPasses = 20000, kMostPassesOfSimulator = 300;

const std::string kTensor = "mluOpTensorDescriptor_t", kHandle = "mluOpHandle_t", kQueue = "cnrtQueue_t";

Stores g_stores;

class Operator {
 public:
  Operator(Problem problem, Objects &objects, Bytes &bytes)
      : problem_(std::move(problem)),
        number_(find_function(problem_.function.c_str())),
        objects_(objects),
        bytes_(bytes) {
    explain("%s, %d edits", problem_.function.c_str(), problem_.edits);
    make_handle();
    for (const Settings &settings : problem_.settings) make_settings(settings);
    for (Tensor &tensor : problem_.tensors) make_desc(tensor);
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) make_data(i);
    if (problem_.has_workspace()) make_workspace();
  }

  void run() {
    const Function &function = kFunctions[number_];
    Value values[kMostParameters] = {};
    for (int i = 0; i < function.count; ++i) values[i] = argument(function.parameters[i].name);
    for (int i = 0; i < function.count; ++i) {
      explain("  %s %lld", function.parameters[i].name, static_cast<long long>(values[i].integer));
    }
    keep();
    set_threads();
    const Value result = call(number_, values);
    explain("  = %lld %s", static_cast<long long>(result.integer), result.integer != 0 ? last_reason() : "");
    const std::string reason = last_reason();
    g_stores.settle(refused(number_, result));
    if (refused(number_, result)) {
      judge_refusal(reason);
    } else {
      judge_success(values);
    }
  }

 private:
  // ---- Making -----------------------------------------------------------------------------------

  void make_handle() {
    handle_ = problem_.handle == Desc::kGood ? objects_.create(kHandle) : objects_.any(kHandle, bytes_);
    if (!objects_.lives(kHandle, handle_)) {
      expect_refusal("the handle is none");
      return;
    }
    const void *queue = nullptr;
    if (is_simulator() && bytes_.one_in(3)) queue = objects_.living(kQueue, bytes_);
    if (is_simulator() && bytes_.one_in(24)) {
      queue = objects_.any(kQueue, bytes_);
      const bool default_queue = reinterpret_cast<std::uintptr_t>(queue) <= 2;
      // A function that only tells a size has no use for the queue.
      const bool uses_queue = !default_queue && !problem_.only_size();
      if (uses_queue && !objects_.lives(kQueue, queue)) expect_refusal("the queue is none");
      ++problem_.edits;
    }
    if (call_by_name("mluOpSetQueue", handle_, queue) != 0) finding("mluOpSetQueue refuses: %s", last_reason());
  }

  static std::string type_of(const Settings &settings) { return "mluOp" + settings.kind + "_t"; }

  void make_settings(const Settings &settings) {
    const std::string type = type_of(settings);
    const void *desc = settings.desc == Desc::kGood ? objects_.create(type) : objects_.any(type, bytes_);
    settings_.push_back(desc);
    if (!objects_.lives(type, desc)) {
      // Some sizes do not depend on settings.
      if (!problem_.only_size()) expect_refusal(settings.parameter + " is none");
      return;
    }
    const Function &set = kFunctions[find_function(("mluOpSet" + settings.kind).c_str())];
    Value values[kMostParameters] = {value_of(desc)};
    for (int i = 1; i < set.count; ++i) {
      for (const auto &[name, given] : settings.fields) {
        if (name != set.parameters[i].name) continue;
        values[i] = given.size() == 1 ? value_of(given[0]) : value_of(static_cast<const void *>(given.data()));
      }
    }
    const std::int64_t status = call_values(set.name, values, set.count);
    if (status != 0 && problem_.edits == 0) finding("legal settings are refused: %s", last_reason());
  }

  void make_desc(Tensor &tensor) {
    const void *desc = tensor.bare ? nullptr : objects_.create(kTensor);
    if (tensor.desc == Desc::kAny && !tensor.bare) {
      // One that lives would have a shape of its own.
      const void *other = objects_.any(kTensor, bytes_);
      if (!objects_.lives(kTensor, other)) {
        desc = other;
        // Some sizes do not depend on a descriptor, which may be missing then. An optional one may
        // always be missing.
        const bool missing = desc == nullptr && (problem_.only_size() || tensor.optional);
        if (takes(tensor.name + "_desc") && !missing) expect_refusal(tensor.name + "_desc is none");
      }
    }
    descs_.push_back(desc);
    if (!objects_.lives(kTensor, desc)) return;
    const auto rank = static_cast<std::int64_t>(tensor.dims.size());
    if (!tensor.strides.empty()) tensor.strides.resize(tensor.dims.size(), 1);
    const auto *dims = static_cast<const void *>(tensor.dims.data());
    const std::int64_t status =
        tensor.strides.empty() || rank == 0
            ? call_by_name("mluOpSetTensorDescriptor_v2", desc, tensor.layout, tensor.dtype, rank, dims)
            : call_by_name("mluOpSetTensorDescriptorEx_v2", desc, tensor.layout, tensor.dtype, rank, dims,
                           static_cast<const void *>(tensor.strides.data()));
    if (status != 0 && problem_.edits == 0) finding("a legal shape is refused: %s", last_reason());
    if (status != 0) read_back(desc, tensor);
  }

  // A descriptor that refused its values has those from before.
  static void read_back(const void *desc, Tensor &tensor) {
    std::int64_t dims[8] = {};
    int layout = 0, dtype = 0, rank = 0;
    call_by_name("mluOpGetTensorDescriptor_v2", desc, static_cast<const void *>(&layout),
                 static_cast<const void *>(&dtype), static_cast<const void *>(&rank), static_cast<const void *>(dims));
    tensor.dims.assign(dims, dims + rank);
    if (rank == 0) tensor.dims.assign(1, 0);
    tensor.dtype = dtype;
    tensor.strides.clear();
  }

  std::int64_t bytes_of(const Tensor &tensor) const {
    const std::int64_t count = elements(tensor);
    return count < 0 || count > INT64_MAX / 16 ? INT64_MAX : count * item_size(tensor.dtype);
  }

  void make_data(std::size_t i) {
    Tensor &tensor = problem_.tensors[i];
    std::int64_t size = bytes_of(tensor);
    empty_ |= size == 0;
    if (tensor.bare && problem_.edits > 0) size = room_of_bare();
    if (size > static_cast<std::int64_t>(kLargestBuffer) || takes_too_long()) {
      // Without memory the call cannot be accepted; what is checked before the memory still is.
      tensor.data = Data::kNull;
      size = 0;
    }
    g_stores.add(static_cast<std::size_t>(size), bytes_.one_in(3));
    Store &store = g_stores.last();
    if (!tensor.output && fill(tensor, bytes_, store.host.data, store.host.size)) ++problem_.edits;
    store.upload();
    const std::uint8_t *pointer = tensor.bare ? store.host.data : store.pointer;
    if (tensor.data == Data::kNull) {
      pointer = nullptr;
      const bool left_out = tensor.optional && descs_[i] == nullptr;
      if (takes(tensor.name) && !left_out) expect_refusal(tensor.name + " is NULL");
    } else if (tensor.data == Data::kMisaligned && item_size(tensor.dtype) > 1) {
      pointer += 1;
      if (takes(tensor.name)) expect_refusal(tensor.name + " is misaligned");
    } else if (tensor.data == Data::kOverlap) {
      pointer = overlapping(tensor, static_cast<std::size_t>(size), i, pointer);
    }
    pointers_.push_back(pointer);
  }

  // The dims of other tensors say how long an array without a descriptor is, and they may have been
  // changed.
  std::int64_t room_of_bare() const {
    std::int64_t most = 0;
    for (const Tensor &tensor : problem_.tensors) {
      for (const std::int64_t dim : tensor.dims) most = std::max(most, dim);
    }
    return most > static_cast<std::int64_t>(kLargestBuffer) / 16 ? INT64_MAX : std::int64_t{kLargestBuffer};
  }

  // Whether the function has a parameter; that for the size of the workspace lacks some.
  bool takes(const std::string &name) const {
    const Function &function = kFunctions[number_];
    return std::any_of(function.parameters, function.parameters + function.count,
                       [&name](const Parameter &parameter) { return name == parameter.name; });
  }

  bool takes_too_long() const {
    const std::int64_t most = is_simulator() ? kMostPassesOfSimulator : kMostPasses;
    return std::any_of(problem_.numbers.begin(), problem_.numbers.end(), [most](const problem_file::Number &number) {
      return number.counts_passes && number.integer > most;
    });
  }

  const std::uint8_t *overlapping(const Tensor &tensor, std::size_t size, std::size_t self, const std::uint8_t *own) {
    const std::size_t other = tensor.other;
    if (other >= self) return own;  // only what is already there
    const Tensor &before = problem_.tensors[other];
    const Store &store = g_stores.at(other);
    if (tensor.bare || before.bare || before.data != Data::kGood) return own;
    if (tensor.distance >= store.host.size || size == 0) return own;
    const std::uint8_t *pointer = store.pointer + tensor.distance;
    if (tensor.output || before.output) {
      if (takes(tensor.name)) expect_refusal(tensor.name + " overlaps " + before.name);
      return pointer;
    }
    return tensor.distance + size <= store.host.size ? pointer : own;
  }

  // Functions that tell the size of a workspace name it in two ways.
  static bool is_size(const std::string &name) { return name == "workspace_size" || name == "size"; }

  void make_workspace() {
    if (problem_.only_size()) {
      g_stores.add(sizeof(std::size_t), false);
      return;
    }
    std::size_t needed = 0;
    const Function &function = kFunctions[find_function(problem_.size_function.c_str())];
    Value values[kMostParameters] = {};
    for (int i = 0; i < function.count; ++i) {
      const std::string name = function.parameters[i].name;
      values[i] = is_size(name) ? value_of(static_cast<const void *>(&needed)) : argument(name);
    }
    if (call_values(function.name, values, function.count) != 0) needed = 64;
    workspace_size_ = needed + (problem_.workspace == Workspace::kMore ? bytes_.below(65536) : 0);
    if (problem_.workspace == Workspace::kLess && needed > 0) {
      workspace_size_ = needed - 1 - bytes_.below(std::min<std::size_t>(needed, 65535));
    }
    workspace_size_ = std::min(workspace_size_, kLargestBuffer - 64);
    if (workspace_size_ < needed && problem_.needs_workspace) expect_refusal("the workspace is too small");
    const bool shifted = problem_.workspace == Workspace::kMisaligned;
    g_stores.add(workspace_size_ + (shifted ? 1 : 0), false);
    g_stores.last().upload();
    workspace_ = g_stores.last().pointer + (shifted ? 1 : 0);
    if (problem_.workspace == Workspace::kNull) {
      workspace_ = nullptr;
      if (workspace_size_ > 0) expect_refusal("the workspace is NULL");
    }
    overlap_workspace(needed);
  }

  void overlap_workspace(std::size_t needed) {
    const std::size_t other = bytes_.below(pointers_.size());
    if (problem_.workspace != Workspace::kOverlap || needed == 0 || problem_.tensors[other].bare) return;
    if (pointers_[other] == nullptr || g_stores.at(other).host.size == 0) return;
    workspace_ = pointers_[other];
    expect_refusal("the workspace overlaps a tensor");
  }

  Value argument(const std::string &name) const {
    if (name == "handle") return value_of(handle_);
    if (name == "workspace") return value_of(static_cast<const void *>(workspace_));
    if (is_size(name)) {
      return problem_.only_size() ? value_of(static_cast<const void *>(g_stores.last().host.data))
                                  : value_of(workspace_size_);
    }
    for (std::size_t i = 0; i < problem_.settings.size(); ++i) {
      if (name == problem_.settings[i].parameter) return value_of(settings_[i]);
    }
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      if (name == problem_.tensors[i].name) return value_of(static_cast<const void *>(pointers_[i]));
      if (name == problem_.tensors[i].name + "_desc") return value_of(descs_[i]);
    }
    for (const problem_file::Number &number : problem_.numbers) {
      if (name == number.name) return number.real ? value_of(number.value) : value_of(number.integer);
    }
    finding("the fuzzer does not know %s of %s", name.c_str(), problem_.function.c_str());
  }

  // Results are the same bits for any number of threads.
  void set_threads() {
    if (is_simulator()) return;
    const auto count = static_cast<std::int64_t>(1 + bytes_.below(4));
    if (call_by_name("mluopsExtSetNumThreads", count) != 0)
      finding("mluopsExtSetNumThreads refuses %d", static_cast<int>(count));
  }

  void expect_refusal(const std::string &reason) {
    if (expected_.empty()) expected_ = reason;
  }

  // ---- Judging ----------------------------------------------------------------------------------

  void keep() {
    for (std::size_t i = 0; i < descs_.size(); ++i) {
      const bool lives = objects_.lives(kTensor, descs_[i]);
      states_.push_back(lives ? Objects::state(kTensor, descs_[i]) : std::vector<std::uint8_t>());
    }
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      const std::string type = type_of(problem_.settings[i]);
      const bool lives = objects_.lives(type, settings_[i]);
      settings_states_.push_back(lives ? Objects::state(type, settings_[i]) : std::vector<std::uint8_t>());
    }
  }

  void judge_descriptors() {
    for (std::size_t i = 0; i < descs_.size(); ++i) {
      if (!states_[i].empty() && Objects::state(kTensor, descs_[i]) != states_[i]) {
        finding("%s changes a tensor descriptor", problem_.function.c_str());
      }
    }
  }

  void judge_refusal(const std::string &reason) {
    const char *function = problem_.function.c_str();
    if (problem_.edits == 0 && expected_.empty()) finding("%s refuses a legal call: %s", function, reason.c_str());
    if (reason.rfind(problem_.function, 0) != 0)
      finding("%s is refused without a reason: %s", function, reason.c_str());
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      // Of a call that is refused for its room a number may say how many rows there must be.
      const bool says_rows = elements(problem_.tensors[i]) == 1 && reason.find(" at least ") != std::string::npos;
      if (!says_rows && !g_stores.at(i).unchanged()) {
        finding("%s writes to %s and then refuses: %s", function, problem_.tensors[i].name.c_str(), reason.c_str());
      }
    }
    judge_descriptors();
    // A descriptor tells how many rows an output must have.
    if (reason.find("_desc: expected at least") != std::string::npos) return;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (settings_states_[i].empty()) continue;
      if (Objects::state(type_of(problem_.settings[i]), settings_[i]) != settings_states_[i]) {
        finding("%s changes %s and then refuses: %s", function, problem_.settings[i].parameter.c_str(), reason.c_str());
      }
    }
  }

  void judge_success(const Value *values) {
    const char *function = problem_.function.c_str();
    const bool may_be_empty = empty_ && expected_.find(" is none") == std::string::npos;
    if (!expected_.empty() && !may_be_empty) finding("%s accepts a call: %s", function, expected_.c_str());
    judge_descriptors();
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      const Store &store = g_stores.at(i);
      if (!store.canaries_intact()) finding("%s writes beyond %s", function, problem_.tensors[i].name.c_str());
      if (!problem_.tensors[i].output && !problem_.tensors[i].in_place && !store.unchanged()) {
        finding("%s writes to its input %s", function, problem_.tensors[i].name.c_str());
      }
    }
    if (g_stores.count() > problem_.tensors.size() && !g_stores.last().canaries_intact()) {
      finding("%s writes beyond the workspace", function);
    }
    if (!empty_ && !problem_.only_size()) judge_repetition(values);
  }

  // Again into memory that holds something else: every byte of the outputs must be written, and be
  // the same. What an operator writes in parts only, or changes in place, holds what it held
  // before.
  void judge_repetition(const Value *values) {
    std::vector<std::vector<std::uint8_t>> first;
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      Store &store = g_stores.at(i);
      first.push_back(store.download());
      if (problem_.tensors[i].in_place) {
        store.host.restore();
        store.upload();
      }
      if (!problem_.tensors[i].output) continue;
      std::memset(store.host.data, problem_.tensors[i].partly ? kFill : 0x3b, store.host.size);
      store.host.keep();
      store.upload();
    }
    set_threads();
    const Value again = call(number_, values);
    g_stores.settle(refused(number_, again));
    if (refused(number_, again)) finding("%s accepts a call and refuses the same again", problem_.function.c_str());
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      if (g_stores.at(i).download() != first[i]) {
        finding("%s gives %s twice differently", problem_.function.c_str(), problem_.tensors[i].name.c_str());
      }
    }
  }

  Problem problem_;
  const int number_;
  Objects &objects_;
  Bytes &bytes_;
  const void *handle_ = nullptr;
  std::vector<const void *> descs_, settings_;
  std::vector<const std::uint8_t *> pointers_;
  const std::uint8_t *workspace_ = nullptr;
  std::size_t workspace_size_ = 0;
  bool empty_ = false;
  std::string expected_;  // why the call must be refused, empty if it need not
  std::vector<std::vector<std::uint8_t>> states_, settings_states_;
};

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  fuzz::load_library();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  fuzz::Objects objects;
  fuzz::Stores &stores = fuzz::g_stores;
  stores.begin_run();
  try {
    fuzz::Problem problem = fuzz::legal_problem(bytes);
    fuzz::edit_problem(problem, bytes);
    fuzz::Operator(std::move(problem), objects, bytes).run();
    objects.destroy_all();
  } catch (const fuzz::OpenFinding &) {
    objects.forget_all();
  }
  stores.end_run();
  return 0;
}
