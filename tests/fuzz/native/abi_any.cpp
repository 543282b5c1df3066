// Calls functions of the headers in any order with any arguments, and looks what a refusal, a
// success and a repetition do.
#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "abi.h"
#include "bytes.h"
#include "finding.h"
#include "memory.h"
#include "objects.h"

namespace fuzz {
namespace {

constexpr int kMostCalls = 24;
constexpr int kMostElements = 40;

// Functions whose memory arguments cannot be judged one by one; other targets call them: cnrt the
// copies, launches and what ends all objects at once.
const char *const kElsewhere[] = {"cnrtMemcpy",     "cnrtMemset",       "cnrtFree",        "cnrtMemFreeAsync",
                                  "cnrtInvoke",     "cnrtDeviceReset",  "mlusimSetDevice", "cnrtMalloc",
                                  "cnrtHostMalloc", "cnrtMemAllocAsync"};

// Returns memory that the caller frees, so that two answers differ; tests/abi/test_gen_case.py
// calls it.
const char *const kAllocates = "mluOpGetGenCaseDirectory";

bool is_elsewhere(int number) {
  if (std::strcmp(kFunctions[number].name, kAllocates) == 0) return true;
  return std::any_of(std::begin(kElsewhere), std::end(kElsewhere), [number](const char *name) {
    return std::strncmp(kFunctions[number].name, name, std::strlen(name)) == 0;
  });
}

Arena g_arena;
int g_answer = 0;

extern "C" int harness_function() { return g_answer; }

// One call: its values, the memory behind them, and what was there before.
class Call {
 public:
  Call(int number, Objects &objects, Bytes &bytes)
      : number_(number), function_(kFunctions[number]), objects_(objects), bytes_(bytes) {
    for (int i = 0; i < function_.count; ++i) count(i);
    for (int i = 0; i < function_.count; ++i) make(i);
  }

  void run() {
    explain_arguments();
    keep();
    const Value result = call(number_, values_);
    explain("  = %lld", static_cast<long long>(result.integer));
    if (refused(number_, result)) {
      judge_refusal();
    } else {
      judge_success(result);
    }
  }

 private:
  const Parameter &parameter(int i) const { return function_.parameters[i]; }

  void explain_arguments() const {
    explain("%s", function_.name);
    for (int i = 0; i < function_.count; ++i) {
      explain("  %s %lld", parameter(i).name, static_cast<long long>(values_[i].integer));
    }
  }

  // ---- Making arguments -------------------------------------------------------------------------

  // Numbers first: arrays have as many elements as they say.
  void count(int i) {
    const Parameter &p = parameter(i);
    if (p.role != Role::kInteger) return;
    std::int64_t value = bytes_.number(std::strcmp(p.name, "dimNb") == 0 ? 5 : static_cast<int>(bytes_.below(4)));
    if (counts_unlimited(i)) value = std::min<std::int64_t>(static_cast<int>(value), kMostElements);
    if (p.size == 4) value = static_cast<std::int32_t>(value);
    values_[i] = value_of(value);
  }

  // Whether nothing but the length of the caller's arrays limits a count. A wrong dimNb is refused
  // before anything is read.
  bool counts_unlimited(int i) const {
    if (std::strcmp(parameter(i).name, "dimNb") == 0) return false;
    return std::any_of(function_.parameters, function_.parameters + function_.count,
                       [i](const Parameter &p) { return p.counter == i || p.role == Role::kGroup; });
  }

  std::size_t elements(const Parameter &p) const {
    if (p.count != 0) return p.count;
    if (p.counter < 0) return kMostElements;
    const std::int64_t given = values_[p.counter].integer;
    return given < 0 || given > kMostElements ? bytes_.below(9) : static_cast<std::size_t>(given);
  }

  Buffer &add_buffer(std::size_t size, bool input) {
    buffers_.push_back(g_arena.make(size, bytes_.one_in(3) ? Side::kBegin : Side::kEnd));
    inputs_.push_back(input);
    return buffers_.back();
  }

