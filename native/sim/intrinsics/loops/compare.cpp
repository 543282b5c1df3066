// Comparisons with a result of 1 or 0 in the operands' type.
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

// True unless the opposite comparison holds.
template <typename Opposite>
struct Unless {
  static inline float of(float a, float b) { return 1.0f - Opposite::of(a, b); }
};

// Neither less nor greater.
struct NotApart {
  static inline float of(float a, float b) { return static_cast<float>(!(a < b) & !(a > b)); }
};

template <typename Op>
constexpr void put_compare(BinaryLoops *loops, Binary op) {
  put<Op, float>(loops, op, Type::kFloat);
  put<Op, std::int8_t>(loops, op, Type::kInt8);
  put<Op, std::uint8_t>(loops, op, Type::kUInt8);
  put<Op, std::int16_t>(loops, op, Type::kInt16);
  put<Op, std::uint16_t>(loops, op, Type::kUInt16);
  put<Op, std::int32_t>(loops, op, Type::kInt32);
  put<Op, std::uint32_t>(loops, op, Type::kUInt32);
}

constexpr BinaryLoops make() {
  BinaryLoops loops = {};
  put_compare<Eq>(&loops, Binary::kEq);
  put_compare<Ne>(&loops, Binary::kNe);
  put_compare<Lt>(&loops, Binary::kLt);
  put_compare<Le>(&loops, Binary::kLe);
  put_compare<Gt>(&loops, Binary::kGt);
  put_compare<Ge>(&loops, Binary::kGe);
  put<NotApart, float>(&loops, Binary::kEqu, Type::kFloat);
  put<Ne, float>(&loops, Binary::kNeu, Type::kFloat);  // Ne also holds for NaN
  put<Unless<Ge>, float>(&loops, Binary::kLtu, Type::kFloat);
  put<Unless<Gt>, float>(&loops, Binary::kLeu, Type::kFloat);
  put<Unless<Le>, float>(&loops, Binary::kGtu, Type::kFloat);
  put<Unless<Lt>, float>(&loops, Binary::kGeu, Type::kFloat);
  return loops;
}

}  // namespace

extern const BinaryLoops compare_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(BinaryLoops, compare_loops);
