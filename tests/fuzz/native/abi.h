// The functions of a library, as the headers declare them: name, parameters and a call with values
// of any kind.
#ifndef MLUOPS_FUZZ_ABI_H_
#define MLUOPS_FUZZ_ABI_H_

#include <cstddef>
#include <cstdint>

namespace fuzz {

enum class Role {
  kInteger,    // integers and enumerators
  kReal,       // float, double
  kObject,     // a handle or descriptor
  kNewObject,  // where one is written to
  kGroup,      // an array of pointers to variables that hold objects
  kInput,      // an array that the function reads
  kStructure,  // a structure that it reads, by value or through a pointer
  kOutput,     // a variable, array or structure that it writes
  kData,       // void *: memory of the caller
  kInputData,  // const void *
  kPointer,    // void **: where an address is written to
  kText,       // const char *
  kFunction,   // a pointer to a function
};

struct Parameter {
  const char *type;  // as declared; of pointers, what they point to, without const
  const char *name;
  Role role;
  std::size_t size;   // bytes of one element
  std::size_t count;  // elements that an output has room for; of inputs 0: `counter` says it
  int counter;        // the parameter that counts the elements of an input, or -1
  bool data_pair;     // the data of a tensor, or a workspace
};

union Value {
  const void *pointer;
  std::int64_t integer;
  double real;
};

enum class Returns {
  kNothing,
  kStatus,
  kRuntimeStatus,
  kMinusOne,
  kNumber,
  kText
};

struct Function {
  const char *name;
  Returns returns;
  const Parameter *parameters;
  int count;
  // Calls what `address` points to; the result in the field that fits.
  Value (*invoke)(void *address, const Value *values);
};

extern const Function kFunctions[];
extern const int kFunctionCount;
constexpr int kMostParameters = 32;

// ---- The library that is fuzzed -----------------------------------------------------------------

// Loads the library that MLUOPS_FUZZ_LIBRARY names; functions of the one that MLUOPS_FUZZ_OVERRIDE
// names come before its own.
void load_library();

// The number of a function that the library has, or -1.
int find_function(const char *name);
bool has_function(int number);
bool is_simulator();

Value call(int number, const Value *values);
// Whether a call with this result was refused.
bool refused(int number, Value result);

// Calls a function by its name with pointers and integers; a status of 0 is expected.
template <typename... Arguments>
std::int64_t call_by_name(const char *name, Arguments... arguments);

std::int64_t call_values(const char *name, const Value *values, int count);

inline Value value_of(const void *pointer) {
  Value value;
  value.pointer = pointer;
  return value;
}
inline Value value_of(std::int64_t integer) {
  Value value;
  value.integer = integer;
  return value;
}
inline Value value_of(int integer) { return value_of(std::int64_t{integer}); }
inline Value value_of(std::size_t integer) { return value_of(static_cast<std::int64_t>(integer)); }
inline Value value_of(double real) {
  Value value;
  value.real = real;
  return value;
}

template <typename... Arguments>
std::int64_t call_by_name(const char *name, Arguments... arguments) {
  const Value values[] = {value_of(arguments)..., Value{}};
  return call_values(name, values, sizeof...(arguments));
}

// What the library says about the last refusal, never null.
const char *last_reason();

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_ABI_H_