  void make(int i) {
    const Parameter &p = parameter(i);
    const bool null = p.role != Role::kInteger && p.role != Role::kReal && p.role != Role::kObject && bytes_.one_in(24);
    switch (p.role) {
      case Role::kInteger:
        return;
      case Role::kReal:
        values_[i] = value_of(bytes_.real(1.0));
        return;
      case Role::kObject:
        values_[i] = value_of(objects_.any(p.type, bytes_));
        return;
      case Role::kFunction:
        g_answer = bytes_.one_in(8) ? 1 : 0;
        values_[i] = value_of(bytes_.one_in(4) ? nullptr : reinterpret_cast<const void *>(harness_function));
        return;
      case Role::kData:
      case Role::kInputData:
        make_data(i);
        return;
      case Role::kGroup:
        make_group(i);
        break;
      case Role::kInput:
        make_input(i);
        break;
      case Role::kStructure:
        make_structure(i);
        return;
      case Role::kText:
        make_text(i);
        break;
      case Role::kNewObject:
      case Role::kOutput:
      case Role::kPointer:
        values_[i] = value_of(static_cast<const void *>(add_buffer(p.size * p.count, false).data));
        break;
    }
    if (null) values_[i] = value_of(nullptr);
  }

  // Data of a tensor is at an odd address, which every operator refuses: how much of it a call may
  // read is not said here.
  void make_data(int i) {
    const Buffer &buffer = add_buffer(16, parameter(i).role == Role::kInputData);
    const bool null = bytes_.one_in(8);
    values_[i] = value_of(null ? nullptr : static_cast<const void *>(buffer.data + (parameter(i).data_pair ? 1 : 0)));
  }

  void make_input(int i) {
    const Parameter &p = parameter(i);
    std::size_t count = elements(p);
    if (std::strcmp(p.name, "group_dimSize") == 0) count = dims_of_group();
    Buffer &buffer = add_buffer(count * p.size, true);
    for (std::size_t at = 0; at < count; ++at) {
      std::int64_t value = bytes_.number(static_cast<std::int64_t>(1 + bytes_.below(4)));
      if (std::strcmp(p.name, "group_dimNb") == 0) value = std::min<std::int64_t>(static_cast<int>(value), 9);
      std::memcpy(buffer.data + at * p.size, &value, p.size);
    }
    buffer.keep();
    values_[i] = value_of(static_cast<const void *>(buffer.data));
  }

  // The dims of a group lie one after another.
  std::size_t dims_of_group() const {
    std::size_t sum = 0;
    for (int i = 0; i < function_.count; ++i) {
      if (std::strcmp(parameter(i).name, "group_dimNb") != 0 || values_[i].pointer == nullptr) continue;
      const auto *dims = static_cast<const int *>(values_[i].pointer);
      for (std::int64_t at = 0; at < group_size(); ++at) sum += static_cast<std::size_t>(std::max(dims[at], 0));
    }
    return sum;
  }

  std::int64_t group_size() const {
    for (int i = 0; i < function_.count; ++i) {
      if (std::strcmp(parameter(i).name, "desc_num") == 0) return std::max<std::int64_t>(values_[i].integer, 0);
    }
    return 0;
  }

  void make_group(int i) {
    const auto count = static_cast<std::size_t>(group_size());
    Buffer &slots = add_buffer(count * sizeof(void *), true);
    const bool creates = std::strstr(function_.name, "Create") != nullptr;
    for (std::size_t at = 0; at < count; ++at) {
      Buffer &variable = add_buffer(sizeof(void *), !creates);
      const void *object = creates ? nullptr : objects_.any(parameter(i).type, bytes_);
      std::memcpy(variable.data, &object, sizeof object);
      variable.keep();
      const std::uint8_t *address = bytes_.one_in(32) ? nullptr : variable.data;
      if (address != nullptr) grouped_.push_back(reinterpret_cast<const void **>(variable.data));
      std::memcpy(slots.data + at * sizeof address, &address, sizeof address);
    }
    slots.keep();
    values_[i] = value_of(static_cast<const void *>(slots.data));
  }

