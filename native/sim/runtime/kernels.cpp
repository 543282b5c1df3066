#include "runtime/kernels.h"

#include <dlfcn.h>

#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork.h"

namespace mlusim {
namespace {

struct Registry {
  ForkMutex mutex;
  std::unordered_map<const void *, const Kernel *> by_address;
  // Functions that choose by the architecture, with their choices.
  std::unordered_map<const void *, std::vector<const void *>> choices;
  // By linker symbol: a function in a library may have several addresses.
  std::unordered_map<std::string, const void *> by_symbol;
};

// Never destroyed: libraries register and remove kernels before and after all other work.
Registry &registry() {
  static Registry &all = *new Registry;
  return all;
}

// Returns the linker symbol of the function at the address; empty if there is none.
std::string symbol_of(const void *address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != address) return {};
  return info.dli_sname;
}

void add(const Kernel &kernel) {
  Registry &all = registry();
  const std::string symbol = kernel.address == &kernel ? std::string() : symbol_of(kernel.address);
  const std::lock_guard<ForkMutex> lock(all.mutex);
  all.by_address[kernel.address] = &kernel;
  if (!symbol.empty()) all.by_symbol[symbol] = kernel.address;
}

void remove(const Kernel &kernel) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const auto place = all.by_address.find(kernel.address);
  if (place != all.by_address.end() && place->second == &kernel) all.by_address.erase(place);
}

// The caller holds the lock.
const Kernel *kernel_at(const Registry &all, const void *address, int arch) {
  const auto entry = all.by_address.find(address);
  if (entry != all.by_address.end()) return entry->second;
  const auto choice = all.choices.find(address);
  if (choice == all.choices.end()) return nullptr;
  const Kernel *newest = nullptr;
  for (const void *each : choice->second) {
    const auto found = all.by_address.find(each);
    if (found == all.by_address.end()) continue;
    if (found->second->arch == arch) return found->second;
    if (newest == nullptr || found->second->arch > newest->arch) newest = found->second;
  }
  return newest;
}

void add_choices(const void *const *table) {
  Registry &all = registry();
  for (; *table != nullptr; ++table) {
    const void *plain = *table++;
    std::vector<const void *> variants;
    for (; *table != nullptr; ++table) variants.push_back(*table);
    const std::string symbol = symbol_of(plain);
    const std::lock_guard<ForkMutex> lock(all.mutex);
    all.choices[plain] = std::move(variants);
    if (!symbol.empty()) all.by_symbol[symbol] = plain;
  }
}

}  // namespace

Kernel::~Kernel() { remove(*this); }

const Kernel *find_kernel(const void *address, int arch) {
  Registry &all = registry();
  {
    const std::lock_guard<ForkMutex> lock(all.mutex);
    if (const Kernel *kernel = kernel_at(all, address, arch)) return kernel;
  }
  const std::string symbol = symbol_of(address);
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const auto place = all.by_symbol.find(symbol);
  return place != all.by_symbol.end() ? kernel_at(all, place->second, arch) : nullptr;
}

}  // namespace mlusim

void __bangRegisterFunction(void **module, const char *host_function, char *, const char *, int, cnrtDim3_t *,
                            cnrtDim3_t *, int *) {
  if (module == nullptr || *module == nullptr || host_function == nullptr) return;
  const auto *kernel = static_cast<const mlusim::Kernel *>(*module);
  if (kernel->address != host_function) return;
  try {
    mlusim::add(*kernel);
  } catch (const std::bad_alloc &) {  // launches of the kernel are refused then
  }
}

// Registers functions that choose by the architecture. `table` lists for each its address, its
// choices, and a null pointer; another null pointer ends it. Code from pymluops/bang/_variants.py
// calls this when its library is loaded.
extern "C" MLUSIM_API void mlusim_addChoices(const void *const *table) {
  try {
    mlusim::add_choices(table);
  } catch (const std::bad_alloc &) {  // launches by these addresses are refused then
  }
}
