// Writing results by whole cache lines: with non-temporal stores if they are too large for the
// caches, or with vectors where memcpy is slow.
#ifndef MLUOPS_CPU_NONTEMPORAL_H_
#define MLUOPS_CPU_NONTEMPORAL_H_

#include "cpu/cache.h"
#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The unit of a non-temporal store; a cache line consists of one or several.
#if defined(__AVX512F__)
typedef __m512i NontemporalVector;
static inline NontemporalVector load_bytes(const char *from) { return _mm512_loadu_si512(from); }
static inline NontemporalVector broadcast_byte(int byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }
static inline void store_nontemporal(char *to, NontemporalVector vector) {
  _mm512_stream_si512(reinterpret_cast<__m512i *>(to), vector);
}
#elif defined(__AVX2__)
typedef __m256i NontemporalVector;
static inline NontemporalVector load_bytes(const char *from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}
static inline NontemporalVector broadcast_byte(int byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
static inline void store_nontemporal(char *to, NontemporalVector vector) {
  _mm256_stream_si256(reinterpret_cast<__m256i *>(to), vector);
}
#elif defined(__x86_64__)
typedef __m128i NontemporalVector;
static inline NontemporalVector load_bytes(const char *from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}
static inline NontemporalVector broadcast_byte(int byte) { return _mm_set1_epi8(static_cast<char>(byte)); }
static inline void store_nontemporal(char *to, NontemporalVector vector) {
  _mm_stream_si128(reinterpret_cast<__m128i *>(to), vector);
}
#else
struct NontemporalVector {
  char bytes[16];
};
static inline NontemporalVector load_bytes(const char *from) {
  NontemporalVector vector;
  std::memcpy(vector.bytes, from, sizeof vector.bytes);
  return vector;
}
static inline NontemporalVector broadcast_byte(int byte) {
  NontemporalVector vector;
  std::memset(vector.bytes, byte, sizeof vector.bytes);
  return vector;
}
static inline void store_nontemporal(char *to, NontemporalVector vector) {
  std::memcpy(to, vector.bytes, sizeof vector.bytes);
}
#endif

// Copies one cache line.
static inline void copy_line_nontemporal(char *to, const char *from) {
  for (std::size_t i = 0; i < kCacheLine; i += sizeof(NontemporalVector))
    store_nontemporal(to + i, load_bytes(from + i));
}

// Copies whole cache lines to `to`, which starts one; returns the number of bytes. Not inline, so
// that the loop has all registers.
[[gnu::noinline]] static std::size_t copy_lines_nontemporal(char *to, const char *from, std::size_t bytes) {
  const std::size_t whole = bytes / kCacheLine * kCacheLine;
  for (const char *const end = from + whole; from != end; from += kCacheLine, to += kCacheLine)
    copy_line_nontemporal(to, from);
  return whole;
}

static inline std::size_t fill_lines_nontemporal(char *to, int byte, std::size_t bytes) {
  const std::size_t whole = bytes / kCacheLine * kCacheLine;
  const NontemporalVector vector = broadcast_byte(byte);
  for (const char *const end = to + whole; to != end; to += sizeof vector) store_nontemporal(to, vector);
  return whole;
}

// Bytes before the first cache line boundary at or after `to`, at most `bytes`.
static inline std::size_t bytes_before_line(const void *to, std::size_t bytes) {
  return smaller(bytes, (kCacheLine - reinterpret_cast<std::uintptr_t>(to) % kCacheLine) % kCacheLine);
}

// The same with ordinary stores. In halves of a line, because CPUs with AVX-512 may write a whole
// one in two steps anyway. For long blocks; copy_row is made for short rows and is up to a tenth
// slower here.
[[gnu::noinline]] static std::size_t copy_lines_cached(char *to, const char *from, std::size_t bytes) {
  typedef unsigned char Piece __attribute__((vector_size(kCacheLine / 2)));
  const std::size_t whole = bytes / kCacheLine * kCacheLine;
  char *line = static_cast<char *>(__builtin_assume_aligned(to, kCacheLine));
  for (const char *const end = from + whole; from != end; from += kCacheLine, line += kCacheLine) {
    Piece first, second;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&second, from + sizeof first, sizeof second);
    std::memcpy(line, &first, sizeof first);
    std::memcpy(line + sizeof first, &second, sizeof second);
  }
  return whole;
}

// A copy in which `lines` copies the whole cache lines.
template <typename Lines>
static inline void copy_by_lines(void *to, const void *from, std::size_t bytes, const Lines &lines) {
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  const std::size_t head = bytes_before_line(target, bytes);
  if (head != 0)
    std::memcpy(target, source, head);  // most pieces are whole lines, and memcpy is a call even for 0 bytes
  const std::size_t done = head + lines(target + head, source + head, bytes - head);
  if (done != bytes) std::memcpy(target + done, source + done, bytes - done);
}

