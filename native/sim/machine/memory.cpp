#include "machine/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "base/fork.h"
#include "machine/heap.h"
#include "machine/model.h"

namespace mlusim {

std::ptrdiff_t g_init_delta = 0;

namespace {

// Addresses that one memory of one core may use. More than the memory holds: the arrays of all kernels in the process have
// places of their own in it, with gaps between them, and no more than those of one file are in use at a time.
constexpr std::size_t kMemorySpan = std::size_t{256} << 20;
constexpr std::size_t kGuard = std::size_t{1} << 20;  // unused, before each piece and after the last
constexpr std::size_t kMiB = std::size_t{1} << 20;

// Offsets of the pieces from the start of the reservation.
struct Layout {
  int cores = 0, clusters = 0, places = 0;
  std::size_t stack_span = 0;
  std::size_t nram = 0, wram = 0, sram = 0, stack = 0, scratch = 0, heap = 0;
  std::size_t heap_bytes = 0;
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
std::atomic<bool> g_shadow_lags{false};  // bytes may have been written that the shadow does not know of

// Of the heap's protection; never held together with g_mutex.
ForkMutex g_heap_mutex;
int g_heap_users = 0;
bool g_heap_protection = false;
bool g_heap_closed = false;

Layout lay_out(const mlusimDeviceModel &model) {
  Layout layout;
  layout.clusters = model.clusters;
  layout.cores = model.clusters * model.cores_per_cluster;
  layout.places = model.clusters * (model.cores_per_cluster + 1);
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  layout.stack_span = (static_cast<std::size_t>(model.stack_kib) * 1024 + page - 1) / page * page;
  std::size_t offset = kGuard;
  auto pieces = [&offset](int count, std::size_t span) {
    const std::size_t first = offset;
    offset += static_cast<std::size_t>(count) * (span + kGuard);
    return first;
  };
  layout.nram = pieces(layout.cores, kMemorySpan);
  layout.wram = pieces(layout.cores, kMemorySpan);
  layout.sram = pieces(layout.clusters, kMemorySpan);
  layout.stack = pieces(layout.places, layout.stack_span);
  layout.scratch = pieces(2 * layout.clusters, kMemorySpan);
  // Twice the device's memory, so that freed places can rest before they are given out again.
  layout.heap_bytes = static_cast<std::size_t>(model.memory_mib) * kMiB * 2;
  layout.heap = pieces(1, layout.heap_bytes);
  layout.total = offset;
  return layout;
}

Range piece(std::size_t first, int number, std::size_t span) {
  char *begin = g_reservation.begin + first + static_cast<std::size_t>(number) * (span + kGuard);
  return {begin, begin + span};
}

bool open_pieces(std::size_t first, int count, std::size_t span) {
  for (int i = 0; i < count; ++i) {
    const Range range = piece(first, i, span);
    if (mprotect(range.begin, range.size(), PROT_READ | PROT_WRITE) != 0) return false;
  }
  return true;
}

// Number of the piece that holds `offset`, or -1.
int piece_number(std::size_t offset, std::size_t first, int count, std::size_t span) {
  if (offset < first) return -1;
  const std::size_t number = (offset - first) / (span + kGuard);
  if (number >= static_cast<std::size_t>(count) || (offset - first) % (span + kGuard) >= span) return -1;
  return static_cast<int>(number);
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
  const Layout layout = lay_out(device());
  void *begin = mmap(nullptr, layout.total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return false;
  g_reservation = {static_cast<char *>(begin), layout};
  if (open_pieces(layout.nram, layout.cores, kMemorySpan) && open_pieces(layout.wram, layout.cores, kMemorySpan) &&
      open_pieces(layout.sram, layout.clusters, kMemorySpan) &&
      open_pieces(layout.stack, layout.places, layout.stack_span)) {
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

Range nram_of(int core) { return piece(g_reservation.layout.nram, core, kMemorySpan); }
Range wram_of(int core) { return piece(g_reservation.layout.wram, core, kMemorySpan); }
Range sram_of(int cluster) { return piece(g_reservation.layout.sram, cluster, kMemorySpan); }
Range stack_of(int place) { return piece(g_reservation.layout.stack, place, g_reservation.layout.stack_span); }
Range scratch_of(int cluster, bool wram) {
  return piece(g_reservation.layout.scratch, 2 * cluster + (wram ? 1 : 0), kMemorySpan);
}
Range heap_range() { return piece(g_reservation.layout.heap, 0, g_reservation.layout.heap_bytes); }

Range onchip_range() { return {g_reservation.begin, g_reservation.begin + g_reservation.layout.heap}; }

Location locate(const void *address) {
  Location location;
  const Layout &layout = g_reservation.layout;
  const char *at = static_cast<const char *>(address);
  if (at < g_reservation.begin || at >= g_reservation.begin + layout.total) return location;
  const std::size_t offset = static_cast<std::size_t>(at - g_reservation.begin);
  const struct {
    Space space;
    std::size_t first;
    int count;
    std::size_t span;
  } kinds[] = {{Space::kGdram, layout.heap, 1, layout.heap_bytes},
               {Space::kNram, layout.nram, layout.cores, kMemorySpan},
               {Space::kLdram, layout.stack, layout.places, layout.stack_span},
               {Space::kSram, layout.sram, layout.clusters, kMemorySpan},
               {Space::kWram, layout.wram, layout.cores, kMemorySpan}};
  for (const auto &kind : kinds) {
    const int number = piece_number(offset, kind.first, kind.count, kind.span);
    if (number < 0) continue;
    location.space = kind.space;
    location.owner = number;
    location.piece = piece(kind.first, number, kind.span);
    break;
  }
  return location;
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
