// As much of the machine as translated sources need: two cores, on which each launch runs one after
// the other.
#include <cnrt.h>
#include <mlusim_source.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "mlusim/types.h"

#include "mlusim/sync.h"

namespace {

constexpr std::size_t kBytes = 1 << 16;
constexpr int kCores = 2;

std::vector<mlusim::Array *> &arrays() {
  static auto *const all = new std::vector<mlusim::Array *>;
  return *all;
}

std::vector<const mlusim::Kernel *> &kernels() {
  static auto *const all = new std::vector<const mlusim::Kernel *>;
  return *all;
}

int g_core = 0;

// Memories of different cores lie apart; nothing in them is 0 from the start.
void *place_of(const mlusim::Array &array) {
  static char memories[kCores][5][kBytes];
  return memories[g_core][static_cast<int>(array.space)] + array.offset;
}

}  // namespace

// The name that printf has in kernels.
extern "C" int mlusim_printf(const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int written = std::vfprintf(stdout, format, arguments);
  va_end(arguments);
  return written;
}

namespace mlusim {

Array::Array(ArraySpace space_of_array, const Unit *unit_of_array, const char *name_of_array, std::size_t size,
             void **pointer, const void *initial_bytes, std::size_t bytes_of_element)
    : space(space_of_array),
      unit(unit_of_array),
      name(name_of_array),
      bytes(size),
      element(bytes_of_element),
      storage(pointer),
      initial(initial_bytes),
      offset(0),
      initialised(nullptr) {
  for (const Array *array : arrays()) offset += (array->bytes + 127) / 128 * 128;
  if (offset + bytes > kBytes) std::abort();
  arrays().push_back(this);
  if (space != ArraySpace::constant && space != ArraySpace::device) return;
  if (initial != nullptr) std::memcpy(place_of(*this), initial, bytes);
  *storage = place_of(*this);
}

Array::~Array() = default;

void *Array::mlusim_here() const { return place_of(*this); }

Kernel::~Kernel() = default;

void asm_sync() {}

}  // namespace mlusim

// No kernel here throws or ends its thread.
void mlusim_refuse_end_of_thread() { std::abort(); }

void mlusim_keep_exceptions_of(void *(*)()) {}

void mlusim_end_by_exception(const char *, const char *, const void *) { std::abort(); }

const void *mlusim_throw_place() { std::abort(); }

void mlusim_exception_text(const char *, const char *, char *, size_t) { std::abort(); }

void mlusim_addArch(const void *, int) {}

void mlusim_removeArch(const void *, int) {}

void mlusim_tellRefusal(const char *) { std::abort(); }

void __bangRegisterFunction(void **module, const char *, char *, const char *, int, cnrtDim3_t *, cnrtDim3_t *, int *) {
  kernels().push_back(static_cast<const mlusim::Kernel *>(*module));
}

cnrtRet_t cnrtInvokeKernel(const void *address, cnrtDim3_t dim, cnrtFunctionType_t, void **arguments, size_t,
                           cnrtQueue_t) {
  const auto found = std::find_if(kernels().begin(), kernels().end(),
                                  [address](const mlusim::Kernel *kernel) { return kernel->address == address; });
  if (found == kernels().end()) std::abort();
  const mlusim::KernelCalls &calls = (*found)->calls;
  std::printf("%s %u\n", (*found)->name, dim.x * dim.y * dim.z);
  void *copied = calls.copy(arguments);
  for (g_core = 0; g_core < kCores; ++g_core) {
    for (const mlusim::Array *array : arrays()) {
      std::memset(place_of(*array), 0x55, array->bytes);
      if (array->initial != nullptr) std::memcpy(place_of(*array), array->initial, array->bytes);
      if (array->storage != nullptr) *array->storage = place_of(*array);
    }
    calls.invoke(copied);
  }
  calls.destroy(copied);
  return cnrtSuccess;
}
