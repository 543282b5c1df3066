// Describes the kernels and functions of a library that pymluops.bang compiled, so that Python can
// call them.
//
// Behind each definition at file scope stands a macro of this header:
//
//   MLUOPS_MODULE_KERNEL(7, "space::", add, (const float *x, int n));
//   MLUOPS_MODULE_FUNCTION(19, "", run, (void *x, int n));
//   MLUOPS_MODULE_TEMPLATE(31, "space::", scale, "template <typename T>", (T *x, int n));
//
// and at the end of the source, for a template that is asked for:
//
//   MLUOPS_MODULE_INSTANCE("space::scale<float>", (T *x, int n), (::space::scale<float>));
//
// The number is that of the line. The text of the parameters gives their names; the compiler gives
// their types.
#ifndef MLUOPS_MODULE_H_
#define MLUOPS_MODULE_H_

#include <elf.h>

#define MLUSIM_LAUNCHES_ARE_CHECKED  // by Python, behind each call
#include "bang.h"
#include "mlusim/exception.h"
#include "mlusim/host_call.h"

namespace mluops_module {

enum Kind : int {
  kOther,  // a structure: its bytes
  kVoid,
  kBool,
  kSigned,
  kUnsigned,
  kFloat,  // of IEEE 754
  kBfloat16
};

// A type; for pointers, the fields describe the target of the pointer. pymluops/bang/_registry.py
// reads these structures.
struct Type {
  int kind;
  int pointers;   // 0: a value, 1: a pointer, more: a pointer to pointers
  int is_const;   // the value, or the pointer's target, cannot be written
  int is_char;    // char, which is neither signed char nor unsigned char
  int copyable;   // as bytes
  unsigned size;  // of the value, or of the pointer's target; 0 if it has none
};

enum Definition : int {
  kKernel,
  kFunction,
  kTemplate
};

struct Entry {
  int definition;
  int count;  // of parameters
  const char *name;
  const char *head;        // of a template: the text before it
  const char *parameters;  // as written, with the parentheses
  const char *file;
  int line;
  const Type *types;  // of the parameters, then of the result
  // Launches the kernel and returns the CNRT error; or calls the function and writes its result: 0,
  // or 1 with the text of the exception that left it. Each value is at its address. Null if values
  // for it cannot be made.
  int (*launch)(const cnrtDim3_t *dim, int type, cnrtQueue_t queue, void *const *values);
  int (*call)(void *const *values, void *result, char *text, unsigned size);
  Entry *next;
};

// Local to this library: no other one sees the variables.
struct __attribute__((visibility("hidden"))) Entries {
  static inline Entry *first = nullptr;
  static inline Entry *last = nullptr;
};

inline bool mluops_module_add(Entry *entry) {
  (Entries::last == nullptr ? Entries::first : Entries::last->next) = entry;
  Entries::last = entry;
  return true;
}

// ---- Types --------------------------------------------------------------------------------------

// 0 for void, functions and incomplete types.
template <typename T, typename = void>
struct Size {
  static constexpr unsigned value = 0;
};
template <typename T>
struct Size<T, std::void_t<decltype(sizeof(T))>> {
  static constexpr unsigned value = std::is_function_v<T> || std::is_void_v<T> ? 0 : sizeof(T);
};

template <typename T>
constexpr bool is_copyable() {
  if constexpr (Size<T>::value == 0) {
    return false;
  } else {
    return std::is_trivially_copyable_v<T>;
  }
}

template <typename T>
constexpr int kind_of() {
  if constexpr (std::is_void_v<T>) {
    return kVoid;
  } else if constexpr (std::is_same_v<T, bool>) {
    return kBool;
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return kBfloat16;
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return kFloat;
  } else if constexpr (Size<T>::value != 0 && std::is_enum_v<T>) {
    return kind_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? kSigned : kUnsigned;
  } else {
    return kOther;
  }
}

template <typename T>
constexpr Type value_type(int pointers) {
  using Value = std::remove_cv_t<T>;
  return {kind_of<Value>(),     pointers,          std::is_const_v<T>, std::is_same_v<Value, char>,
          is_copyable<Value>(), Size<Value>::value};
}

template <typename T>
constexpr Type type_of() {
  using Value = std::remove_cv_t<T>;
  if constexpr (!std::is_pointer_v<Value>) {
    return value_type<Value>(0);
  } else if constexpr (std::is_pointer_v<std::remove_pointer_t<Value>>) {
    return {kUnsigned, 2, std::is_const_v<std::remove_pointer_t<Value>>, 0, 1, sizeof(void *)};
  } else {
    return value_type<std::remove_pointer_t<Value>>(1);
  }
}

// Of the parameters, then of the result.
template <typename Result, typename... Parameters>
struct Types {
  static constexpr Type all[] = {type_of<std::decay_t<Parameters>>()..., type_of<std::decay_t<Result>>()};
};

// ---- Calls --------------------------------------------------------------------------------------

template <typename T>
const std::decay_t<T> &value_at(void *const *values, std::size_t index) {
  return *static_cast<const std::decay_t<T> *>(values[index]);
}

inline int launch(const void *kernel, const cnrtDim3_t &dim, int type, cnrtQueue_t queue, void *const *values) {
  cnrtGetLastError();  // not to be taken for an error of this launch
  const auto job = static_cast<cnrtFunctionType_t>(type);
  return static_cast<int>(cnrtInvokeKernel(kernel, dim, job, const_cast<void **>(values), 0, queue));
}

template <typename Result, typename... Parameters, std::size_t... index>
void call(Result (*function)(Parameters...), std::index_sequence<index...>, void *const *values, void *result) {
  if constexpr (is_copyable<std::decay_t<Result>>()) {
    *static_cast<std::decay_t<Result> *>(result) = function(value_at<Parameters>(values, index)...);
  } else {
    function(value_at<Parameters>(values, index)...);
  }
}

// Calls a function of the host: returns 0, or 1 with the text of the exception that left it.
template <typename Call>
int call_on_host(const char *name, const Call &call, char *text, unsigned size) {
  const ::mlusim::WithinHostCall within(name);
  ::mlusim::Thrown thrown;
  if (::mlusim::call_and_catch(call, &thrown)) return 0;
  mlusim_exception_text(thrown.type, thrown.text(), text, size);
  return 1;
}

// Fills the entry of the definition for which `Tag` stands.
template <typename Tag, typename Result, typename... Parameters>
void mluops_module_describe(Entry *entry, Result (*function)(Parameters...)) {
  using Indices [[maybe_unused]] = std::index_sequence_for<Parameters...>;
  entry->count = static_cast<int>(sizeof...(Parameters));
  entry->types = Types<Result, Parameters...>::all;
  if constexpr (!(::mlusim::is_copied<Parameters>() && ...)) {
    return;
  } else if constexpr (Tag::mluops_module_definition == kKernel) {
    static const ::mlusim::Kernel kernel(reinterpret_cast<const void *>(function), entry->name, &::mlusim::mlusim_unit,
                                         ::mlusim::kUnitArch, ::mlusim::mlusim_calls_of<Tag>(function));
    entry->launch = [](const cnrtDim3_t *dim, int type, cnrtQueue_t queue, void *const *values) {
      return launch(kernel.address, *dim, type, queue, values);
    };
  } else {
    static const char *const name = entry->name;
    static Result (*const known)(Parameters...) = function;
    entry->call = [](void *const *values, void *result, char *text, unsigned size) {
      return call_on_host(name, [&] { call(known, Indices(), values, result); }, text, size);
    };
  }
}

// Selects among functions of one name by the types of the parameters.
template <typename Tag, typename Signature>
struct mluops_module_chosen;
template <typename Tag, typename... Parameters>
struct mluops_module_chosen<Tag, void(Parameters...)> {
  template <typename Result>
  static void mluops_module_describe(Entry *entry, Result (*function)(Parameters...)) {
    ::mluops_module::mluops_module_describe<Tag>(entry, function);
  }
};

}  // namespace mluops_module

