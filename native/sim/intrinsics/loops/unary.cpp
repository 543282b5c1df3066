// Functions of one operand.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

struct Abs {
  static inline float of(float a) { return __builtin_fabsf(a); }
  static inline std::uint32_t of(std::uint32_t a) { return static_cast<std::int32_t>(a) < 0 ? 0u - a : a; }
};

struct Square {
  static inline float of(float a) { return a * a; }
};

struct Sqrt {
  static inline float of(float a) { return __builtin_sqrtf(a); }
};

struct Recip {
  static inline float of(float a) { return 1.0f / a; }
};

struct Floor {
  static inline float of(float a) { return __builtin_floorf(a); }
};

// Ties to even.
struct Round {
  static inline float of(float a) { return __builtin_rintf(a); }
};

struct Relu {
  static inline float of(float a) { return a > 0 || a != a ? a : 0.0f; }
};

struct Sign {
  static inline float of(float a) { return a >= 0 ? 1.0f : -1.0f; }
};

struct Not {
  template <typename T>
  static inline T of(T a) {
    return static_cast<T>(a == 0);
  }
};

struct BitNot {
  template <typename T>
  static inline T of(T a) {
    return static_cast<T>(~a);
  }
};

// Computed in double, so that nearly all results are correctly rounded.
#define MLUSIM_THROUGH_DOUBLE(Name, expression) \
  struct Name {                                 \
    static inline float of(float a) {           \
      const double x = static_cast<double>(a);  \
      return static_cast<float>(expression);    \
    }                                           \
  }
MLUSIM_THROUGH_DOUBLE(Rsqrt, 1.0 / __builtin_sqrt(x));
MLUSIM_THROUGH_DOUBLE(Pow2, __builtin_exp2(x));
MLUSIM_THROUGH_DOUBLE(Log2, __builtin_log2(x));
MLUSIM_THROUGH_DOUBLE(Log, __builtin_log(x));
MLUSIM_THROUGH_DOUBLE(Exp, __builtin_exp(x));
MLUSIM_THROUGH_DOUBLE(Sin, __builtin_sin(x));
MLUSIM_THROUGH_DOUBLE(Cos, __builtin_cos(x));
MLUSIM_THROUGH_DOUBLE(Tanh, __builtin_tanh(x));
MLUSIM_THROUGH_DOUBLE(Sigmoid, 1.0 / (1.0 + __builtin_exp(-x)));

template <typename Op, typename T>
void unary(void *dst, const void *src, std::size_t count) {
  T *to = static_cast<T *>(dst);
  const T *from = static_cast<const T *>(src);
  for (std::size_t i = 0; i < count; ++i) to[i] = Op::of(from[i]);
}

template <typename Op, typename T>
constexpr void put(UnaryLoops *loops, Unary op, Type type) {
  loops->loop[static_cast<int>(op)][static_cast<int>(type)] = unary<Op, T>;
}

template <typename Op>
constexpr void put_float(UnaryLoops *loops, Unary op) {
  put<Op, float>(loops, op, Type::kFloat);
}

constexpr UnaryLoops make() {
  UnaryLoops loops = {};
  put_float<Abs>(&loops, Unary::kAbs);
  put<Abs, std::uint32_t>(&loops, Unary::kAbs, Type::kInt32);
  put_float<Square>(&loops, Unary::kSquare);
  put_float<Sqrt>(&loops, Unary::kSqrt);
  put_float<Rsqrt>(&loops, Unary::kRsqrt);
  put_float<Recip>(&loops, Unary::kRecip);
  put_float<Pow2>(&loops, Unary::kPow2);
  put_float<Log2>(&loops, Unary::kLog2);
  put_float<Log>(&loops, Unary::kLog);
  put_float<Exp>(&loops, Unary::kExp);
  put_float<Sin>(&loops, Unary::kSin);
  put_float<Cos>(&loops, Unary::kCos);
  put_float<Tanh>(&loops, Unary::kTanh);
  put_float<Sigmoid>(&loops, Unary::kSigmoid);
  put_float<Floor>(&loops, Unary::kFloor);
  put_float<Round>(&loops, Unary::kRound);
  put_float<Relu>(&loops, Unary::kRelu);
  put_float<Sign>(&loops, Unary::kSign);
  put_float<Not>(&loops, Unary::kNot);
  put<Not, std::uint8_t>(&loops, Unary::kNot, type_of<char>());
  put<Not, std::uint16_t>(&loops, Unary::kNot, Type::kInt16);
  put<Not, std::uint32_t>(&loops, Unary::kNot, Type::kInt32);
  put<Not, std::uint32_t>(&loops, Unary::kNot, Type::kUInt32);
  put<BitNot, std::uint8_t>(&loops, Unary::kBitNot, type_of<char>());
  put<BitNot, std::uint8_t>(&loops, Unary::kBitNot, Type::kInt8);
  put<BitNot, std::uint16_t>(&loops, Unary::kBitNot, Type::kInt16);
  put<BitNot, std::uint32_t>(&loops, Unary::kBitNot, Type::kInt32);
  return loops;
}

}  // namespace

extern const UnaryLoops unary_loops = make();

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(UnaryLoops, unary_loops);
