// Kernels from the view of the runtime: an address, with the addresses of the arguments.
//
// A launch `kernel<<<dim, type, queue>>>(a, b)` is a call of cnrtInvokeKernel, and
// __bangRegisterFunction registers each kernel, as with the vendor's compiler, so that tracing
// tools can replace these two functions. A kernel at file scope is registered under the address of
// its function when its library is loaded, so that other sources can launch it with
// cnrtInvokeKernel_V2. Any expression may stand before `<<<`, so each launch also registers a
// kernel of its own when it first happens.
#ifndef MLUSIM_LAUNCH_H_
#define MLUSIM_LAUNCH_H_

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cnrt.h"
#include "mlusim.h"
#include "mlusim/exception.h"
#include "mlusim/host_call.h"

namespace mlusim {

struct Unit;

// 0 for a translation unit for the host.
#ifdef __BANG_ARCH__
constexpr int kUnitArch = __BANG_ARCH__;
#else
constexpr int kUnitArch = 0;
#endif

// The way to call a kernel.
struct KernelCalls {
  int count;                 // number of arguments
  const std::size_t *sizes;  // size of each argument
  // For each argument, the size of what it points to: 1 for void, 0 for what is no pointer.
  const std::size_t *targets;
  std::size_t bytes;  // size of the result of copy()
  // Copies the arguments at these addresses; null if they cannot be copied.
  void *(*copy)(void *const *arguments);
  void (*invoke)(const void *copied);
  void (*destroy)(void *copied);
};

// A kernel that can be launched by its address; it exists as long as its library is loaded.
struct MLUSIM_API Kernel {
  // A kernel without an address gets the address of this object.
  inline Kernel(const void *address, const char *name, const Unit *unit, int arch, const KernelCalls &calls);
  ~Kernel();
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  const void *address;
  const char *name;
  const Unit *unit;  // the file of the kernel
  int arch;          // the architecture it was compiled for
  KernelCalls calls;
};

// The parameters of a kernel or of a template for kernels, as the source writes them; findings take
// the names of arguments from them. It exists as long as its library is loaded.
struct MLUSIM_API Parameters {
  Parameters(const Unit *unit, const char *kernel, const char *text);
  ~Parameters();
  Parameters(const Parameters &) = delete;
  Parameters &operator=(const Parameters &) = delete;

  const Unit *unit;
  const char *kernel;  // with its namespaces
  const char *text;    // with the parentheses
};

}  // namespace mlusim

extern "C" {
// Tells that a launch was refused.
MLUSIM_API void mlusim_tellRefusal(const char *kernel);

// A source of this library has kernels for an architecture.
MLUSIM_API void mlusim_addArch(const void *library, int arch);
MLUSIM_API void mlusim_removeArch(const void *library, int arch);

// Registers a kernel that `*module`, a ::mlusim::Kernel, describes. Launches name it by
// `host_function`. The other parameters are not used.
MLUSIM_API void __bangRegisterFunction(void **module, const char *host_function, char *device_function,
                                       const char *device_name, int union_limit, cnrtDim3_t *task_id,
                                       cnrtDim3_t *task_dim, int *w_size);
}

namespace mlusim {

#ifdef __BANG_ARCH__
extern "C" void *__dso_handle __attribute__((visibility("hidden")));

// Each source tells for which architecture its library has kernels.
__attribute__((constructor)) static void add_arch() { mlusim_addArch(&__dso_handle, __BANG_ARCH__); }
__attribute__((destructor)) static void remove_arch() { mlusim_removeArch(&__dso_handle, __BANG_ARCH__); }
#endif

inline Kernel::Kernel(const void *address_of_kernel, const char *name_of_kernel, const Unit *unit_of_kernel,
                      int arch_of_kernel, const KernelCalls &calls_of_kernel)
    : address(address_of_kernel != nullptr ? address_of_kernel : this),
      name(name_of_kernel),
      unit(unit_of_kernel),
      arch(arch_of_kernel),
      calls(calls_of_kernel) {
  void *module = this;
  __bangRegisterFunction(&module, static_cast<const char *>(address), const_cast<char *>(name), name, 0, nullptr,
                         nullptr, nullptr);
}

// The size of what a pointer points to, as KernelCalls has it.
template <typename T>
constexpr std::size_t target_size() {
  if constexpr (!std::is_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>>) {
    return 0;
  } else if constexpr (std::is_void_v<std::remove_pointer_t<T>>) {
    return 1;
  } else {
    return sizeof(std::remove_pointer_t<T>);
  }
}

// The calls of a kernel whose arguments are copies of these types; the first one may be the
// function object to call.
template <typename... Values>
struct Copies {
  using All = std::tuple<Values...>;

