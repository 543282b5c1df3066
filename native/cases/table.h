// What the table of dumped operators is made of. native/abi/gen_case.py writes the table from
// pymluops/gencase/_operators.py, which explains its parts.
#ifndef MLUOPS_CASES_TABLE_H_
#define MLUOPS_CASES_TABLE_H_

#include <cstdint>
#include <type_traits>

#include "mlu_op.h"

namespace mluops {

// One argument of a call.
class CaseValue {
 public:
  template <typename T>
  CaseValue(T *pointer) : pointer_(pointer) {}  // NOLINT: arguments convert silently
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>>
  CaseValue(T integer) : integer_(static_cast<std::int64_t>(integer)) {}  // NOLINT
  CaseValue(float real) : is_real_(true), real_(real) {}                  // NOLINT

  const void *pointer() const { return pointer_; }
  std::int64_t integer() const { return integer_; }
  bool is_real() const { return is_real_; }
  double number() const { return is_real_ ? static_cast<double>(real_) : static_cast<double>(integer_); }
  float real() const { return real_; }
  bool is_set() const { return pointer_ != nullptr || integer_ != 0 || real_ != 0; }

 private:
  const void *pointer_ = nullptr;
  std::int64_t integer_ = 0;
  bool is_real_ = false;
  float real_ = 0;
};

// A number or several, as a parameter has them.
struct CaseNumbers {
  static constexpr int kMost = 8;
  int count = 0;
  bool is_real = false;
  std::int64_t integers[kMost] = {};
  float real = 0;

  bool is_set() const { return count > 0 && (is_real ? real != 0 : integers[0] != 0); }
};

// Finds a field of a descriptor by its name; false if there is no such field.
using CaseFieldReader = bool (*)(const void *object, const char *field, CaseNumbers *numbers);

// An argument by its number, -1 for none; or one field of the descriptor that it is.
struct CaseSource {
  int argument = -1;
  CaseFieldReader reader = nullptr;
  const char *field = nullptr;
};

// `number`, plus the value of an argument or the size of a dim of a tensor.
struct CaseBound {
  int argument;  // -1 for none; a descriptor if `dim` is not -1
  int dim;
  double number;
};

struct CaseCondition {
  CaseSource source;
  bool negated;
};

struct CaseTensor {
  const char *id;
  int desc;  // argument with the descriptor; -1: there is none
  int data;  // argument with the data; -1: no tensor at all
  int like;  // without a descriptor: the descriptor whose shape it has, or -1
  int part;  // of the FFT plan `desc`: 0 its input, 1 its output; -1: `desc` is no plan
  bool real;
  CaseBound upper;
  CaseBound lower;
  CaseCondition condition;
};

enum class CaseSourceKind {
  kArgument,
  kField,
  kConstant,
  kSamePointers,
  kHostArray
};

struct CaseParameter {
  const char *name;
  CaseSourceKind kind;
  CaseSource source;
  int other;            // the other pointer, or the descriptor whose first dim counts a host array
  std::int64_t number;  // kConstant
};

struct CaseCriterion {
  const char *name;
  const char *threshold;
};

template <typename T>
struct CaseList {
  const T *values;
  int count;
  const T *begin() const { return values; }
  const T *end() const { return values + count; }
};

struct CaseOperator {
  const char *name;
  const char *type;
  const char *function;
  const char *message;  // of the parameters; NULL if there are none
  bool round_mode;
  CaseList<CaseTensor> inputs;
  CaseList<CaseTensor> outputs;
  CaseList<CaseParameter> parameters;
  CaseList<CaseCriterion> criteria;
};

}  // namespace mluops

#endif  // MLUOPS_CASES_TABLE_H_
