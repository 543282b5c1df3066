#include "intrinsics/settled.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "machine/memory.h"

namespace mlusim {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool is_real(Type type) { return type == Type::kFloat || type == Type::kHalf || type == Type::kBFloat16; }

bool is_comparison(Binary op) { return op >= Binary::kEq && op <= Binary::kGeu; }

// Whether the comparison holds.
bool compare(Binary op, float a, float b) {
  switch (op) {
    case Binary::kEq:
      return a == b;
    case Binary::kNe:
    case Binary::kNeu:
      return a != b;
    case Binary::kLt:
      return a < b;
    case Binary::kLe:
      return a <= b;
    case Binary::kGt:
      return a > b;
    case Binary::kGe:
      return a >= b;
    case Binary::kEqu:
      return !(a < b) && !(a > b);
    case Binary::kLtu:
      return !(a >= b);
    case Binary::kLeu:
      return !(a > b);
    case Binary::kGtu:
      return !(a <= b);
    default:
      return !(a < b);
  }
}

// The numbers that an operand may be: itself if it is defined. Comparisons with an infinity or NaN
// treat all finite numbers alike, so 0 stands for them.
struct Possible {
  Possible(float value, bool defined) {
    if (defined) {
      add(value);
    } else if (std::isinf(value)) {
      add(value);
      add(kNaN);
    } else {
      if (std::isfinite(value)) add(0);
      for (const float other : {kInfinity, -kInfinity, kNaN}) add(other);
    }
  }
  void add(float value) { values[count++] = value; }
  float values[4];
  int count = 0;
};

bool all_defined(const ShadowSource &source) {
  return source.base == nullptr ||
         shadow_defined(source.base, source.count * static_cast<std::int64_t>(source.element));
}

const char *element_of(const ShadowSource &source, std::int64_t number) {
  return static_cast<const char *>(source.base) + number % source.count * static_cast<std::int64_t>(source.element);
}

bool is_zero(const void *element, Type type) {
  const std::int64_t size = size_of(type);
  if (is_real(type)) {
    float buffer[1];
    return *floats_of(type, element, buffer, 1) == 0;
  }
  const char *bytes = static_cast<const char *>(element);
  return std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; });
}

bool is_one(const void *element, Type type) {
  float buffer[1];
  return is_real(type) && *floats_of(type, element, buffer, 1) == 1;
}

bool is_product(Binary op) { return op == Binary::kMul || (op >= Binary::kMax && op <= Binary::kNumberMin); }

bool is_maximum(Binary op) { return op == Binary::kMax || op == Binary::kNanMax || op == Binary::kNumberMax; }

// The shadow of a number of the type that is 0 or 1; all undefined for types that have none.
std::uint32_t truth_shadow(Type type) {
  switch (type) {
    case Type::kFloat:
      return kFloatTruthShadow;
    case Type::kHalf:
      return kHalfTruthShadow;
    case Type::kBFloat16:
      return kBFloat16TruthShadow;
    default:
      return 0;
  }
}

bool has_truth_shadow(const void *element, Type type) {
  std::uint32_t word = 0;
  std::memcpy(&word, init_shadow(element), is_real(type) ? static_cast<std::size_t>(size_of(type)) : 0);
  return word != 0 && word == truth_shadow(type);
}

// Whether the element is 0 or 1, be it known which or not.
bool is_truth(const void *element, bool defined, Type type) {
  return defined ? is_zero(element, type) || is_one(element, type) : has_truth_shadow(element, type);
}

}  // namespace

Settled::Known Settled::of_comparison(Binary op, float a, bool a_defined, float b, bool b_defined) {
  const bool a_known = a_defined || !std::isfinite(a);
  const bool b_known = b_defined || !std::isfinite(b);
  if ((a_defined && b_defined) || (std::isfinite(a) && std::isfinite(b))) return kNever;
  if ((!a_known && std::isfinite(b)) || (!b_known && std::isfinite(a))) return kNever;
  const Possible left(a, a_defined), right(b, b_defined);
  const bool first = compare(op, left.values[0], right.values[0]);
  bool same = true;
  for (int i = 0; i < left.count; ++i) {
    for (int k = 0; k < right.count; ++k) same = same && compare(op, left.values[i], right.values[k]) == first;
  }
  if (same) return kAlways;
  // A NaN has lost the sign of its infinity. Kernels choose the one that compares false.
  return a_known && b_known && op <= Binary::kGe && op != Binary::kNe ? kIfZero : kNever;
}