// ---- Macros in sources --------------------------------------------------------------------------

namespace mluops_module {

// Names that no macro of a source has: what stands in a macro is read behind those of the source.
using mluops_module_entry_t = Entry;
constexpr Definition mluops_module_kernel = kKernel;
constexpr Definition mluops_module_function = kFunction;
constexpr Definition mluops_module_template = kTemplate;

}  // namespace mluops_module

#define MLUOPS_MODULE_PASTE(a, b) a##b
#define MLUOPS_MODULE_NAME(a, b) MLUOPS_MODULE_PASTE(a, b)

// `members` are further ones of the tag.
#define MLUOPS_MODULE_ENTRY(number, kind, line, name, head, parameters, members, ...)                              \
  namespace {                                                                                                      \
  struct MLUOPS_MODULE_NAME(mluops_module_tag_, number) {                                                          \
    static constexpr int mluops_module_definition = kind;                                                          \
    members                                                                                                        \
  };                                                                                                               \
  [[__maybe_unused__]] const bool MLUOPS_MODULE_NAME(mluops_module_added_, number) = [] {                          \
    using mluops_module_tag [[__maybe_unused__]] = MLUOPS_MODULE_NAME(mluops_module_tag_, number);                 \
    static ::mluops_module::mluops_module_entry_t mluops_module_entry = {                                          \
        kind, 0, name, head, parameters, __FILE__, line, nullptr, nullptr, nullptr, nullptr};                      \
    static const ::mlusim::mlusim_parameters_t mluops_module_parameters(&::mlusim::mlusim_unit, name, parameters); \
    __VA_ARGS__;                                                                                                   \
    return ::mluops_module::mluops_module_add(&mluops_module_entry);                                               \
  }();                                                                                                             \
  }                                                                                                                \
  static_assert(true, "a semicolon follows")

