#include "abi.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "finding.h"

namespace fuzz {
namespace {

std::vector<void *> g_addresses;
std::unordered_map<std::string, int> g_numbers;

void *open_library(const char *variable) {
  const char *path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return nullptr;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) finding("%s: %s", variable, dlerror());
  return library;
}

// A function of an operator that the library does not implement only says so.
bool is_implemented(void *library, const Function &function) {
  const auto implements = reinterpret_cast<int (*)(const char *)>(dlsym(library, "mluopsExtImplements"));
  const bool takes_handle = function.count > 0 && std::strcmp(function.parameters[0].name, "handle") == 0;
  const bool can_lack = takes_handle || std::strncmp(function.name, "mluOp", 5) == 0;
  return !can_lack || implements == nullptr || implements(function.name) != 0;
}

}  // namespace

void load_library() {
  if (!g_addresses.empty()) return;
  void *library = open_library("MLUOPS_FUZZ_LIBRARY");
  if (library == nullptr) finding("MLUOPS_FUZZ_LIBRARY names no library");
  void *instead = open_library("MLUOPS_FUZZ_OVERRIDE");
  for (int i = 0; i < kFunctionCount; ++i) {
    void *address = instead != nullptr ? dlsym(instead, kFunctions[i].name) : nullptr;
    if (address == nullptr && is_implemented(library, kFunctions[i])) address = dlsym(library, kFunctions[i].name);
    g_addresses.push_back(address);
    if (g_addresses.back() != nullptr) g_numbers.emplace(kFunctions[i].name, i);
  }
}

int find_function(const char *name) {
  const auto entry = g_numbers.find(name);
  return entry == g_numbers.end() ? -1 : entry->second;
}

bool has_function(int number) { return g_addresses[static_cast<std::size_t>(number)] != nullptr; }

bool is_simulator() { return find_function("cnrtMalloc") >= 0; }

Value call(int number, const Value *values) {
  return kFunctions[number].invoke(g_addresses[static_cast<std::size_t>(number)], values);
}

bool refused(int number, Value result) {
  switch (kFunctions[number].returns) {
    case Returns::kStatus:
    case Returns::kRuntimeStatus:
      return result.integer != 0;
    case Returns::kMinusOne:
      return result.integer == -1;
    default:
      return false;
  }
}

std::int64_t call_values(const char *name, const Value *values, int count) {
  const int number = find_function(name);
  if (number < 0) finding("the library has no %s", name);
  if (kFunctions[number].count != count) finding("the fuzzer calls %s with %d arguments", name, count);
  return call(number, values).integer;
}

const char *last_reason() {
  const int number = find_function("mluopsExtGetLastReason");
  const auto *reason = number < 0 ? nullptr : static_cast<const char *>(call(number, nullptr).pointer);
  return reason == nullptr ? "" : reason;
}

}  // namespace fuzz
