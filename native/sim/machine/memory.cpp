#include "machine/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "base/fork.h"
#include "machine/heap.h"
#include "machine/model.h"

namespace mlusim {

std::ptrdiff_t g_init_delta = 0;

namespace {

// The address range of one memory of one core. It exceeds the memory's size: the arrays of all
// kernels in the process have separate places in it, with gaps between them, while only the arrays
// of one file are in use at a time.
constexpr std::size_t kMemorySpan = std::size_t{256} << 20;
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGuard = kMiB;  // unused, before each piece and after the last
// The guard below each stack. It is large because some compilers do not touch each page of a large
// frame, which must not reach the next piece.
constexpr std::size_t kStackGuard = std::size_t{1} << 30;
// Where the process may have few addresses, both are halved as often as necessary, to no less than
// this.
constexpr std::size_t kLeastSpan = std::size_t{16} << 20;

// Pieces of one kind: the offset of the first, their number, their size, and the distance of their
// starts.
struct Pieces {
  std::size_t first = 0;
  int count = 0;
  std::size_t span = 0;
  std::size_t step = 0;
};

// The offsets of the pieces from the start of the reservation.
struct Layout {
  Pieces nram, wram, sram, stack, scratch, variables, heap;
  std::size_t stack_guard = 0;
  std::size_t total = 0;
};

struct Reservation {
  char *begin = nullptr;
  Layout layout;
};

Reservation g_reservation;
std::atomic<std::uint64_t> g_reservations{0};
ForkMutex g_mutex;

std::atomic<bool> g_shadow_watched{false};
std::atomic<bool> g_shadow_lags{false};  // bytes may have been written without the shadow

// Guards the protection of the heap; never held together with g_mutex.
ForkMutex g_heap_mutex;
int g_heap_users = 0;
bool g_heap_protection = false;
bool g_heap_closed = false;

// The sizes that a limit on addresses makes smaller.
struct Spans {
  std::size_t memory = kMemorySpan;  // of an on-chip memory
  std::size_t guard = kStackGuard;   // below a stack
  // The heap has the memories of all devices, and one more so that freed blocks can rest before
  // they are reused. With fewer, the devices share them.
  int memories = device_count() + 1;
};

Layout lay_out(const mlusimDeviceModel &model, const Spans &spans) {
  Layout layout;
  const int cores = model.clusters * model.cores_per_cluster;
  const int places = cores + model.clusters;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t stack = static_cast<std::size_t>(model.stack_kib) * 1024;
  std::size_t offset = 0;  // start of a guard
  const auto pieces = [&offset](int count, std::size_t bytes, std::size_t guard) {
    const Pieces made = {offset + guard, count, bytes, bytes + guard};
    offset += static_cast<std::size_t>(count) * made.step;
    return made;
  };
  layout.nram = pieces(cores, spans.memory, kGuard);
  layout.wram = pieces(cores, spans.memory, kGuard);
  layout.sram = pieces(model.clusters, spans.memory, kGuard);
  layout.stack = pieces(places, (stack + page - 1) / page * page, spans.guard);
  layout.scratch = pieces(2 * model.clusters, spans.memory, kGuard);
  layout.variables = pieces(device_count(), spans.memory, kGuard);
  layout.heap =
      pieces(1, static_cast<std::size_t>(model.memory_mib) * kMiB * static_cast<std::size_t>(spans.memories), kGuard);
  layout.stack_guard = spans.guard;
  layout.total = offset + kGuard;
  return layout;
}

// Returns the addresses that the process may still take.
std::size_t free_addresses() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  unsigned long pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

// Returns the largest layout that leaves room for the shadows of checkers and for the host.
Layout choose_layout(const mlusimDeviceModel &model) {
  const std::size_t most = free_addresses() / 3;
  Spans spans;
  if (lay_out(model, spans).total > most) spans.memories = 2;
  while (lay_out(model, spans).total > most && (spans.memory > kLeastSpan || spans.guard > kLeastSpan)) {
    if (spans.memory > kLeastSpan) spans.memory /= 2;
    if (spans.guard > kLeastSpan) spans.guard /= 2;
  }
  return lay_out(model, spans);
}

Range piece(const Pieces &pieces, int number) {
  char *begin = g_reservation.begin + pieces.first + static_cast<std::size_t>(number) * pieces.step;
  return {begin, begin + pieces.span};
}

bool open_pieces(const Pieces &pieces) {
  for (int i = 0; i < pieces.count; ++i) {
    const Range range = piece(pieces, i);
    if (mprotect(range.begin, range.size(), PROT_READ | PROT_WRITE) != 0) return false;
  }
  return true;
}

// Returns the number of the piece that holds `offset`, or -1.
int piece_number(std::size_t offset, const Pieces &pieces) {
  if (offset < pieces.first) return -1;
  const std::size_t number = (offset - pieces.first) / pieces.step;
  const bool between = (offset - pieces.first) % pieces.step >= pieces.span;
  return between || number >= static_cast<std::size_t>(pieces.count) ? -1 : static_cast<int>(number);
}

void protect_heap(int protection) {
  char *begin = nullptr;
  char *end = nullptr;
  heap_extent(&begin, &end);
  if (begin < end) mprotect(begin, static_cast<std::size_t>(end - begin), protection);
}

}  // namespace

const char *name_of(Space space) {
  switch (space) {
    case Space::kHost:
      return "host";
    case Space::kGdram:
      return "GDRAM";
    case Space::kLdram:
      return "LDRAM";
    case Space::kNram:
      return "NRAM";
    case Space::kWram:
      return "WRAM";
    case Space::kSram:
      return "SRAM";
    case Space::kCode:
      return "constants";
    case Space::kParam:
      return "arguments";
  }
  return "";
}

bool ensure_memory() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  if (g_reservation.begin != nullptr) return true;
  const Layout layout = choose_layout(device());
  void *begin = mmap(nullptr, layout.total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return false;
  g_reservation = {static_cast<char *>(begin), layout};
  if (open_pieces(layout.nram) && open_pieces(layout.wram) && open_pieces(layout.sram) && open_pieces(layout.stack) &&
      open_pieces(layout.variables)) {
    ++g_reservations;
    return true;
  }
  munmap(begin, layout.total);
  g_reservation = {};
  return false;
}

void release_memory() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  if (g_reservation.begin == nullptr) return;
  if (g_init_delta != 0) munmap(g_reservation.begin + g_init_delta, g_reservation.layout.total);
  munmap(g_reservation.begin, g_reservation.layout.total);
  g_init_delta = 0;
  g_reservation = {};
}

