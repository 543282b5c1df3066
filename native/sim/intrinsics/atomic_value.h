// The effect of atomic instructions on elements of GDRAM.
#ifndef MLUSIM_INTRINSICS_ATOMIC_VALUE_H_
#define MLUSIM_INTRINSICS_ATOMIC_VALUE_H_

#include <type_traits>

#include "intrinsics/vector.h"

namespace mlusim {

enum class Atomic {
  kAdd,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kInc,
  kDec,
  kExch
};

template <typename T>
T changed(Atomic op, T old, T value) {
  // Sums wrap, so they are computed in an unsigned type.
  using Unsigned = std::make_unsigned_t<T>;
  switch (op) {
    case Atomic::kAdd:
      return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value)));
    case Atomic::kMax:
      return value > old ? value : old;
    case Atomic::kMin:
      return value < old ? value : old;
    case Atomic::kAnd:
      return static_cast<T>(old & value);
    case Atomic::kOr:
      return static_cast<T>(old | value);
    case Atomic::kXor:
      return static_cast<T>(old ^ value);
    case Atomic::kInc:
      return old >= value ? static_cast<T>(0) : static_cast<T>(static_cast<Unsigned>(old) + 1u);
    case Atomic::kDec:
      return old == 0 || old > value ? value : static_cast<T>(static_cast<Unsigned>(old) - 1u);
    case Atomic::kExch:
      return value;
  }
  return old;
}

// The second operand: a vector in NRAM, or one value.
template <typename T>
struct Values {
  const T *base;
  bool is_vector;
};

inline Binary real_operation(Atomic op) {
  switch (op) {
    case Atomic::kMax:
      return Binary::kMax;
    case Atomic::kMin:
      return Binary::kMin;
    default:
      return Binary::kAdd;
  }
}

// Changes the elements from the first to the last.
template <typename T>
void change(Atomic op, T *memory, const Values<T> &values, std::int64_t count) {
  if constexpr (std::is_integral<T>::value) {
    for (std::int64_t i = 0; i < count; ++i) memory[i] = changed(op, memory[i], values.base[values.is_vector ? i : 0]);
  } else if (op == Atomic::kExch) {
    for (std::int64_t i = 0; i < count; ++i) memory[i] = values.base[values.is_vector ? i : 0];
  } else {
    const BinaryWork work = {arithmetic_loops(), real_operation(op), type_of<T>()};
    if (values.is_vector) {
      run_vector(work, memory, memory, values.base, count);
    } else {
      run_scalar(work, memory, memory, values.base, count);
    }
  }
}

inline Operand memory_operand(const char *role, const void *memory, std::int64_t bytes) {
  return {role, Kind::kAtomic, Space::kGdram, Region::plain(memory, static_cast<std::size_t>(bytes))};
}

template <typename T>
bool equal(T a, T b) {
  return a == b;
}
inline bool equal(bfloat16_t a, bfloat16_t b) { return static_cast<float>(a) == static_cast<float>(b); }

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_ATOMIC_VALUE_H_
