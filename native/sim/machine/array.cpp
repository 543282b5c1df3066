#include "machine/array.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "machine/lanes.h"
#include "machine/launch.h"
#include "machine/model.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

constexpr int kSpaces = 3;  // of the memories of a core
constexpr const char *kSpaceNames[kSpaces] = {"NRAM", "WRAM", "SRAM"};
std::atomic<int> g_constants{0};  // saves the search where there is none
constexpr int kMostCores = kMaxClusters * kMaxCoresPerCluster;

// The arrays of all loaded libraries. Libraries register arrays on any thread; the machine reads
// them on the device's thread.
struct Registry {
  ForkMutex mutex;
  std::vector<Array *> by_offset[kSpaces];  // ascending
  std::vector<Array *> bound;               // those with a pointer to set
  std::vector<Array *> constants;           // by address, ascending
  std::vector<Array *> variables;           // of devices, ascending
  std::map<const Array *, void *> zeros;    // the initial bytes of variables without others
};

Registry &registry() {
  static Registry *const instance = new Registry;  // outlives every library that is unloaded at exit
  return *instance;
}

// Returns the name in the source: the translator adds a prefix to names that the C library uses.
const char *name_in_source(const char *name) {
  constexpr char kPrefix[] = "mlusim_own_";
  constexpr std::size_t length = sizeof kPrefix - 1;
  return std::strncmp(name, kPrefix, length) == 0 ? name + length : name;
}

int index_of(ArraySpace space) { return static_cast<int>(space); }

