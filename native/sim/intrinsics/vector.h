// Complete elementwise vector instructions: checks, loop, shadow. The exported functions only name
// their parts.
#ifndef MLUSIM_INTRINSICS_VECTOR_H_
#define MLUSIM_INTRINSICS_VECTOR_H_

#include "intrinsics/loops.h"
#include "intrinsics/operand.h"

namespace mlusim {

constexpr std::int64_t size_of(Type type) {
  switch (type) {
    case Type::kInt8:
    case Type::kUInt8:
      return 1;
    case Type::kFloat:
    case Type::kInt32:
    case Type::kUInt32:
      return 4;
    case Type::kInt64:
      return 8;
    default:
      return 2;
  }
}

// An operation on elements of one type.
struct BinaryWork {
  const BinaryLoops &loops;
  Binary op;
  Type type;
};

// Runs the loop without checks; dst may start at the address of a source. In the scalar form the
// second operand is one value.
void run_vector(const BinaryWork &work, void *dst, const void *src0, const void *src1, std::int64_t count);
void run_scalar(const BinaryWork &work, void *dst, const void *src0, const void *value, std::int64_t count);
void run_unary(Unary op, Type type, void *dst, const void *src, std::int64_t count);

// The operation as the vector unit of this card does it. That of MLU270 and MLU290 computes no
// negative zero, and a product is zero if a factor is, even if the other one is infinite or NaN.
BinaryWork of_card(const BinaryWork &work);
// Gives the zeros among computed real numbers the sign that they have on this card.
void drop_zero_signs(Type type, void *numbers, std::int64_t count);

// floats_of() returns numbers as floats: in place if they are floats, else converted into the
// buffer. The inverse rounds.
const float *floats_of(Type type, const void *from, float *buffer, std::int64_t count);
void round_floats(Type type, const float *from, void *to, std::int64_t count);

void vector_binary(const Call &call, const BinaryWork &work, void *dst, const void *src0, const void *src1, int count);
void vector_scalar(const Call &call, const BinaryWork &work, void *dst, const void *src, const void *value, int count);
void vector_cycle(const Call &call, const BinaryWork &work, void *dst, const void *src, const void *seg, int src_count,
                  int seg_count);
void vector_unary(const Call &call, Unary op, Type type, void *dst, const void *src, int count);

// For an operand that the device overwrites as scratch memory: here it keeps its bytes, but they
// count as undefined.
void spoil(const Call &call, const char *role, void *scratch, std::int64_t bytes);

// A shorter operand that repeats along one of `whole` elements.
class Repeated {
 public:
  Repeated(const void *base, std::int64_t count, std::int64_t whole, std::int64_t element);
  // Returns the operand's elements for the elements from `first` on of the longer one. `*count` is
  // the most; it becomes the number returned, at least one.
  const void *at(std::int64_t first, std::int64_t *count) const;

 private:
  static constexpr std::int64_t kBytes = 2048;
  const char *base_;
  std::int64_t count_, element_;
  std::int64_t length_ = 0;  // elements in the buffer; 0: the operand is used in place
  char buffer_[2 * kBytes];
};

// The definitions of the exported functions. `loops` is the function that gives the table.
#define MLUSIM_DEFINE_BINARY(T, name, table, op)                                                                   \
  void name(T *dst, const T *src0, const T *src1, int elem_count) {                                                \
    ::mlusim::vector_binary(MLUSIM_CALL(#name), {::mlusim::table(), ::mlusim::Binary::op, ::mlusim::type_of<T>()}, \
                            dst, src0, src1, elem_count);                                                          \
  }
#define MLUSIM_DEFINE_SCALAR(T, name, table, op)                                                                   \
  void name(T *dst, const T *src, T value, int elem_count) {                                                       \
    ::mlusim::vector_scalar(MLUSIM_CALL(#name), {::mlusim::table(), ::mlusim::Binary::op, ::mlusim::type_of<T>()}, \
                            dst, src, &value, elem_count);                                                         \
  }
#define MLUSIM_DEFINE_CYCLE(T, name, table, op)                                                                        \
  void name(T *dst, const T *src, const T *seg, int src_elem_count, int seg_elem_count) {                              \
    ::mlusim::vector_cycle(MLUSIM_CALL(#name), {::mlusim::table(), ::mlusim::Binary::op, ::mlusim::type_of<T>()}, dst, \
                           src, seg, src_elem_count, seg_elem_count);                                                  \
  }
#define MLUSIM_DEFINE_UNARY(T, name, op)                                                                           \
  void name(T *dst, const T *src, int elem_count) {                                                                \
    ::mlusim::vector_unary(MLUSIM_CALL(#name), ::mlusim::Unary::op, ::mlusim::type_of<T>(), dst, src, elem_count); \
  }

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_VECTOR_H_
