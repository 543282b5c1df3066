// Vector registers of 256 bytes: local variables, parameters and arrays of functions marked
// __mlu_vector__.
#ifndef MLUSIM_REGISTERS_H_
#define MLUSIM_REGISTERS_H_

#include "mlusim/types.h"

#if MLUSIM_SINCE(372)

namespace mlusim {
constexpr int kRegisterBytes = 256;

template <typename T>
struct Register {
  T lane[kRegisterBytes / sizeof(T)];
};

// Computes the result lane by lane. Integers wrap, so they are computed as unsigned ones.
template <typename T>
struct Lane {
  typedef T Type;
};
template <>
struct Lane<short> {
  typedef unsigned int Type;
};
template <>
struct Lane<unsigned short> {
  typedef unsigned int Type;
};
template <>
struct Lane<int> {
  typedef unsigned int Type;
};

template <typename T, typename Op>
void set_lanes(Register<T> &dst, const Op &op) {
  for (int i = 0; i < kRegisterBytes / static_cast<int>(sizeof(T)); ++i) dst.lane[i] = static_cast<T>(op(i));
}
template <typename T>
typename Lane<T>::Type wide(T value) {
  return static_cast<typename Lane<T>::Type>(value);
}
}  // namespace mlusim

typedef mlusim::Register<float> vv_float;
typedef mlusim::Register<half> vv_half;
typedef mlusim::Register<short> vv_int16;
typedef mlusim::Register<unsigned short> vv_uint16;
typedef mlusim::Register<int> vv_int32;
typedef mlusim::Register<unsigned int> vv_uint32;

#define MLUSIM_REGISTER_INTEGERS(form, ...)                                                                        \
  form(vv_int16, short, __VA_ARGS__) form(vv_uint16, unsigned short, __VA_ARGS__) form(vv_int32, int, __VA_ARGS__) \
      form(vv_uint32, unsigned int, __VA_ARGS__)
#define MLUSIM_REGISTERS(form, ...) \
  form(vv_float, float, __VA_ARGS__) form(vv_half, half, __VA_ARGS__) MLUSIM_REGISTER_INTEGERS(form, __VA_ARGS__)

// Returns the bytes of a register.
inline int __vv_get_length() { return mlusim::kRegisterBytes; }

#define MLUSIM_REGISTER_FILL(V, T, ...)                                                              \
  inline void __vv_index(V &dst, T base, T step) {                                                   \
    mlusim::set_lanes(dst, [&](int i) {                                                              \
      return mlusim::wide(base) + static_cast<decltype(mlusim::wide(base))>(i) * mlusim::wide(step); \
    });                                                                                              \
  }                                                                                                  \
  inline void __vv_move(V &dst, T value) {                                                           \
    mlusim::set_lanes(dst, [&](int) { return value; });                                              \
  }                                                                                                  \
  inline void __vv_move(V &dst, const V &src) { dst = src; }                                         \
  MLUSIM_API void __vv_store(T *dst, const V &src);                                                  \
  MLUSIM_API void __vv_store(T *dst, const V &src, int elem_count);
MLUSIM_REGISTERS(MLUSIM_REGISTER_FILL, )

#define MLUSIM_REGISTER_BINARY(V, T, name, sign)                                                         \
  inline void name(V &dst, const V &a, const V &b) {                                                     \
    mlusim::set_lanes(dst, [&](int i) { return mlusim::wide(a.lane[i]) sign mlusim::wide(b.lane[i]); }); \
  }                                                                                                      \
  inline void name(V &dst, const V &a, T b) {                                                            \
    mlusim::set_lanes(dst, [&](int i) { return mlusim::wide(a.lane[i]) sign mlusim::wide(b); });         \
  }
MLUSIM_REGISTERS(MLUSIM_REGISTER_BINARY, __vv_add, +)
MLUSIM_REGISTERS(MLUSIM_REGISTER_BINARY, __vv_mul, *)
MLUSIM_REGISTER_INTEGERS(MLUSIM_REGISTER_BINARY, __vv_xor, ^)

// The upper 32 bits of the product.
inline void __vv_mulh(vv_uint32 &dst, const vv_uint32 &a, const vv_uint32 &b) {
  mlusim::set_lanes(dst, [&](int i) { return (std::uint64_t{a.lane[i]} * b.lane[i]) >> 32; });
}
inline void __vv_mulh(vv_uint32 &dst, const vv_uint32 &a, unsigned int b) {
  mlusim::set_lanes(dst, [&](int i) { return (std::uint64_t{a.lane[i]} * b) >> 32; });
}
#if MLUSIM_SINCE(520)
inline void __vv_trixor(vv_uint32 &dst, const vv_uint32 &a, const vv_uint32 &b, const vv_uint32 &c) {
  mlusim::set_lanes(dst, [&](int i) { return a.lane[i] ^ b.lane[i] ^ c.lane[i]; });
}
#endif

#endif  // MLUSIM_SINCE(372)

#endif  // MLUSIM_REGISTERS_H_