std::size_t room_of(const Array &array) {
  const std::size_t bytes = array.space == ArraySpace::wram ? std::max(array.bytes, kLanesRoom) : array.bytes;
  return (bytes + kArrayGap + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

// Gives the array the first gap in its memory that is large enough, or a place behind all others.
void place(std::vector<Array *> &arrays, Array *array) {
  std::size_t offset = kArrayGap;
  auto at = arrays.begin();
  for (; at != arrays.end() && (*at)->offset < offset + room_of(*array); ++at) offset = (*at)->offset + room_of(**at);
  array->offset = offset;
  arrays.insert(at, array);
}

// Gives a constant memory of its own, with a gap on either side.
void make_constant(Array *array) {
  const std::size_t bytes = (array->bytes + 2 * kArrayGap + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
  char *block = static_cast<char *>(std::aligned_alloc(kArrayAlignment, bytes));
  if (block == nullptr) throw std::bad_alloc();
  std::memset(block, 0, bytes);
  char *begin = block + kArrayGap;
  if (array->initial != nullptr) std::memcpy(begin, array->initial, array->bytes);
  array->offset = reinterpret_cast<std::size_t>(begin);
  if (array->storage != nullptr) *array->storage = begin;
}

char *begin_of_constant(const Array &array) { return reinterpret_cast<char *>(array.offset); }

// Whether the array needs notes about its initial bytes. Variables of devices always have some.
bool has_state(ArraySpace space, const void *initial) {
  return space == ArraySpace::device || (initial != nullptr && space != ArraySpace::constant);
}

bool lies_before(const Array *a, const Array *b) { return a->offset < b->offset; }

Range piece_for(const Core &core, ArraySpace space) {
  if (space == ArraySpace::device) return variables_of(running_launch()->device);
  return space == ArraySpace::sram ? core.sram : space == ArraySpace::wram ? core.wram : core.nram;
}

bool space_index(Space space, int *index) {
  if (space == Space::kNram) return *index = index_of(ArraySpace::nram), true;
  if (space == Space::kWram) return *index = index_of(ArraySpace::wram), true;
  if (space == Space::kSram) return *index = index_of(ArraySpace::sram), true;
  return false;
}

// Returns the arrays of the memory at a location; null if there are none in such a memory.
const std::vector<Array *> *arrays_at(const Registry &all, const Location &location) {
  int index = 0;
  if (is_among_variables(location)) return &all.variables;
  return space_index(location.space, &index) ? &all.by_offset[index] : nullptr;
}

// Gives a variable of a device its place. On the host it stands for its initial bytes.
void make_variable(Registry *all, Array *array) {
  place(all->variables, array);
  if (array->initial == nullptr) {
    array->initial = std::calloc(1, array->bytes);
    if (array->initial == nullptr) throw std::bad_alloc();
    all->zeros[array] = const_cast<void *>(array->initial);
  }
  if (array->storage != nullptr) *array->storage = const_cast<void *>(array->initial);
}

// Copies the initial bytes of a variable when its device first runs a kernel.
void initialise_variable(const Array &array, int device) {
  unsigned long long &done = array.initialised[device];
  if (done == reservation_number()) return;
  done = reservation_number();
  char *begin = range_of(array, variables_of(device)).begin;
  std::memcpy(begin, array.initial, array.bytes);
  if (keep_shadow()) std::memset(init_shadow(begin), 0xff, array.bytes);
}

// Copies the initial bytes of an array at its first use in each run of a core. Run numbers are
// unique.
void initialise(const Array &array, const Core &core) {
  if (core.is_mpu() && array.space != ArraySpace::sram) return;
  const int owner = array.space == ArraySpace::sram ? core.cluster : core.number;
  unsigned long long &done = array.initialised[owner];
  if (done == core.run_number) return;
  done = core.run_number;
  char *begin = range_of(array, piece_for(core, array.space)).begin;
  const std::int64_t share = lane_share(static_cast<std::int64_t>(array.bytes));
  const bool spread = array.space == ArraySpace::wram && share > 0;
  const std::size_t bytes = spread ? static_cast<std::size_t>(share) : array.bytes;
  const std::int64_t pieces = spread ? static_cast<std::int64_t>(array.bytes) / share : 1;
  const char *from = static_cast<const char *>(array.initial);
  for (std::int64_t i = 0; i < pieces; ++i, from += bytes) {
    char *to = begin + i * (spread ? lane_size() : 0);
    std::memcpy(to, from, bytes);
    if (keep_shadow()) std::memset(init_shadow(to), 0xff, bytes);
  }
}

std::size_t device_bytes(int space) {
  const mlusimDeviceModel &model = device();
  const std::int64_t kib[kSpaces] = {model.nram_kib, model.wram_kib, model.sram_kib};
  return static_cast<std::size_t>(kib[space]) * kKiB;
}

std::size_t bytes_of_file(const Registry &all, const Unit *unit, int space) {
  std::size_t bytes = 0;
  for (const Array *array : all.by_offset[space]) {
    if (array->unit == unit && is_of_file(*array)) bytes += array->bytes;
  }
  return bytes;
}

std::string too_many(int space, const Unit *unit, const char *which, std::size_t bytes) {
  return std::string("the ") + kSpaceNames[space] + " arrays of " + unit->file + which + " take " +
         std::to_string(bytes) + " bytes, the device has " + std::to_string(device_bytes(space));
}

// The arrays of functions that the running launch has used. A slot is free if it is of another
// launch; where all slots are taken, further arrays do not count.
struct UsedArrays {
  static constexpr std::size_t kSlots = 1024, kProbes = 16;
  struct Slot {
    const Array *array;
    std::uint64_t launch;
  };
  Slot slots[kSlots];
  std::uint64_t launch;
  std::size_t bytes[kSpaces];
};
UsedArrays g_used;  // of the device's thread

// Whether the running launch uses the array for the first time.
bool note_use(const Array &array) {
  const std::uint64_t launch = launch_count();
  const std::size_t hash = reinterpret_cast<std::uintptr_t>(&array) / sizeof(Array);
  for (std::size_t i = 0; i < UsedArrays::kProbes; ++i) {
    UsedArrays::Slot &slot = g_used.slots[(hash + i) % UsedArrays::kSlots];
    if (slot.launch != launch) {
      slot = {&array, launch};
      return true;
    }
    if (slot.array == &array) return false;
  }
  return false;
}

// Ends the launch if the arrays at file scope of its source and the arrays of the functions that it
// has run do not fit together. Which functions a kernel calls is known when it calls them.
void count_use(const Array &array, const void *pc) {
  const Unit *const unit = running_launch()->unit;
  if (array.unit != unit || !note_use(array)) return;
  if (g_used.launch != launch_count()) {
    g_used.launch = launch_count();
    std::fill_n(g_used.bytes, kSpaces, std::size_t{0});
  }
  const int space = index_of(array.space);
  g_used.bytes[space] += array.bytes;
  std::size_t bytes = g_used.bytes[space];
  {
    Registry &all = registry();
    const std::lock_guard<ForkMutex> lock(all.mutex);
    bytes += bytes_of_file(all, unit, space);
  }
  if (bytes <= device_bytes(space)) return;
  FindingText text = {"machine", "array-memory"};
  text.pc = pc;
  text.size = bytes;
  text.message = too_many(space, unit, " that the kernel uses", bytes);
  trap(std::move(text));
}

}  // namespace

Array::Array(ArraySpace space_of_array, const Unit *unit_of_array, const char *name_of_array, std::size_t size,
             void **pointer, const void *initial_bytes, std::size_t element_bytes)
    : space(space_of_array),
      unit(unit_of_array),
      name(name_in_source(name_of_array)),
      bytes(size),
      element(element_bytes),
      storage(pointer),
      initial(initial_bytes),
      offset(0),
      initialised(has_state(space_of_array, initial_bytes) ? new unsigned long long[kMostCores]() : nullptr) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (space == ArraySpace::constant) {
    make_constant(this);
    all.constants.insert(std::upper_bound(all.constants.begin(), all.constants.end(), this, lies_before), this);
    g_constants = static_cast<int>(all.constants.size());
    return;
  }
  if (space == ArraySpace::device) {
    make_variable(&all, this);
  } else {
    place(all.by_offset[index_of(space)], this);
  }
  if (storage != nullptr) all.bound.push_back(this);
}

Array::~Array() {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const auto remove = [this](std::vector<Array *> &list) {
    list.erase(std::remove(list.begin(), list.end(), this), list.end());
  };
  if (space == ArraySpace::constant) {
    remove(all.constants);
    g_constants = static_cast<int>(all.constants.size());
    std::free(begin_of_constant(*this) - kArrayGap);
    return;
  }
  remove(space == ArraySpace::device ? all.variables : all.by_offset[index_of(space)]);
  remove(all.bound);
  const auto zeros = all.zeros.find(this);
  if (zeros != all.zeros.end()) {
    std::free(zeros->second);
    all.zeros.erase(zeros);
  }
  delete[] initialised;
}

void *Array::mlusim_here() const {
  if (space == ArraySpace::constant) return begin_of_constant(*this);
  const Core *core = current_core();
  if (core == nullptr) return nullptr;
  if (space != ArraySpace::device && !is_of_file(*this)) count_use(*this, __builtin_return_address(0));
  if (initial != nullptr) initialise(*this, *core);
  return range_of(*this, piece_for(*core, space)).begin;
}

bool is_of_file(const Array &array) { return array.storage != nullptr; }

Range range_of(const Array &array, const Range &piece) {
  return {piece.begin + array.offset, piece.begin + array.offset + array.bytes};
}

void bind_arrays(const Core &core) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  for (const Array *array : all.bound) {
    *array->storage = range_of(*array, piece_for(core, array->space)).begin;
    if (array->space == ArraySpace::device) {
      initialise_variable(*array, running_launch()->device);
    } else if (array->initial != nullptr) {
      initialise(*array, core);
    }
  }
}

