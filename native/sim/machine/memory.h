// Where everything of the simulated device lies in this process, and what kind of memory an address belongs to.
//
// One reservation holds all of it: first what is on chip (NRAM, WRAM, SRAM) with the cores' stacks, each piece between pages
// that must not be touched, then the device heap. Shadows of checkers are parallel to it: the shadow of the byte at A is at
// A + init_delta().
#ifndef MLUSIM_MACHINE_MEMORY_H_
#define MLUSIM_MACHINE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace mlusim {

enum class Space : std::uint8_t {
  kHost,   // anything that is none of the following
  kGdram,  // device heap
  kLdram,  // the stack of a core
  kNram,
  kWram,
  kSram,
  kCode,   // constants and static variables of a library that kernels came from
  kParam,  // arguments of the running launch
};

const char *name_of(Space space);

struct Range {
  char *begin = nullptr;
  char *end = nullptr;
  bool holds(const void *address) const { return address >= begin && address < end; }
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Makes the reservation at the first call; the device model must be known by then. False if the system refuses.
bool ensure_memory();
// Gives the reservation back, so that another device can be set; nothing of it may be in use.
void release_memory();
// Counts reservations: what was in the pieces of another one is lost, even if it had the same addresses.
std::uint64_t reservation_number();

// Pieces of the reservation. `core` counts all compute cores of the device, `place` also the memory cores (see core.h).
Range nram_of(int core);
Range wram_of(int core);
Range sram_of(int cluster);
Range stack_of(int place);
Range guard_below(const Range &stack);  // large: no frame of a usual size reaches beyond it
// What scalar code of a memory core reaches in place of the NRAM and WRAM that it does not have. Closed until it is touched; no space of
// locate().
Range scratch_of(int cluster, bool wram);
bool open_scratch(const Range &scratch);
void close_scratch(const Range &scratch);  // it reads as zeros when it is opened again
Range heap_range();
Range onchip_range();  // everything but the heap

// Zeros throughout a piece; what was never touched costs nothing.
void clear_piece(const Range &range);

// Kind of memory at an address, and for what is on chip or a stack the piece that it belongs to. Space::kHost if between pieces.
struct Location {
  Space space = Space::kHost;
  int owner = -1;  // core, cluster or place
  Range piece;
};
Location locate(const void *address);

// Shadow of initialised bytes: 0xff where a byte was written, 0 where it was not; in between where only these bits are defined. Null delta until a checker asks for it.
bool ensure_init_shadow();

// Only while the shadow is watched does anybody keep it; keep_shadow() tells, and remembers that it lags if not.
void watch_shadow(bool watched);
bool keep_shadow();
void shadow_lags();
bool catch_up_with_shadow();  // whether it lagged since the last call

extern std::ptrdiff_t g_init_delta;
inline std::ptrdiff_t init_delta() { return g_init_delta; }
inline unsigned char *init_shadow(const void *address) {
  return reinterpret_cast<unsigned char *>(reinterpret_cast<std::intptr_t>(address) + g_init_delta);
}

// The heap is open while a holder keeps it open. Without holders, and with protection on, it is closed: the host's touch of
// device memory is a fault then, which is explained on stderr.
void open_heap();
void close_heap();
void set_heap_protection(bool on);
// The heap's owner grew it by these bytes.
void heap_grown(char *begin, char *end);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MEMORY_H_