// Copies with non-temporal stores, for results too large for the caches. nontemporal_fence() orders
// them before later stores of this thread.
static inline void copy_nontemporal(void *to, const void *from, std::size_t bytes) {
  copy_by_lines(to, from, bytes, copy_lines_nontemporal);
}

// Copies with ordinary stores. glibc copies large blocks with `rep movsb`, which on Zen 4 takes 1.2
// to 4 times as long when source and target differ modulo 32 bytes.
static inline void copy_cached(void *to, const void *from, std::size_t bytes) {
  constexpr std::size_t kLarge = 2048, kStep = 32;
  const std::uintptr_t apart = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  if (bytes < kLarge || apart % kStep == 0) {
    std::memcpy(to, from, bytes);
  } else {
    copy_by_lines(to, from, bytes, copy_lines_cached);
  }
}

// Fills with a byte, with non-temporal stores.
static inline void fill_nontemporal(void *to, int byte, std::size_t bytes) {
  char *target = static_cast<char *>(to);
  const std::size_t head = bytes_before_line(target, bytes);
  if (head != 0) std::memset(target, byte, head);
  const std::size_t done = head + fill_lines_nontemporal(target + head, byte, bytes - head);
  if (done != bytes) std::memset(target + done, byte, bytes - done);
}

static inline void nontemporal_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Writes consecutive floats from runs of values and of zeros.
class CachedSink {
 public:
  explicit CachedSink(float *to) : to_(to) {}
  void values(const float *from, std::int64_t count) {
    copy_row(to_, from, count);
    to_ += count;
  }
  void zeros(std::int64_t count) {
    clear_floats(to_, count);
    to_ += count;
  }
  void finish() {}

 private:
  float *to_;
};

// The same with non-temporal stores: a buffer of one cache line combines the ends of runs.
class NontemporalSink {
 public:
  explicit NontemporalSink(float *to)
      : used_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kCacheLine / sizeof(float))),
        skipped_(used_),
        to_(to - used_) {}

  void values(const float *from, std::int64_t count) {
    if (count < kLine) {
      copy_row(line() + used_, from, count);
      advance(count);
      return;
    }
    // The first and last values of the run are copied as whole lines; the last copy ends where the
    // run ends.
    copy_row(line() + used_, from, kLine);
    const std::int64_t head = kLine - used_;
    flush();
    to_ += copy_floats_nontemporal(from + head, count - head);
    used_ = (count - head) % kLine;
    copy_row(line() + used_ - kLine, from + count - kLine, kLine);
  }

  void zeros(std::int64_t count) {
    if (count == 0) return;
    clear_floats(line() + used_, kLine);
    if (used_ + count < kLine) {
      used_ += count;
      return;
    }
    const std::int64_t left = count - (kLine - used_);
    flush();
    const std::size_t bytes = static_cast<std::size_t>(left) * sizeof(float);
    to_ += fill_lines_nontemporal(reinterpret_cast<char *>(to_), 0, bytes) / sizeof(float);
    used_ = left % kLine;
    clear_floats(line(), kLine);
  }

  void finish() {
    copy_row(to_ + skipped_, line() + skipped_, used_ - skipped_);
    nontemporal_fence();
  }

 private:
  static constexpr std::int64_t kLine = kCacheLine / sizeof(float);

  float *line() { return buffer_ + kLine; }

  std::int64_t copy_floats_nontemporal(const float *from, std::int64_t count) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    const std::size_t done =
        copy_lines_nontemporal(reinterpret_cast<char *>(to_), reinterpret_cast<const char *>(from), bytes);
    return static_cast<std::int64_t>(done / sizeof(float));
  }

  void advance(std::int64_t count) {
    used_ += count;
    if (used_ < kLine) return;
    used_ -= kLine;
    flush();
    copy_row(line(), line() + kLine, kLine);
  }

  // Writes the line, except for floats at its start that belong to others.
  void flush() {
    if (skipped_ == 0) {
      copy_line_nontemporal(reinterpret_cast<char *>(to_), reinterpret_cast<const char *>(line()));
    } else {
      copy_row(to_ + skipped_, line() + skipped_, kLine - skipped_);
      skipped_ = 0;
    }
    to_ += kLine;
  }

  std::int64_t used_;
  std::int64_t skipped_;
  float *to_;  // target of the line
  // A copy of a whole line may write up to a line before and after the buffer's line.
  alignas(kCacheLine) float buffer_[3 * kLine];
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_NONTEMPORAL_H_