void unbind_variables() {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  for (const Array *array : all.variables) {
    if (array->storage != nullptr) *array->storage = const_cast<void *>(array->initial);
  }
}

const Array *array_at(const void *address, const Location &location, bool near) {
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char *>(address) - location.piece.begin);
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const std::vector<Array *> *const list = arrays_at(all, location);
  if (list == nullptr) return nullptr;
  const std::vector<Array *> &arrays = *list;
  auto behind = std::upper_bound(arrays.begin(), arrays.end(), offset,
                                 [](std::size_t value, const Array *array) { return value < array->offset; });
  const Array *const next = behind != arrays.end() ? *behind : nullptr;
  const bool in_wram = location.space == Space::kWram;  // whose other lanes are behind the bytes of an array
  if (behind == arrays.begin()) return near && !in_wram ? next : nullptr;
  const Array *const array = *(behind - 1);
  const std::size_t end = array->offset + array->bytes;
  if (offset < end) return array;
  if (!near) return nullptr;
  const bool closer = next != nullptr && !in_wram && next->offset - offset < offset - end;
  return closer ? next : array;
}

const Array *constant_near(const void *address) {
  if (g_constants == 0) return nullptr;
  const std::size_t at = reinterpret_cast<std::size_t>(address);
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  // The first one whose gap begins behind the address; the one before it may hold the address.
  auto behind =
      std::upper_bound(all.constants.begin(), all.constants.end(), at,
                       [](std::size_t value, const Array *array) { return value < array->offset - kArrayGap; });
  if (behind == all.constants.begin()) return nullptr;
  const Array *array = *(behind - 1);
  return at < array->offset + array->bytes + kArrayGap ? array : nullptr;
}

Range range_of_constant(const Array &array) {
  return {begin_of_constant(array), begin_of_constant(array) + array.bytes};
}

void for_each_variable(int device, const std::function<void(const Range &)> &visit) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  for (const Array *array : all.variables) visit(range_of(*array, variables_of(device)));
}

void for_each_array(const Unit *unit, const std::function<void(const Array &)> &visit) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  for (const std::vector<Array *> &arrays : all.by_offset) {
    for (const Array *array : arrays) {
      if (unit == nullptr || array->unit == unit) visit(*array);
    }
  }
}

const Array *array_number(std::size_t index) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  for (const std::vector<Array *> &arrays : all.by_offset) {
    if (index < arrays.size()) return arrays[index];
    index -= arrays.size();
  }
  return nullptr;
}

bool unit_fits(const Unit *unit, std::string *reason) {
  Registry &all = registry();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const std::size_t room_of_variables = variables_of(0).size();
  if (room_of_variables != 0 && !all.variables.empty()) {
    const Array *const last = all.variables.back();
    if (last->offset + room_of(*last) > room_of_variables) {
      *reason = "the variables __mlu_device__ of all loaded libraries take more than the " +
                std::to_string(room_of_variables) + " addresses that there are for them";
      return false;
    }
  }
  for (int space = 0; space < kSpaces; ++space) {
    std::size_t end = 0;
    for (const Array *array : all.by_offset[space]) {
      if (array->unit == unit) end = array->offset + room_of(*array);
    }
    const std::size_t room = nram_of(0).size();  // 0 before device memory is reserved
    if (room != 0 && end > room) {
      *reason = std::string("the ") + kSpaceNames[space] + " arrays of all loaded libraries take more than the " +
                std::to_string(room) + " addresses that the limit of the process (ulimit -v) leaves for each memory";
      return false;
    }
    const std::size_t bytes = bytes_of_file(all, unit, space);
    if (bytes <= device_bytes(space)) continue;
    *reason = too_many(space, unit, "", bytes);
    return false;
  }
  return true;
}

}  // namespace mlusim
