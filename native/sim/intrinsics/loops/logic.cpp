// Logical and bitwise operations of two operands.
#include "intrinsics/loops/binary.h"

MLUSIM_BEGIN_LEVEL
namespace {

struct And {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

struct Or {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};

struct Xor {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

struct BitAnd {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  static inline T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct ShiftRight {
  static inline std::uint32_t of(std::uint32_t a, std::uint32_t b) { return b < 32 ? a >> b : 0; }
};

template <typename Op>
constexpr void put_logic(BinaryLoops *loops, Binary op) {
  put<Op, float>(loops, op, Type::kFloat);
  put<Op, std::uint8_t>(loops, op, type_of<char>());
  put<Op, std::uint16_t>(loops, op, Type::kInt16);
  put<Op, std::uint32_t>(loops, op, Type::kInt32);
}

template <typename Op>
constexpr void put_bits(BinaryLoops *loops, Binary op) {
  put<Op, std::uint8_t>(loops, op, type_of<char>());
  put<Op, std::uint8_t>(loops, op, Type::kInt8);
  put<Op, std::uint16_t>(loops, op, Type::kInt16);
  put<Op, std::uint16_t>(loops, op, Type::kHalf);
  put<Op, std::uint32_t>(loops, op, Type::kInt32);
  put<Op, std::uint32_t>(loops, op, Type::kFloat);
}

constexpr BinaryLoops make() {
  BinaryLoops loops = {};
  put_logic<And>(&loops, Binary::kAnd);
  put_logic<Or>(&loops, Binary::kOr);
  put_logic<Xor>(&loops, Binary::kXor);
  put_bits<BitAnd>(&loops, Binary::kBitAnd);
  put_bits<BitOr>(&loops, Binary::kBitOr);
  put_bits<BitXor>(&loops, Binary::kBitXor);
  put<ShiftRight, std::uint32_t>(&loops, Binary::kShiftRight, Type::kUInt32);
  return loops;
}

}  // namespace

extern const BinaryLoops logic_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(BinaryLoops, logic_loops);