// Whether a defined element decides the result alone.
bool Settled::of_logic(Binary op, const void *element, Type type) {
  return (op == Binary::kAnd && is_zero(element, type)) || (op == Binary::kOr && !is_zero(element, type));
}

// Products and extremes of numbers that are 0 or 1. Any integer has the product 0 with 0.
Settled::Known Settled::of_product(Binary op, Type type, const void *a, bool a_defined, const void *b, bool b_defined) {
  const bool maximum = is_maximum(op);
  const auto decides = [&](const void *element, bool defined) {
    return defined && (maximum ? is_one(element, type) : is_zero(element, type));
  };
  const bool decided = decides(a, a_defined) || decides(b, b_defined);
  // So have the real numbers of some cards, which know no NaN there.
  const bool zero_decides = !is_real(type) || of_card({arithmetic_loops(), op, type}).op == Binary::kMulOf2xx;
  if (op == Binary::kMul && zero_decides && decided) return kAlways;
  if (!is_real(type)) return kNever;
  if (!is_truth(a, a_defined, type) || !is_truth(b, b_defined, type)) return kNever;
  return decided ? kAlways : kTruth;
}

template <typename Decide>
void Settled::each(Type type, const ShadowSource &a, const ShadowSource &b, std::int64_t count, const Decide &decide) {
  const std::int64_t size = size_of(type);
  for (std::int64_t i = 0; i < count; ++i) {
    const char *left = element_of(a, i);
    const char *right = b.base != nullptr ? element_of(b, i) : nullptr;
    const bool left_defined = shadow_defined(left, size);
    const bool right_defined = right == nullptr || shadow_defined(right, size);
    if (!left_defined || !right_defined) known_[i] = decide(left, left_defined, right, right_defined);
  }
}

Settled::Settled(const BinaryWork &work, const ShadowSource &a, const ShadowSource &b, const void *value,
                 std::int64_t count) {
  const bool logic = work.op == Binary::kAnd || work.op == Binary::kOr;
  const bool comparison = is_comparison(work.op) && is_real(work.type);
  const bool product = is_product(work.op);
  if (!g_observers.init || !(logic || comparison || product) || (all_defined(a) && all_defined(b))) return;
  // Not on the stack, which is not unwound when a launch ends early.
  static std::vector<unsigned char> &elements = *new std::vector<unsigned char>;
  elements.assign(static_cast<std::size_t>(count), kNever);
  known_ = elements.data();
  each(work.type, a, b, count, [&](const char *left, bool left_defined, const char *right, bool right_defined) {
    const void *second = right != nullptr ? right : value;
    if (product) return of_product(work.op, work.type, left, left_defined, second, right_defined);
    const Known unsettled = is_real(work.type) ? kTruth : kNever;
    if (logic) {
      const bool decided = (left_defined && of_logic(work.op, left, work.type)) ||
                           (right_defined && of_logic(work.op, second, work.type));
      return decided ? kAlways : unsettled;
    }
    float buffer[2];
    const float x = *floats_of(work.type, left, &buffer[0], 1);
    const float y = *floats_of(work.type, second, &buffer[1], 1);
    return std::max(unsettled, of_comparison(work.op, x, left_defined, y, right_defined));
  });
}

void Settled::define(void *dst, Type type, std::int64_t count) const {
  if (known_ == nullptr) return;
  const std::int64_t size = size_of(type);
  for (std::int64_t i = 0; i < count; ++i) {
    char *element = static_cast<char *>(dst) + i * size;
    if (known_[i] == kNever) continue;
    const std::uint32_t truth = truth_shadow(type);
    if (holds(i, is_zero(element, type))) {
      shadow_set(element, size, true);
    } else {
      std::memcpy(init_shadow(element), &truth, static_cast<std::size_t>(std::min<std::int64_t>(size, sizeof truth)));
    }
  }
}

}  // namespace mlusim
