#include "objects.h"

#include <algorithm>
#include <cstring>

#include "finding.h"

namespace fuzz {
namespace {

const std::string kSet = "mluOpTensorSetDescriptor_t", kTensor = "mluOpTensorDescriptor_t";

bool names(const Function &function, const char *word) { return std::strstr(function.name, word) != nullptr; }

// The function whose only parameter is where a new object of the type goes, or that destroys it.
int lifetime_function(const std::string &type, const char *word, Role role) {
  for (int i = 0; i < kFunctionCount; ++i) {
    const Function &function = kFunctions[i];
    if (has_function(i) && function.count == 1 && names(function, word) && function.parameters[0].role == role &&
        type == function.parameters[0].type) {
      return i;
    }
  }
  return -1;
}

// Whether a function takes an object of the type and only writes variables.
bool is_getter(const Function &function, const std::string &type) {
  if (!names(function, "Get") || function.count < 1) return false;
  const Parameter *parameters = function.parameters;
  if (parameters[0].role != Role::kObject || type != parameters[0].type) return false;
  return std::all_of(parameters + 1, parameters + function.count, [](const Parameter &parameter) {
    return parameter.role == Role::kOutput || parameter.role == Role::kData || parameter.role == Role::kNewObject;
  });
}

// Readable memory in which there is no object.
const void *foreign_memory(std::size_t choice) {
  struct Memory {
    alignas(64) std::uint8_t zeros[1024];
    alignas(64) std::uint8_t ones[1024];
  };
  static const Memory memory = [] {
    Memory made;
    std::memset(made.zeros, 0, sizeof made.zeros);
    std::memset(made.ones, 0xff, sizeof made.ones);
    return made;
  }();
  return choice == 0 ? memory.zeros : memory.ones;
}

}  // namespace

const void *Objects::create(const std::string &type) {
  const void *object = nullptr;
  if (type == kSet) {
    static const int dims[] = {2, 3};
    if (call_by_name("mluOpCreateTensorSetDescriptor", static_cast<const void *>(&object), 2,
                     static_cast<const void *>(dims)) != 0) {
      finding("mluOpCreateTensorSetDescriptor refuses a set: %s", last_reason());
    }
  } else {
    const int number = lifetime_function(type, "Create", Role::kNewObject);
    if (number < 0) return nullptr;
    const Value value = value_of(&object);
    if (refused(number, call(number, &value))) finding("%s refuses: %s", kFunctions[number].name, last_reason());
  }
  if (object == nullptr) finding("a new %s is NULL", type.c_str());
  adopt(type, object);
  return object;
}

const void *Objects::living(const std::string &type, Bytes &bytes) {
  std::vector<const void *> &all = living_[type];
  const std::size_t choice = bytes.below(8);
  if (all.empty() || (choice == 7 && all.size() < 6)) return create(type);
  return all[choice % all.size()];
}

const void *Objects::any(const std::string &type, Bytes &bytes) {
  const std::uint8_t choice = bytes.byte();
  if (choice < 192) return living(type, bytes);
  const std::vector<const void *> &dead = dead_[type];
  switch (choice % 8) {
    case 0:
      return nullptr;
    case 1:
    case 2:
      return dead.empty() ? nullptr : dead[bytes.below(dead.size())];
    case 3: {
      static const char *const kOthers[] = {"mluOpHandle_t", "mluOpTensorDescriptor_t", "mluOpSeqDataDescriptor_t",
                                            "mluOpSparseConvolutionDescriptor_t", "mluOpTensorSetDescriptor_t"};
      const char *other = kOthers[bytes.below(5)];
      return other == type ? nullptr : living(other, bytes);
    }
    case 4:
      return reinterpret_cast<const void *>(static_cast<std::uintptr_t>(bytes.raw<std::uint16_t>() & 0xfff));
    case 5: {
      const auto *object = static_cast<const char *>(living(type, bytes));
      // Handles of the runtime are numbers; the objects of the ABI lie in memory.
      return object == nullptr ? nullptr : object + 1 + bytes.below(3);
    }
    default:
      return foreign_memory(choice % 8 - 6u);
  }
}

bool Objects::lives(const std::string &type, const void *object) const {
  const auto entry = living_.find(type);
  return entry != living_.end() && std::find(entry->second.begin(), entry->second.end(), object) != entry->second.end();
}

void Objects::adopt(const std::string &type, const void *object) {
  if (lives(type, object)) finding("a new %s is one that already lives", type.c_str());
  std::vector<const void *> &dead = dead_[type];
  dead.erase(std::remove(dead.begin(), dead.end(), object), dead.end());  // its place was used again
  living_[type].push_back(object);
  if (type == kSet) dead_[kTensor].clear();  // its members may have taken their places
}

void Objects::adopt_member(const void *set, const void *member) {
  if (lives(kTensor, member)) return;
  adopt(kTensor, member);
  members_[set].push_back(member);
}

void Objects::buried(const std::string &type, const void *object) {
  std::vector<const void *> &all = living_[type];
  const auto place = std::find(all.begin(), all.end(), object);
  if (place == all.end()) return;
  all.erase(place);
  dead_[type].push_back(object);
  const std::vector<const void *> members = members_[object];
  members_.erase(object);
  for (const void *member : members) buried(kTensor, member);
}

void Objects::bury_all(const std::string &type) {
  while (!living_[type].empty()) buried(type, living_[type].back());
}

std::vector<std::uint8_t> Objects::state(const std::string &type, const void *object) {
  static std::map<std::string, std::vector<int>> getters;
  const auto entry = getters.find(type);
  if (entry == getters.end()) {
    for (int i = 0; i < kFunctionCount; ++i) {
      if (has_function(i) && is_getter(kFunctions[i], type)) getters[type].push_back(i);
    }
  }
  std::vector<std::uint8_t> whole;
  alignas(64) std::uint8_t room[kMostParameters][64 * 8];
  for (const int number : getters[type]) {
    const Function &function = kFunctions[number];
    std::memset(room, 0, sizeof room);
    Value values[kMostParameters] = {};
    values[0] = value_of(object);
    for (int i = 1; i < function.count; ++i) values[i] = value_of(static_cast<const void *>(room[i]));
    const Value result = call(number, values);
    const auto *status = reinterpret_cast<const std::uint8_t *>(&result);
    whole.insert(whole.end(), status, status + sizeof result);
    for (int i = 1; i < function.count; ++i) {
      const Parameter &parameter = function.parameters[i];
      whole.insert(whole.end(), room[i], room[i] + parameter.size * parameter.count);
    }
  }
  return whole;
}

void Objects::destroy_all() {
  for (const bool sets : {true, false}) {
    for (auto &[type, all] : living_) {
      if ((type == kSet) != sets) continue;
      while (!all.empty()) {
        const void *object = all.back();
        const int number = lifetime_function(type, "Destroy", Role::kObject);
        if (number < 0) finding("nothing destroys %s", type.c_str());
        const Value value = value_of(object);
        if (refused(number, call(number, &value))) finding("%s refuses a living object", kFunctions[number].name);
        if (!refused(number, call(number, &value))) finding("%s accepts an object twice", kFunctions[number].name);
        buried(type, object);
      }
    }
  }
}

}  // namespace fuzz
