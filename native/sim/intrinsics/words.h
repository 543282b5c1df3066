// Elements as words of bits.
#ifndef MLUSIM_INTRINSICS_WORDS_H_
#define MLUSIM_INTRINSICS_WORDS_H_

#include <cstdint>

namespace mlusim {

// Whether a floating-point number of any width is zero: both zeros are, NaN is not.
template <typename Word>
constexpr bool is_nonzero(Word bits) {
  return static_cast<Word>(bits << 1) != 0;
}

inline bool bit_at(const void *bits, std::int64_t i) {
  return ((static_cast<const unsigned char *>(bits)[i / 8] >> (i % 8)) & 1) != 0;
}

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_WORDS_H_
