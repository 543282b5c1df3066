// The support of translated BANG C sources. The translator replaces constructs that host compilers
// reject by these forms:
//
//   kernel<T><<<dim, type, queue>>>(a, b);
//       ::mlusim::mlusim_launch("kernel<T>", &::mlusim::mlusim_unit, (dim), (type), (queue),
//                        [=](const auto &...mlusim_each) { kernel<T>(mlusim_each...); }, a, b);
//   __nram__ float buffer[N];             at file scope, static or not
//       MLUSIM_ARRAY(mlusim_nram, "space.", buffer, float[N]);
//   extern __nram__ float buffer[N];      of the same translation unit
//       MLUSIM_EXTERN_ARRAY("space.", buffer, float[N]);
//   __nram__ float buffer[N];             in a function
//       MLUSIM_LOCAL_ARRAY(mlusim_nram, buffer, float[N]);
//   __nram__ float buffer[N];             at file scope, in the body of a macro, whose namespace is not known
//       MLUSIM_NUMBERED_ARRAY(mlusim_nram, buffer, float[N]);
//   __nram__ float buffer[2] = {1, 2};    anywhere
//       static constexpr float mlusim_initial_buffer[2] = {1, 2};
//       MLUSIM_..._ARRAY_INIT(..., buffer, ::mlusim::mlusim_remove_const<decltype(mlusim_initial_buffer)>);
//   __mlu_const__ float table[2] = {1, 2};
//       static float mlusim_initial_table[2] = {1, 2};
//       MLUSIM_..._ARRAY_INIT(mlusim_constant, ..., table,
//                             ::mlusim::mlusim_remove_const<decltype(mlusim_initial_table)>);
//   __mlu_device__ int count;             at file scope; with an initialiser as above
//       MLUSIM_ARRAY(mlusim_gdram, "space.", count, int);
//   __asm__ volatile("sync;");
//       ::mlusim::asm_sync();
//   decltype(buffer) *p;
//       ::mlusim::mlusim_fixed<decltype(buffer)> *p;
//   // mlusim: allow(race)
//       MLUSIM_ALLOWANCE("file.mlu", 7, "race")   at the end of the source, with the line that it applies to
//
// An array becomes a reference, so that sizeof and deduction work as in the source; `float[N]` may
// be any type. At file scope the reference goes through a pointer variable, which the machine sets
// when it switches to another core; code never sees it change, because each core runs on its own
// stack. "space." is the namespace, with a dot behind each level.
#ifndef MLUSIM_SOURCE_H_
#define MLUSIM_SOURCE_H_

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cnrt.h"
#include "mlusim.h"

// ---- Builtin variables --------------------------------------------------------------------------

extern MLUSIM_API const int taskId __asm__("mlusim_taskId");
extern MLUSIM_API const int taskIdX __asm__("mlusim_taskIdX");
extern MLUSIM_API const int taskIdY __asm__("mlusim_taskIdY");
extern MLUSIM_API const int taskIdZ __asm__("mlusim_taskIdZ");
extern MLUSIM_API const int taskDim __asm__("mlusim_taskDim");
extern MLUSIM_API const int taskDimX __asm__("mlusim_taskDimX");
extern MLUSIM_API const int taskDimY __asm__("mlusim_taskDimY");
extern MLUSIM_API const int taskDimZ __asm__("mlusim_taskDimZ");
extern MLUSIM_API const int coreId __asm__("mlusim_coreId");
extern MLUSIM_API const int coreDim __asm__("mlusim_coreDim");
extern MLUSIM_API const int clusterId __asm__("mlusim_clusterId");
extern MLUSIM_API const int clusterDim __asm__("mlusim_clusterDim");

namespace mlusim {

// ---- Arrays in the memories of a core -----------------------------------------------------------

enum class ArraySpace : int {
  nram,
  wram,
  sram,
  constant,  // not on chip: one for all cores
  device     // in GDRAM: one for each device
};

// A source file with such arrays, which must fit into the memories together.
struct Unit {
  const char *file;
};

constexpr std::size_t kArrayAlignment = 128;

// The array of one declaration; it exists as long as its library is loaded.
struct MLUSIM_API Array {
  Array(ArraySpace space, const Unit *unit, const char *name, std::size_t bytes, void **storage, const void *initial,
        std::size_t element = 1);
  ~Array();
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  // Returns the array of the running core. A launch that has no room for it ends on the line of the
  // call.
  void *mlusim_here() const;

