// Comparisons: 1 or 0 of the operands' type.
#include "intrinsics/loops/binary.h"

MLUSIM_BEGIN_LEVEL
namespace {

struct Eq {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a == b);
  }
};

struct Ne {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a != b);
  }
};

struct Lt {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a < b);
  }
};

struct Le {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a <= b);
  }
};

struct Gt {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a > b);
  }
};

struct Ge {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a >= b);
  }
};

template <typename Op>
constexpr void put_compare(BinaryLoops *loops, Binary op) {
  put<Op, float>(loops, op, Type::kFloat);
  put<Op, std::int32_t>(loops, op, Type::kInt32);
}

constexpr BinaryLoops make() {
  BinaryLoops loops = {};
  put_compare<Eq>(&loops, Binary::kEq);
  put_compare<Ne>(&loops, Binary::kNe);
  put_compare<Lt>(&loops, Binary::kLt);
  put_compare<Le>(&loops, Binary::kLe);
  put_compare<Gt>(&loops, Binary::kGt);
  put_compare<Ge>(&loops, Binary::kGe);
  put<Ge, std::int16_t>(&loops, Binary::kGe, Type::kInt16);
  return loops;
}

}  // namespace

extern const BinaryLoops compare_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(BinaryLoops, compare_loops);