  void make_structure(int i) {
    Buffer &buffer = add_buffer(parameter(i).size, true);
    for (std::size_t at = 0; at < buffer.size; ++at) buffer.data[at] = bytes_.byte();
    buffer.keep();
    values_[i] = value_of(static_cast<const void *>(buffer.data));
  }

  void make_text(int i) {
    static const char *const kTexts[] = {"MLU370-X8", "MLU590", "", "%s%n", "MLU\n", "a name of no model at all"};
    Buffer &buffer = add_buffer(40, true);
    std::memset(buffer.data, 0, buffer.size);
    const char *text = kTexts[bytes_.below(6)];
    std::memcpy(buffer.data, text, std::strlen(text));
    buffer.keep();
    values_[i] = value_of(static_cast<const void *>(buffer.data));
  }

  // ---- Judging ----------------------------------------------------------------------------------

  struct State {
    std::string type;
    const void *object;
    bool lived;
    std::vector<std::uint8_t> seen;
  };

  void keep_object(const std::string &type, const void *object) {
    const bool lived = objects_.lives(type, object);
    states_.push_back({type, object, lived, lived ? Objects::state(type, object) : std::vector<std::uint8_t>()});
  }

  void keep() {
    for (int i = 0; i < function_.count; ++i) {
      if (parameter(i).role == Role::kObject) keep_object(parameter(i).type, values_[i].pointer);
    }
    if (std::strstr(function_.name, "Create") != nullptr) return;
    for (const void **variable : grouped_) keep_object("mluOpTensorDescriptor_t", *variable);
  }

  void judge_refusal() {
    const std::string kept = last_reason();  // getters that are refused replace it
    const char *reason = kept.c_str();
    if (function_.returns == Returns::kStatus &&
        std::strncmp(reason, function_.name, std::strlen(function_.name)) != 0) {
      finding("%s is refused without a reason of its own, the last is: %s", function_.name, reason);
    }
    for (const Buffer &buffer : buffers_) {
      if (!buffer.unchanged()) finding("%s writes and then refuses: %s", function_.name, reason);
    }
    for (const State &state : states_) {
      if (state.lived && Objects::state(state.type, state.object) != state.seen) {
        finding("%s changes an object and then refuses: %s", function_.name, reason);
      }
    }
    if (function_.returns != Returns::kStatus) return;  // of the runtime: an error is told once
    const Value again = call(number_, values_);
    if (!refused(number_, again)) finding("%s refuses a call and accepts the same again", function_.name);
  }

  // A queue of the runtime is judged by it later, and some numbers are queues.
  bool may_be_foreign(const std::string &type) const {
    return type == "cnrtQueue_t" || function_.returns != Returns::kStatus;
  }