  ArraySpace space;
  const Unit *unit;
  const char *name;
  std::size_t bytes;
  std::size_t element;  // bytes of one
  void **storage;       // set at every switch of cores; null for arrays of functions
  const void *initial;  // `bytes` initial bytes for each task; null: none
  std::size_t offset;   // from the start of the memory; of a constant: its address
  // By core, the run that has the initial bytes; of variables of a device, by device its memory.
  mutable unsigned long long *initialised;
};

// A comment `// mlusim: allow(race/between-cores, init)`: findings of these rules and checkers in
// its line are not reported. It exists as long as its library is loaded.
struct MLUSIM_API Allowance {
  Allowance(const char *file, int line, const char *rules);
  ~Allowance();
  Allowance(const Allowance &) = delete;
  Allowance &operator=(const Allowance &) = delete;

  const char *file;
  int line;
  const char *rules;  // separated by commas
};

namespace {
// One for each translation unit.
const Unit mlusim_unit = {__BASE_FILE__};
}  // namespace

// The type of an array of constant size; other types are an error. `decltype` of another array is a
// reference here.
template <typename Type>
using mlusim_fixed = std::remove_reference_t<Type>;

// An array of a function is created when its library is loaded, not when the function first runs: a
// launch knows all arrays before it starts, and no kernel has to test whether an array exists.
template <const Unit *where, typename Declaration>
struct mlusim_local_array {
  static const Array mlusim_array;
};
template <const Unit *where, typename Declaration>
const Array mlusim_local_array<where, Declaration>::mlusim_array(Declaration::mlusim_space(), where,
                                                                 Declaration::mlusim_text(),
                                                                 Declaration::mlusim_bytes(), nullptr,
                                                                 Declaration::mlusim_initial(),
                                                                 Declaration::mlusim_element());

// Whatever stands in a macro below is read when the source uses it, behind the macros of that
// source: all names there are reserved.
using mlusim_array_t = Array;
using mlusim_array_space_t = ArraySpace;
constexpr ArraySpace mlusim_nram = ArraySpace::nram;
constexpr ArraySpace mlusim_wram = ArraySpace::wram;
constexpr ArraySpace mlusim_sram = ArraySpace::sram;
constexpr ArraySpace mlusim_constant = ArraySpace::constant;
constexpr ArraySpace mlusim_gdram = ArraySpace::device;
constexpr std::size_t mlusim_widest_alignment = kArrayAlignment;
using mlusim_size_t = std::size_t;
using mlusim_allowance_t = Allowance;
template <typename Type>
using mlusim_remove_const = std::remove_const_t<Type>;
template <typename Type>
using mlusim_element_of = std::remove_all_extents_t<Type>;

// Clang does not find the definition of an extern variable in an unnamed namespace, because it does
// not read the assembly.
#ifdef __clang__
#define MLUSIM_DEFINED_ELSEWHERE(...)                                                           \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wundefined-internal\"") \
      __VA_ARGS__ _Pragma("clang diagnostic pop")
#else
#define MLUSIM_DEFINED_ELSEWHERE(...) __VA_ARGS__
#endif

// The pointer is defined in assembly, so the compiler does not know that the variable
// `mlusim_storage` and the reference are the same. The symbol is local: each translation unit has
// its own arrays, as it has its own kernels.
#define MLUSIM_FILE_ARRAY(memory, name, symbol, start)                                                                 \
  __asm__(".pushsection .bss\n\t.balign 8\n" symbol ":\n\t.zero 8\n\t.popsection");                                    \
  MLUSIM_DEFINED_ELSEWHERE(extern mlusim_type_##name &name __asm__(symbol) __attribute__((__visibility__("hidden")));  \
                           extern void *mlusim_storage_##name __asm__(symbol)                                          \
                               __attribute__((__visibility__("hidden")));)                                             \
  static const ::mlusim::mlusim_array_t mlusim_array_##name(::mlusim::memory, &::mlusim::mlusim_unit, #name,           \
                                                            sizeof(mlusim_type_##name), &mlusim_storage_##name, start, \
                                                            sizeof(::mlusim::mlusim_element_of<mlusim_type_##name>))
#define MLUSIM_ARRAY(memory, path, name, ...)                     \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_FILE_ARRAY(memory, name, "mlusim_array." path #name, nullptr)
#define MLUSIM_ARRAY_INIT(memory, path, name, ...)                \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_FILE_ARRAY(memory, name, "mlusim_array." path #name, &mlusim_initial_##name)
#define MLUSIM_EXTERN_ARRAY(path, name, ...)                      \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  extern mlusim_type_##name &name __asm__("mlusim_array." path #name) __attribute__((__visibility__("hidden")))

#define MLUSIM_WITH_NUMBER(memory, name, number, start) MLUSIM_FILE_ARRAY(memory, name, "mlusim_array." #number, start)
#define MLUSIM_COUNTED(memory, name, number, start) MLUSIM_WITH_NUMBER(memory, name, number, start)
#define MLUSIM_NUMBERED_ARRAY(memory, name, ...)                  \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_COUNTED(memory, name, __COUNTER__, nullptr)
#define MLUSIM_NUMBERED_ARRAY_INIT(memory, name, ...)             \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_COUNTED(memory, name, __COUNTER__, &mlusim_initial_##name)

#define MLUSIM_FUNCTION_ARRAY(memory, name, start)                                       \
  struct mlusim_declaration_##name {                                                     \
    static ::mlusim::mlusim_array_space_t mlusim_space() { return ::mlusim::memory; }    \
    static const char *mlusim_text() { return #name; }                                   \
    static ::mlusim::mlusim_size_t mlusim_bytes() { return sizeof(mlusim_type_##name); } \
    static const void *mlusim_initial() { return start; }                                \
    static ::mlusim::mlusim_size_t mlusim_element() {                                    \
      return sizeof(::mlusim::mlusim_element_of<mlusim_type_##name>);                    \
    }                                                                                    \
  };                                                                                     \
  mlusim_type_##name &name = *static_cast<mlusim_type_##name *>(                         \
      ::mlusim::mlusim_local_array<&::mlusim::mlusim_unit, mlusim_declaration_##name>::mlusim_array.mlusim_here())
#define MLUSIM_LOCAL_ARRAY(memory, name, ...)                     \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_FUNCTION_ARRAY(memory, name, nullptr)
#define MLUSIM_LOCAL_ARRAY_INIT(memory, name, ...)                \
  using mlusim_type_##name = ::mlusim::mlusim_fixed<__VA_ARGS__>; \
  MLUSIM_FUNCTION_ARRAY(memory, name, &mlusim_initial_##name)

// An alignment from the source, as `alignas`.
#define MLUSIM_ALIGNED(name, ...)                                                            \
  struct __VA_ARGS__ mlusim_alignment_##name {};                                             \
  static_assert(alignof(mlusim_alignment_##name) <= ::mlusim::mlusim_widest_alignment, #name \
                " asks for too wide an "                                                     \
                "alignment")

#define MLUSIM_ALLOWANCE_NAMED(name, ...) static const ::mlusim::mlusim_allowance_t name(__VA_ARGS__);
#define MLUSIM_ALLOWANCE_NUMBERED(number, ...) MLUSIM_ALLOWANCE_NAMED(mlusim_allowance_##number, __VA_ARGS__)
#define MLUSIM_ALLOWANCE_COUNTED(number, ...) MLUSIM_ALLOWANCE_NUMBERED(number, __VA_ARGS__)
#define MLUSIM_ALLOWANCE(file, line, rules) MLUSIM_ALLOWANCE_COUNTED(__COUNTER__, file, line, rules)

// The name of a kernel for which macros stand, or in the body of one: they are not replaced inside
// a string.
#define MLUSIM_SPELLED(...) #__VA_ARGS__
#define MLUSIM_TEXT(...) MLUSIM_SPELLED(__VA_ARGS__)

}  // namespace mlusim

#include "mlusim/launch.h"

#endif  // MLUSIM_SOURCE_H_
