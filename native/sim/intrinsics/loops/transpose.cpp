// Matrix transposition, in squares with as many elements per side as a vector of 16 bytes holds.
#include "intrinsics/loops/level.h"

MLUSIM_BEGIN_LEVEL
namespace {

template <int... kLane>
struct LaneList {};
template <typename Word>
struct Square;
template <>
struct Square<std::uint8_t> {
  typedef std::uint8_t Row __attribute__((vector_size(16)));
  static constexpr int kSide = 16;
  typedef LaneList<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> All;
};
template <>
struct Square<std::uint16_t> {
  typedef std::uint16_t Row __attribute__((vector_size(16)));
  static constexpr int kSide = 8;
  typedef LaneList<0, 1, 2, 3, 4, 5, 6, 7> All;
};
template <>
struct Square<std::uint32_t> {
  typedef std::uint32_t Row __attribute__((vector_size(16)));
  static constexpr int kSide = 4;
  typedef LaneList<0, 1, 2, 3> All;
};

// Exchanges the off-diagonal blocks of kDistance lanes of the two rows.
template <int kSide, int kDistance, typename Row, int... kLane>
inline void exchange(Row &upper, Row &lower, LaneList<kLane...>) {
  const Row a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, ((kLane & kDistance) != 0 ? kSide + kLane - kDistance : kLane)...);
  lower = __builtin_shufflevector(a, b, ((kLane & kDistance) != 0 ? kSide + kLane : kLane + kDistance)...);
}

template <typename Word, int kDistance>
inline void exchange_all(typename Square<Word>::Row *rows) {
  constexpr int kSide = Square<Word>::kSide;
  for (int i = 0; i < kSide; ++i) {
    if ((i & kDistance) == 0) exchange<kSide, kDistance>(rows[i], rows[i + kDistance], typename Square<Word>::All());
  }
}

template <typename Word>
inline void turn_square(Word *dst, const Word *src, std::int64_t height, std::int64_t width) {
  constexpr int kSide = Square<Word>::kSide;
  typename Square<Word>::Row rows[kSide];
  for (int i = 0; i < kSide; ++i) std::memcpy(&rows[i], src + i * width, sizeof rows[i]);
  if constexpr (kSide > 8) exchange_all<Word, 8>(rows);
  if constexpr (kSide > 4) exchange_all<Word, 4>(rows);
  exchange_all<Word, 2>(rows);
  exchange_all<Word, 1>(rows);
  for (int i = 0; i < kSide; ++i) std::memcpy(dst + i * height, &rows[i], sizeof rows[i]);
}

template <typename Word>
void turn_rest(Word *dst, const Word *src, std::int64_t height, std::int64_t width, std::int64_t first_row,
               std::int64_t first_column) {
  for (std::int64_t i = first_row; i < height; ++i) {
    for (std::int64_t j = first_column; j < width; ++j) dst[j * height + i] = src[i * width + j];
  }
}

// Groups of columns about as wide as a cache line, so that their lines of dst stay in the cache.
template <typename Word>
void transpose(void *target, const void *source, std::int64_t height, std::int64_t width) {
  constexpr std::int64_t kSide = Square<Word>::kSide;
  constexpr std::int64_t kGroup = 4 * kSide;
  Word *dst = static_cast<Word *>(target);
  const Word *src = static_cast<const Word *>(source);
  const std::int64_t rows = height / kSide * kSide;
  const std::int64_t columns = width / kSide * kSide;
  for (std::int64_t group = 0; group < columns; group += kGroup) {
    const std::int64_t end = columns - group < kGroup ? columns : group + kGroup;
    for (std::int64_t i = 0; i < rows; i += kSide) {
      for (std::int64_t j = group; j < end; j += kSide) {
        turn_square(dst + j * height + i, src + i * width + j, height, width);
      }
    }
  }
  // The remaining rows and columns at the bottom and at the right.
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = columns; j < width; ++j) dst[j * height + i] = src[i * width + j];
  }
  turn_rest(dst, src, height, width, rows, 0);
}

}  // namespace

extern const TransposeLoops transpose_loops = {transpose<std::uint8_t>, transpose<std::uint16_t>,
                                               transpose<std::uint32_t>};

MLUSIM_END_LEVEL
MLUSIM_CHOOSE_TABLE(TransposeLoops, transpose_loops);
