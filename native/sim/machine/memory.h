// The layout of the simulated device in this process, and the kind of memory that an address
// belongs to.
//
// One reservation holds everything: first the on-chip memories (NRAM, WRAM, SRAM) and the cores'
// stacks, each between guard pages, then the device heap. The shadows of checkers are parallel to
// it: the shadow of the byte at A is at A + init_delta().
#ifndef MLUSIM_MACHINE_MEMORY_H_
#define MLUSIM_MACHINE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace mlusim {

enum class Space : std::uint8_t {
  kHost,   // none of the following
  kGdram,  // device heap
  kLdram,  // the stack of a core
  kNram,
  kWram,
  kSram,
  kCode,   // constants and static variables of the library that holds the kernel
  kParam,  // arguments of the running launch
};

const char *name_of(Space space);

struct Range {
  char *begin = nullptr;
  char *end = nullptr;
  bool holds(const void *address) const { return address >= begin && address < end; }
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Makes the reservation at the first call; the device model must be known by then. False if the
// system refuses.
bool ensure_memory();
// Gives the reservation back, so that another device can be set. Nothing in it may be in use.
void release_memory();
// The number of reservations so far: the contents of an earlier one are lost, even if the new one
// has the same address.
std::uint64_t reservation_number();

// Pieces of the reservation. `core` counts all compute cores of the device, `place` also the memory
// cores (see core.h).
Range nram_of(int core);
Range wram_of(int core);
Range sram_of(int cluster);
Range stack_of(int place);
Range guard_below(const Range &stack);  // large, so that usual frames do not reach beyond it
// The scratch of a memory core: scalar code reaches it in place of NRAM and WRAM, which the core
// lacks. It is closed until the first touch, and locate() knows no space for it.
Range scratch_of(int cluster, bool wram);
bool open_scratch(const Range &scratch);
void close_scratch(const Range &scratch);  // it reads as zeros after the next opening
Range heap_range();
// The variables `__mlu_device__` of sources, in the GDRAM of each device; the heap follows them.
Range variables_of(int device);
Range gdram_range();   // of all devices: variables and heap
Range onchip_range();  // everything but the heap

// Fills a piece with zeros; pages that were never touched cost nothing.
void clear_piece(const Range &range);

// The kind of memory at an address and, on chip and on stacks, the piece that holds it. The space
// is kHost between pieces.
struct Location {
  Space space = Space::kHost;
  int owner = -1;  // core, cluster or place
  Range piece;
};
Location locate(const void *address);
// Whether a location in GDRAM is among the variables; its owner is then a device.
bool is_among_variables(const Location &location);

// Creates the shadow of initialised bytes: a shadow byte is 0xff for a written byte and 0 for an
// undefined one; other values mark the defined bits. init_delta() is 0 until a checker asks for the
// shadow.
bool ensure_init_shadow();

// The shadow of a number that is 0 or 1, as results of comparisons are, but not known which: the
// bits that the two have in common are defined.
constexpr std::uint32_t kFloatTruthShadow = ~std::uint32_t{0x3f800000};
constexpr std::uint16_t kHalfTruthShadow = 0xffff & ~0x3c00;
constexpr std::uint16_t kBFloat16TruthShadow = 0xffff & ~0x3f80;

// The shadow is kept only while a checker watches it. keep_shadow() tells whether to keep it; if
// not, it records that the shadow lags.
void watch_shadow(bool watched);
bool keep_shadow();
void shadow_lags();
bool catch_up_with_shadow();  // whether the shadow lagged since the last call

extern std::ptrdiff_t g_init_delta;
inline std::ptrdiff_t init_delta() { return g_init_delta; }
inline unsigned char *init_shadow(const void *address) {
  return reinterpret_cast<unsigned char *>(reinterpret_cast<std::intptr_t>(address) + g_init_delta);
}

// The heap stays open while a holder keeps it open. Without holders, and with protection on, it is
// closed: an access of the host to device memory is then a fault, which is explained on stderr.
void open_heap();
void close_heap();
void set_heap_protection(bool on);
// Tells that the heap grew by these bytes.
void heap_grown(char *begin, char *end);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_MEMORY_H_