  void judge_success(Value result) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!buffers_[i].canaries_intact()) finding("%s writes beyond a buffer", function_.name);
      if (inputs_[i] && !buffers_[i].unchanged()) finding("%s writes to an input", function_.name);
    }
    const bool sets_group = std::strstr(function_.name, "SetGroup") != nullptr;
    // Some sizes do not depend on a descriptor, which may be missing or dead then.
    const bool tells_size = std::strstr(function_.name, "WorkspaceSize") != nullptr;
    for (const State &state : states_) {
      const bool needed = !tells_size || state.type == "mluOpHandle_t";
      if (!state.lived && needed && !may_be_foreign(state.type) && !sets_group) {
        finding("%s accepts what is no living %s", function_.name, state.type.c_str());
      }
    }
    if (std::strstr(function_.name, "Destroy") != nullptr) {
      judge_destruction();
    } else if (std::strstr(function_.name, "Create") != nullptr) {
      adopt_results();
    } else {
      judge_repetition(result);
    }
  }

  void judge_destruction() {
    for (const State &state : states_) objects_.buried(state.type, state.object);
    if (!refused(number_, call(number_, values_))) finding("%s accepts what it destroyed", function_.name);
  }

  void adopt_results() {
    for (int i = 0; i < function_.count; ++i) {
      if (parameter(i).role != Role::kNewObject) continue;
      if (values_[i].pointer == nullptr) finding("%s accepts NULL for its result", function_.name);
      objects_.adopt(parameter(i).type, *static_cast<const void *const *>(values_[i].pointer));
    }
    for (const void **variable : grouped_) objects_.adopt("mluOpTensorDescriptor_t", *variable);
  }

  void judge_repetition(Value result) {
    std::deque<Buffer> first = buffers_;
    for (Buffer &buffer : first) buffer.keep();
    for (const Buffer &buffer : buffers_) buffer.restore();
    const bool reads = std::strstr(function_.name, "Get") != nullptr;
    if (reads) {
      for (const State &state : states_) {
        if (state.lived && Objects::state(state.type, state.object) != state.seen) {
          finding("%s changes what it reads", function_.name);
        }
      }
    }
    for (const char *ends : {"Stop", "Free"}) {
      if (std::strstr(function_.name, ends) != nullptr) return;
    }
    const Value again = call(number_, values_);
    if (refused(number_, again)) finding("%s accepts a call and refuses the same again", function_.name);
    if (function_.returns == Returns::kRuntimeStatus) return;  // times and counts differ
    if (again.integer != result.integer && !changes_by_itself())
      finding("%s answers twice differently", function_.name);
    for (const Buffer &buffer : first) {
      if (!buffer.unchanged() && !changes_by_itself()) finding("%s writes twice differently", function_.name);
    }
    adopt_members();
  }

  // Each profile has a number of its own.
  bool changes_by_itself() const {
    return std::strstr(function_.name, "LastReason") != nullptr ||
           std::strcmp(function_.name, "mlusimStartProfile") == 0;
  }

  void adopt_members() {
    if (std::strcmp(function_.name, "mluOpGetTensorAndDataFromTensorSet") != 0) return;
    objects_.adopt_member(values_[0].pointer, *static_cast<const void *const *>(values_[4].pointer));
  }

  const int number_;
  const Function &function_;
  Objects &objects_;
  Bytes &bytes_;
  Value values_[kMostParameters] = {};
  std::deque<Buffer> buffers_;  // references to them stay
  std::vector<bool> inputs_;
  std::vector<const void **> grouped_;
  std::vector<State> states_;
};

// Where the points of functions lie on a ring of 16-bit numbers: a number stands for the point that
// follows it. So most inputs keep their meaning when a header gets another function.
using Ring = std::vector<std::pair<std::uint16_t, int>>;

std::uint16_t point_of(const char *name, std::uint32_t number) {
  std::uint32_t hash = 2166136261u ^ number * 40503u;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<std::uint8_t>(*name)) * 16777619u;
  return static_cast<std::uint16_t>(hash ^ hash >> 16);
}

const Ring &ring() {
  static const Ring made = [] {
    constexpr std::uint32_t kPoints = 24;
    Ring points;
    for (int i = 0; i < kFunctionCount; ++i) {
      if (!has_function(i) || is_elsewhere(i)) continue;
      for (std::uint32_t point = 0; point < kPoints; ++point) {
        points.emplace_back(point_of(kFunctions[i].name, point), i);
      }
    }
    std::sort(points.begin(), points.end());
    return points;
  }();
  return made;
}

int choose_function(Bytes &bytes) {
  const std::pair<std::uint16_t, int> wanted(bytes.raw<std::uint16_t>(), 0);
  const auto found = std::lower_bound(ring().begin(), ring().end(), wanted);
  return found == ring().end() ? ring().front().second : found->second;
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  fuzz::load_library();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  fuzz::Objects objects;
  fuzz::g_answer = 0;
  try {
    for (int i = 0; i < fuzz::kMostCalls && !bytes.done(); ++i) {
      fuzz::g_arena.begin_run();
      fuzz::Call(fuzz::choose_function(bytes), objects, bytes).run();
    }
    objects.destroy_all();
  } catch (const fuzz::OpenFinding &) {
    objects.forget_all();
  }
  return 0;
}