std::uint64_t reservation_number() { return g_reservations; }

Range nram_of(int core) { return piece(g_reservation.layout.nram, core); }
Range wram_of(int core) { return piece(g_reservation.layout.wram, core); }
Range sram_of(int cluster) { return piece(g_reservation.layout.sram, cluster); }
Range stack_of(int place) { return piece(g_reservation.layout.stack, place); }
Range guard_below(const Range &stack) { return {stack.begin - g_reservation.layout.stack_guard, stack.begin}; }
Range scratch_of(int cluster, bool wram) { return piece(g_reservation.layout.scratch, 2 * cluster + (wram ? 1 : 0)); }
Range heap_range() { return piece(g_reservation.layout.heap, 0); }
Range variables_of(int device) { return piece(g_reservation.layout.variables, device); }
Range gdram_range() { return {variables_of(0).begin, heap_range().end}; }

Range onchip_range() { return {g_reservation.begin, g_reservation.begin + g_reservation.layout.heap.first}; }

Location locate(const void *address) {
  Location location;
  const Layout &layout = g_reservation.layout;
  const char *at = static_cast<const char *>(address);
  if (at < g_reservation.begin || at >= g_reservation.begin + layout.total) return location;
  const std::size_t offset = static_cast<std::size_t>(at - g_reservation.begin);
  const struct {
    Space space;
    const Pieces &pieces;
  } kinds[] = {{Space::kGdram, layout.heap}, {Space::kNram, layout.nram}, {Space::kLdram, layout.stack},
               {Space::kSram, layout.sram},  {Space::kWram, layout.wram}, {Space::kGdram, layout.variables}};
  for (const auto &kind : kinds) {
    const int number = piece_number(offset, kind.pieces);
    if (number < 0) continue;
    location.space = kind.space;
    location.owner = number;
    location.piece = piece(kind.pieces, number);
    break;
  }
  return location;
}

bool is_among_variables(const Location &location) {
  return location.space == Space::kGdram && location.piece.begin < heap_range().begin;
}

bool open_scratch(const Range &scratch) { return mprotect(scratch.begin, scratch.size(), PROT_READ | PROT_WRITE) == 0; }

void close_scratch(const Range &scratch) {
  clear_piece(scratch);
  mprotect(scratch.begin, scratch.size(), PROT_NONE);
}

void clear_piece(const Range &range) { madvise(range.begin, range.size(), MADV_DONTNEED); }

bool ensure_init_shadow() {
  const std::lock_guard<ForkMutex> lock(g_mutex);
  if (g_init_delta != 0) return true;
  if (g_reservation.begin == nullptr) return false;
  void *shadow = mmap(nullptr, g_reservation.layout.total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shadow == MAP_FAILED) return false;
  g_init_delta = static_cast<char *>(shadow) - g_reservation.begin;
  return true;
}

void watch_shadow(bool watched) { g_shadow_watched = watched; }

bool keep_shadow() {
  if (g_init_delta == 0) return false;
  if (g_shadow_watched) return true;
  g_shadow_lags = true;
  return false;
}

void shadow_lags() { g_shadow_lags = true; }
bool catch_up_with_shadow() { return g_shadow_lags.exchange(false); }

void open_heap() {
  const std::lock_guard<ForkMutex> lock(g_heap_mutex);
  ++g_heap_users;
  if (g_heap_closed) protect_heap(PROT_READ | PROT_WRITE);
  g_heap_closed = false;
}

void close_heap() {
  const std::lock_guard<ForkMutex> lock(g_heap_mutex);
  if (--g_heap_users != 0 || !g_heap_protection) return;
  protect_heap(PROT_NONE);
  g_heap_closed = true;
}

void set_heap_protection(bool on) {
  const std::lock_guard<ForkMutex> lock(g_heap_mutex);
  g_heap_protection = on;
}

void heap_grown(char *begin, char *end) {
  const std::lock_guard<ForkMutex> lock(g_heap_mutex);
  if (!g_heap_closed) mprotect(begin, static_cast<std::size_t>(end - begin), PROT_READ | PROT_WRITE);
}

}  // namespace mlusim
