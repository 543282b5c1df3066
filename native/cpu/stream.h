// Writing results that are too large to stay in the caches past them.
#ifndef MLUOPS_CPU_STREAM_H_
#define MLUOPS_CPU_STREAM_H_

#include "cpu/cache.h"
#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Copies past the caches, for results too large to stay in them. finish_stream() makes the copies of this thread visible.
static inline void stream_bytes(void *to, const void *from, std::size_t bytes) {
#if defined(__x86_64__)
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  const std::size_t head =
      smaller(bytes, (kCacheLine - reinterpret_cast<std::uintptr_t>(target) % kCacheLine) % kCacheLine);
  std::memcpy(target, source, head);
  std::size_t done = head;
  for (; done + kCacheLine <= bytes; done += kCacheLine) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(target + done), _mm512_loadu_si512(source + done));
#elif defined(__AVX2__)
    for (std::size_t i = 0; i < kCacheLine; i += sizeof(__m256i)) {
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(source + done + i));
      _mm256_stream_si256(reinterpret_cast<__m256i *>(target + done + i), value);
    }
#else
    for (std::size_t i = 0; i < kCacheLine; i += sizeof(__m128i)) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i *>(source + done + i));
      _mm_stream_si128(reinterpret_cast<__m128i *>(target + done + i), value);
    }
#endif
  }
  std::memcpy(target + done, source + done, bytes - done);
#else
  std::memcpy(to, from, bytes);
#endif
}

static inline void finish_stream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Floats that are written to memory one behind another, from runs of values and of zeros.
class DirectSink {
 public:
  explicit DirectSink(float *to) : to_(to) {}
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

// The same past the caches. The buffer stands for a stretch of memory that starts at a cache line.
class StreamSink {
 public:
  explicit StreamSink(float *to)
      : skipped_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kCacheLine / sizeof(float))),
        used_(skipped_),
        base_(to - skipped_) {}

  void values(const float *from, std::int64_t count) {
    while (count > 0) {
      const std::int64_t now = smaller(count, kRoom - used_);
      copy_row(buffer_ + used_, from, now);
      from += now;
      count -= now;
      advance(now);
    }
  }

  void zeros(std::int64_t count) {
    while (count > 0) {
      const std::int64_t now = smaller(count, kRoom - used_);
      clear_floats(buffer_ + used_, now);
      count -= now;
      advance(now);
    }
  }

  void finish() {
    flush();
    finish_stream();
  }

 private:
  static constexpr std::int64_t kRoom = 2048;

  void advance(std::int64_t count) {
    used_ += count;
    if (used_ == kRoom) flush();
  }

  void flush() {
    stream_bytes(base_ + skipped_, buffer_ + skipped_, static_cast<std::size_t>(used_ - skipped_) * sizeof(float));
    base_ += used_;
    skipped_ = used_ = 0;
  }

  std::int64_t skipped_;  // floats at the start of the buffer that are not ours
  std::int64_t used_;
  float *base_;
  alignas(kCacheLine) float buffer_[kRoom];
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_STREAM_H_