// An object file shows by it which function the kernel is; see pymluops/bang/_host_calls.py.
#define MLUOPS_MODULE_CALLED(...) \
  static constexpr auto mlusim_function() { return __VA_ARGS__; }

#define MLUOPS_MODULE_KERNEL_ENTRY(line, name, parameters, ...)                                       \
  MLUOPS_MODULE_ENTRY(__COUNTER__, ::mluops_module::mluops_module_kernel, line, name, "", parameters, \
                      MLUOPS_MODULE_CALLED(__VA_ARGS__),                                              \
                      (::mluops_module::mluops_module_describe<mluops_module_tag>(                    \
                          &mluops_module_entry, mluops_module_tag::mlusim_function())))
// Selects the kernel among templates of the name too: kernels return nothing.
#define MLUOPS_MODULE_KERNEL(line, space, name, ...) \
  MLUOPS_MODULE_KERNEL_ENTRY(line, space #name, #__VA_ARGS__, static_cast<void(*) __VA_ARGS__>(&name))
#define MLUOPS_MODULE_FUNCTION(line, space, name, ...)                                                     \
  MLUOPS_MODULE_ENTRY(                                                                                     \
      __COUNTER__, ::mluops_module::mluops_module_function, line, space #name, "", #__VA_ARGS__, ,         \
      (::mluops_module::mluops_module_chosen<mluops_module_tag, void __VA_ARGS__>::mluops_module_describe( \
          &mluops_module_entry, &name)))
// The same where a macro makes the name.
#define MLUOPS_MODULE_MADE_KERNEL(line, space, name, ...) MLUOPS_MODULE_KERNEL(line, space, name, __VA_ARGS__)
#define MLUOPS_MODULE_MADE_FUNCTION(line, space, name, ...) MLUOPS_MODULE_FUNCTION(line, space, name, __VA_ARGS__)
#define MLUOPS_MODULE_TEMPLATE(line, space, name, head, ...)                                                         \
  MLUOPS_MODULE_ENTRY(__COUNTER__, ::mluops_module::mluops_module_template, line, space #name, head, #__VA_ARGS__, , \
                      (void)0)
#define MLUOPS_MODULE_INSTANCE(name, parameters, ...) \
  MLUOPS_MODULE_KERNEL_ENTRY(__LINE__, name, parameters, &__VA_ARGS__)

// ---- The start of a library ---------------------------------------------------------------------
//
// Constructors of global objects may throw, and no exception may go through the system's loader. So
// the loader does not find them: the entries of the dynamic section that name them have other tags,
// which pymluops/bang/_constructors.py gives them.

extern "C" __attribute__((visibility("hidden"))) Elf64_Dyn _DYNAMIC[];
extern "C" __attribute__((visibility("hidden"))) const Elf64_Ehdr __ehdr_start;

namespace mluops_module {

constexpr Elf64_Sxword kConstructors = 0x6d6c6f19;      // DT_INIT_ARRAY is 0x19
constexpr Elf64_Sxword kConstructorBytes = 0x6d6c6f1b;  // DT_INIT_ARRAYSZ is 0x1b

inline Elf64_Xword value_of(Elf64_Sxword tag) {
  for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) return entry->d_un.d_val;
  }
  return 0;
}

inline void construct_all() {
  using Constructor = void (*)(int, char **, char **);
  const char *const base = reinterpret_cast<const char *>(&__ehdr_start);
  const auto *const all = reinterpret_cast<const Constructor *>(base + value_of(kConstructors));
  for (Elf64_Xword i = 0; i < value_of(kConstructorBytes) / sizeof *all; ++i) all[i](0, nullptr, nullptr);
}

struct Start {
  int failed;
  char text[1024];
};

}  // namespace mluops_module

// Constructs the global objects of a library once. Returns 0, or 1 with the text of the exception
// that ended it. Every source of a library has this function, and the linker keeps one.
extern "C" __attribute__((visibility("default"), weak)) int mluops_module_start(const char **text) {
  static const mluops_module::Start *const start = [] {
    static mluops_module::Start made;
    made.failed = mluops_module::call_on_host("(constructors of global objects)", mluops_module::construct_all,
                                              made.text, sizeof made.text);
    return &made;
  }();
  *text = start->text;
  return start->failed;
}

// The entry point for Python. Every source of a library has this function, and the linker keeps
// one.
extern "C" __attribute__((visibility("default"), weak)) const mluops_module::Entry *mluops_module_first() {
  return mluops_module::Entries::first;
}

#ifdef MLUOPS_MODULE_COVERAGE
// Writes the number of runs of each line of this library, and starts again from zero.
extern "C" void __gcov_dump();
extern "C" void __gcov_reset();
extern "C" __attribute__((visibility("default"), weak)) void mluops_module_write_coverage() {
  __gcov_dump();
  __gcov_reset();
}
#endif

#endif  // MLUOPS_MODULE_H_
