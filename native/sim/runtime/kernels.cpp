#include "runtime/kernels.h"

#include <dlfcn.h>

#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "base/fork.h"

namespace mlusim {
namespace {

// Behind the name of what exists once for each architecture; then comes the architecture. pymluops/bang/_variants.py writes it.
constexpr const char *kArchMark = "$mlusim_";

struct Registry {
  ForkMutex mutex;
  std::unordered_map<const void *, const Kernel *> by_address;
  // Kernels of several architectures have one name for the linker, whose address is none of theirs. So has a kernel of a library whose
  // address a program takes.
  std::unordered_multimap<std::string, const Kernel *> by_symbol;
};

// Never destroyed: libraries announce their kernels before and after everything else.
Registry &registry() {
  static Registry &all = *new Registry;
  return all;
}

// What the linker calls the function at the address; empty if it knows none.
std::string symbol_of(const void *address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != address) return {};
  return info.dli_sname;
}

// Without what tells the architectures of one kernel apart.
std::string plain_symbol(const Kernel &kernel) {
  const std::string symbol = kernel.address == &kernel ? std::string() : symbol_of(kernel.address);
  return symbol.substr(0, symbol.find(kArchMark));
}

void add(const Kernel &kernel) {
  Registry &all = registry();
  const std::string symbol = plain_symbol(kernel);
  const std::lock_guard<ForkMutex> lock(all.mutex);
  all.by_address[kernel.address] = &kernel;
  if (!symbol.empty()) all.by_symbol.emplace(symbol, &kernel);
}

void remove(const Kernel &kernel) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const auto place = all.by_address.find(kernel.address);
  if (place != all.by_address.end() && place->second == &kernel) all.by_address.erase(place);
  for (auto entry = all.by_symbol.begin(); entry != all.by_symbol.end();) {
    entry = entry->second == &kernel ? all.by_symbol.erase(entry) : std::next(entry);
  }
}

}  // namespace

Kernel::~Kernel() { remove(*this); }

const Kernel *find_kernel(const void *address, int arch) {
  Registry &all = registry();
  {
    const std::lock_guard<ForkMutex> lock(all.mutex);
    const auto entry = all.by_address.find(address);
    if (entry != all.by_address.end()) return entry->second;
  }
  const std::string symbol = symbol_of(address);
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const Kernel *newest = nullptr;
  const auto range = all.by_symbol.equal_range(symbol);
  for (auto entry = range.first; entry != range.second; ++entry) {
    const Kernel *kernel = entry->second;
    if (kernel->arch == arch) return kernel;
    if (newest == nullptr || kernel->arch > newest->arch) newest = kernel;
  }
  return newest;
}

}  // namespace mlusim

void __bangRegisterFunction(void **module, const char *host_function, char *, const char *, int, cnrtDim3_t *,
                            cnrtDim3_t *, int *) {
  if (module == nullptr || *module == nullptr || host_function == nullptr) return;
  const auto *kernel = static_cast<const mlusim::Kernel *>(*module);
  if (kernel->address != host_function) return;
  try {
    mlusim::add(*kernel);
  } catch (const std::bad_alloc &) {  // then launches of it are refused
  }
}