  static void *copy(void *const *arguments) { return copy_each(arguments, std::index_sequence_for<Values...>()); }
  template <std::size_t... index>
  static void *copy_each([[maybe_unused]] void *const *arguments, std::index_sequence<index...>) {
    return new All(*static_cast<const Values *>(arguments[index])...);
  }
  static void destroy(void *copied) { delete static_cast<All *>(copied); }

  static constexpr std::size_t sizes[] = {sizeof(Values)..., 0};
  static constexpr std::size_t targets[] = {target_size<Values>()..., 0};
  static constexpr KernelCalls calls(void (*invoke)(const void *)) {
    return {static_cast<int>(sizeof...(Values)), sizes, targets, sizeof(All), copy, invoke, destroy};
  }
};

// A launch in a source. An error is kept for cnrtGetLastError().
template <typename Call, typename... Values>
void mlusim_launch(const char *name, const Unit *unit, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue,
                   Call call, Values... values) {
  using All = Copies<Call, Values...>;
  static const Kernel kernel(nullptr, name, unit, kUnitArch, All::calls([](const void *copied) {
                               const auto call = [](const Call &function, const Values &...each) { function(each...); };
                               call_kernel([&] { std::apply(call, *static_cast<const typename All::All *>(copied)); });
                             }));
  void *arguments[] = {const_cast<void *>(static_cast<const volatile void *>(&call)),
                       const_cast<void *>(static_cast<const volatile void *>(&values))...};
  [[maybe_unused]] const cnrtRet_t error = cnrtInvokeKernel(kernel.address, dim, type, arguments, 0, queue);
#ifndef MLUSIM_LAUNCHES_ARE_CHECKED
  if (error != cnrtSuccess) mlusim_tellRefusal(name);
#endif
}

// A launch whose arguments stand behind the macro that it stands in: `LAUNCH(kernel)(a, b)`.
template <typename Call>
struct Launcher {
  const char *name;
  const Unit *unit;
  cnrtDim3_t dim;
  cnrtFunctionType_t type;
  cnrtQueue_t queue;
  Call call;

  template <typename... Values>
  void operator()(Values... values) const {
    mlusim_launch(name, unit, dim, type, queue, call, values...);
  }
};
template <typename Call>
Launcher<Call> mlusim_launcher(const char *name, const Unit *unit, cnrtDim3_t dim, cnrtFunctionType_t type,
                               cnrtQueue_t queue, Call call) {
  return {name, unit, dim, type, queue, call};
}

// Whether an argument can be copied: not if the kernel writes to a reference.
template <typename T>
constexpr bool is_copied() {
  using Value = std::remove_reference_t<T>;
  if constexpr (std::is_reference_v<T>) {
    return std::is_lvalue_reference_v<T> && std::is_const_v<Value> && !std::is_array_v<Value>;
  } else {
    return std::is_copy_constructible_v<Value>;
  }
}

// The calls of the kernel that `Tag::mlusim_function()` returns.
template <typename Tag, typename... Types>
constexpr KernelCalls mlusim_calls_of(void (*)(Types...)) {
  if constexpr (!(is_copied<Types>() && ...)) {
    return {static_cast<int>(sizeof...(Types)), nullptr, nullptr, 0, nullptr, nullptr, nullptr};
  } else {
    using All = Copies<std::decay_t<Types>...>;
    return All::calls([](const void *copied) {
      const auto call = [](const std::decay_t<Types> &...each) { Tag::mlusim_function()(each...); };
      call_kernel([&] { std::apply(call, *static_cast<const typename All::All *>(copied)); });
    });
  }
}

}  // namespace mlusim

