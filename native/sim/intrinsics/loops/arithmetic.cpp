// Sums, products, quotients, minima and maxima.
#include "intrinsics/loops/binary.h"
#include "intrinsics/loops/rounding.h"

MLUSIM_BEGIN_LEVEL
namespace {

// Integers that may wrap are computed as unsigned ones.
struct Add {
  template <typename T>
  static inline T of(T a, T b) {
    return a + b;
  }
};

struct Sub {
  template <typename T>
  static inline T of(T a, T b) {
    return a - b;
  }
};

struct Mul {
  template <typename T>
  static inline T of(T a, T b) {
    return a * b;
  }
};

// Integer division by zero gives 0: kernels divide the padding at the end of a vector too.
struct Div {
  static inline float of(float a, float b) { return a / b; }
  static inline std::int64_t of(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a / b; }
};

struct Rem {
  static inline float of(float a, float b) { return __builtin_fmodf(a, b); }
  static inline std::int64_t of(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a % b; }
};

struct Max {
  template <typename T>
  static inline T of(T a, T b) {
    return b > a ? b : a;
  }
};

struct Min {
  template <typename T>
  static inline T of(T a, T b) {
    return b < a ? b : a;
  }
};

struct NanMax {
  static inline float of(float a, float b) { return ((b > a) | (b != b)) ? b : a; }
};

struct NanMin {
  static inline float of(float a, float b) { return ((b < a) | (b != b)) ? b : a; }
};

struct NumberMax {
  static inline float of(float a, float b) { return ((b > a) | (a != a)) ? b : a; }
};

struct NumberMin {
  static inline float of(float a, float b) { return ((b < a) | (a != a)) ? b : a; }
};

// The nearest sum, moved by one place toward zero if the rounding error has the other sign.
struct AddTowardZero {
  static inline float of(float a, float b) {
    const float sum = a + b;
    const float b_part = sum - a;
    const float dropped = (a - (sum - b_part)) + (b - b_part);
    const std::uint32_t bits = vec::float_to_bits(sum);
    const bool is_finite = (bits & 0x7fffffffu) < 0x7f800000u;
    const bool overflowed = (bits & 0x7fffffffu) == 0x7f800000u && a - a == 0 && b - b == 0;
    const bool too_far = is_finite && dropped != 0 && (dropped < 0) != (sum < 0);
    return overflowed || too_far ? vec::bits_to_float(bits - 1) : sum;
  }
  static inline half of(half a, half b) {
    const double sum = static_cast<double>(vec::to_float(bits_of(a))) + static_cast<double>(vec::to_float(bits_of(b)));
    const std::uint16_t bits = round_bits<Rounding::kTowardZero, Float64, Float16>(double_to_bits(sum));
    half rounded;
    std::memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
  }
  static inline vec::Half bits_of(half value) {
    vec::Half bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
};

// ---- MLU270 and MLU290 --------------------------------------------------------------------------

// A zero has no sign.
template <typename Op>
struct WithoutSign {
  template <typename T>
  static inline T of(T a, T b) {
    const T result = Op::of(a, b);
    return result == static_cast<T>(0.0f) ? static_cast<T>(0.0f) : result;
  }
};

// A factor of zero decides the product, whatever the other factor is.
struct MulOf2xx {
  static inline float of(float a, float b) {
    const float product = a * b;
    return ((a == 0) | (b == 0) | (product == 0)) ? 0.0f : product;
  }
};

// The product with a reciprocal, which is zero for an infinite divisor.
struct DivOf2xx {
  static inline float of(float a, float b) {
    const float quotient = a / b;
    return ((a == 0) | (__builtin_fabsf(b) == __builtin_inff()) | (quotient == 0)) ? 0.0f : quotient;
  }
};

template <typename Op>
constexpr void put_wrapping(BinaryLoops *loops, Binary op) {
  put<Op, std::uint8_t, std::uint32_t>(loops, op, Type::kInt8);
  put<Op, std::uint8_t, std::uint32_t>(loops, op, Type::kUInt8);
  put<Op, std::uint16_t, std::uint32_t>(loops, op, Type::kInt16);
  put<Op, std::uint16_t, std::uint32_t>(loops, op, Type::kUInt16);
  put<Op, std::uint32_t>(loops, op, Type::kInt32);
  put<Op, std::uint32_t>(loops, op, Type::kUInt32);
}

template <typename Op>
constexpr void put_choosing(BinaryLoops *loops, Binary op) {
  put<Op, float>(loops, op, Type::kFloat);
  put<Op, std::int8_t>(loops, op, Type::kInt8);
  put<Op, std::uint8_t>(loops, op, Type::kUInt8);
  put<Op, std::int16_t>(loops, op, Type::kInt16);
  put<Op, std::uint16_t>(loops, op, Type::kUInt16);
  put<Op, std::int32_t>(loops, op, Type::kInt32);
  put<Op, std::uint32_t>(loops, op, Type::kUInt32);
}

template <typename Op>
constexpr void put_dividing(BinaryLoops *loops, Binary op) {
  put<Op, std::int16_t, std::int64_t>(loops, op, Type::kInt16);
  put<Op, std::uint16_t, std::int64_t>(loops, op, Type::kUInt16);
  put<Op, std::int32_t, std::int64_t>(loops, op, Type::kInt32);
  put<Op, std::uint32_t, std::int64_t>(loops, op, Type::kUInt32);
}

constexpr BinaryLoops make() {
  BinaryLoops loops = {};
  put<Add, float>(&loops, Binary::kAdd, Type::kFloat);
  put<Sub, float>(&loops, Binary::kSub, Type::kFloat);
  put<Mul, float>(&loops, Binary::kMul, Type::kFloat);
  put<Div, float>(&loops, Binary::kDiv, Type::kFloat);
  put_choosing<Max>(&loops, Binary::kMax);
  put_choosing<Min>(&loops, Binary::kMin);
  put<NanMax, float>(&loops, Binary::kNanMax, Type::kFloat);
  put<NanMin, float>(&loops, Binary::kNanMin, Type::kFloat);
  put<NumberMax, float>(&loops, Binary::kNumberMax, Type::kFloat);
  put<NumberMin, float>(&loops, Binary::kNumberMin, Type::kFloat);
  put<AddTowardZero, float>(&loops, Binary::kAddTowardZero, Type::kFloat);
  put<AddTowardZero, half>(&loops, Binary::kAddTowardZero, Type::kHalf);
  put<Rem, float>(&loops, Binary::kRem, Type::kFloat);
  put<WithoutSign<Add>, float>(&loops, Binary::kAddOf2xx, Type::kFloat);
  put<WithoutSign<Sub>, float>(&loops, Binary::kSubOf2xx, Type::kFloat);
  put<MulOf2xx, float>(&loops, Binary::kMulOf2xx, Type::kFloat);
  put<DivOf2xx, float>(&loops, Binary::kDivOf2xx, Type::kFloat);
  put<WithoutSign<AddTowardZero>, float>(&loops, Binary::kAddTowardZeroOf2xx, Type::kFloat);
  put<WithoutSign<AddTowardZero>, half>(&loops, Binary::kAddTowardZeroOf2xx, Type::kHalf);
  put_wrapping<Add>(&loops, Binary::kAdd);
  put_wrapping<Sub>(&loops, Binary::kSub);
  put_wrapping<Mul>(&loops, Binary::kMul);
  put<Add, std::uint64_t>(&loops, Binary::kAdd, Type::kInt64);
  put_dividing<Div>(&loops, Binary::kDiv);
  put_dividing<Rem>(&loops, Binary::kRem);
  return loops;
}

}  // namespace

extern const BinaryLoops arithmetic_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(BinaryLoops, arithmetic_loops);