// ---- Functions of the host in queues ------------------------------------------------------------

namespace mlusim {

// Calls a host function. Returns 0, or 1 with the text of the exception that left it.
using HostCaller = int (*)(cnrtHostFn_t function, void *arguments, char *text, std::size_t size);

inline int call_host_function(cnrtHostFn_t function, void *arguments, char *text, std::size_t size) {
  const WithinHostCall within("of a queue");
  Thrown thrown;
  if (call_and_catch([=] { function(arguments); }, &thrown)) return 0;
  mlusim_exception_text(thrown.type, thrown.text(), text, size);
  return 1;
}

}  // namespace mlusim

extern "C" MLUSIM_API cnrtRet_t mlusim_invoke_host_function(::mlusim::HostCaller call, cnrtQueue_t queue,
                                                            cnrtHostFn_t function, void *arguments);

// With a C++ runtime other than libmlusim's, exceptions are caught on this side.
#ifndef __GLIBCXX__
#define cnrtInvokeHostFunc(...) mlusim_invoke_host_function(::mlusim::call_host_function, __VA_ARGS__)
#endif

// ---- Macros in sources --------------------------------------------------------------------------

namespace mlusim {

// Names that no macro of a source has; see mlusim_source.h.
using mlusim_kernel_t = Kernel;
using mlusim_parameters_t = Parameters;
constexpr int mlusim_unit_arch = kUnitArch;

}  // namespace mlusim

// Behind the definition of a kernel that is no template:
//   MLUSIM_KERNEL("space::", add, (const float *x, int n));
#define MLUSIM_KERNEL(space, name, ...) MLUSIM_KERNEL_COUNTED(__COUNTER__, space, name, __VA_ARGS__)
#define MLUSIM_KERNEL_COUNTED(number, space, name, ...) MLUSIM_KERNEL_NUMBERED(number, space, name, __VA_ARGS__)
#define MLUSIM_KERNEL_NUMBERED(number, space, name, ...)                                                             \
  namespace {                                                                                                        \
  struct mlusim_kernel_tag_##number {                                                                                \
    static constexpr auto mlusim_function() { return static_cast<void(*) __VA_ARGS__>(&name); }                      \
  };                                                                                                                 \
  const ::mlusim::mlusim_kernel_t mlusim_kernel_##number(                                                            \
      reinterpret_cast<const void *>(mlusim_kernel_tag_##number::mlusim_function()), space #name,                    \
      &::mlusim::mlusim_unit, ::mlusim::mlusim_unit_arch,                                                            \
      ::mlusim::mlusim_calls_of<mlusim_kernel_tag_##number>(mlusim_kernel_tag_##number::mlusim_function()));         \
  const ::mlusim::mlusim_parameters_t mlusim_parameters_##number(&::mlusim::mlusim_unit, space #name, #__VA_ARGS__); \
  }                                                                                                                  \
  static_assert(true, "a semicolon follows")

// Behind the definition of a template for kernels:
//   MLUSIM_TEMPLATE("space::", add, (const T *x, int n));
#define MLUSIM_TEMPLATE(space, name, ...) MLUSIM_TEMPLATE_COUNTED(__COUNTER__, space, name, __VA_ARGS__)
#define MLUSIM_TEMPLATE_COUNTED(number, space, name, ...) MLUSIM_TEMPLATE_NUMBERED(number, space, name, __VA_ARGS__)
#define MLUSIM_TEMPLATE_NUMBERED(number, space, name, ...)                                                           \
  namespace {                                                                                                        \
  const ::mlusim::mlusim_parameters_t mlusim_parameters_##number(&::mlusim::mlusim_unit, space #name, #__VA_ARGS__); \
  }                                                                                                                  \
  static_assert(true, "a semicolon follows")

#endif  // MLUSIM_LAUNCH_H_
