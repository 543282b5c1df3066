// Functions of the C library in kernels, by the names that mlusim/seen.h gives them: they tell the
// checkers what they read and write through pointers.
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "machine/format.h"
#include "machine/hooks.h"
#include "machine/launch.h"
#include "mlusim.h"

#define MLUSIM_PC __builtin_return_address(0)

namespace mlusim {
namespace {

// Reads a byte of a text for the kernel.
unsigned char byte_at(const char *text, const void *pc) {
  announce(text, 1, Kind::kRead, pc);
  return static_cast<unsigned char>(*text);
}

int compare(const char *a, const char *b, std::size_t most, const void *pc) {
  for (std::size_t i = 0; i < most; ++i) {
    const int left = byte_at(a + i, pc), right = byte_at(b + i, pc);
    if (left != right || left == 0) return left - right;
  }
  return 0;
}

// Printed text appears at once, also if the kernel ends the process later.
int flushed(int result) {
  if (current_core() != nullptr) std::fflush(stdout);
  return result;
}

int print(const char *format, va_list values, const void *pc) {
  if (current_core() != nullptr) announce_format(format, values, pc);
  return flushed(std::vprintf(format, values));
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

extern "C" {

// ---- Bytes and texts ----------------------------------------------------------------------------

MLUSIM_API int mlusim_seen_memcmp(const void *a, const void *b, std::size_t bytes) {
  announce(a, bytes, Kind::kRead, MLUSIM_PC);
  announce(b, bytes, Kind::kRead, MLUSIM_PC);
  return std::memcmp(a, b, bytes);
}

MLUSIM_API const void *mlusim_seen_memchr(const void *text, int value, std::size_t bytes) {
  // The function may be told of more bytes than there are, if the value comes before.
  const auto *const first = static_cast<const char *>(text);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (byte_at(first + i, MLUSIM_PC) == static_cast<unsigned char>(value)) return first + i;
  }
  return nullptr;
}

MLUSIM_API std::size_t mlusim_seen_strlen(const char *text) {
  std::size_t length = 0;
  while (byte_at(text + length, MLUSIM_PC) != 0) ++length;
  return length;
}

MLUSIM_API int mlusim_seen_strcmp(const char *a, const char *b) {
  return compare(a, b, static_cast<std::size_t>(-1), MLUSIM_PC);
}

MLUSIM_API int mlusim_seen_strncmp(const char *a, const char *b, std::size_t most) {
  return compare(a, b, most, MLUSIM_PC);
}

// ---- Mathematics with results behind pointers ---------------------------------------------------

#define MLUSIM_WITH_RESULT(suffix, T)                              \
  MLUSIM_API T mlusim_frexp##suffix(T value, int *exponent) {      \
    announce(exponent, sizeof *exponent, Kind::kWrite, MLUSIM_PC); \
    return std::frexp(value, exponent);                            \
  }                                                                \
  MLUSIM_API T mlusim_modf##suffix(T value, T *whole) {            \
    announce(whole, sizeof *whole, Kind::kWrite, MLUSIM_PC);       \
    return std::modf(value, whole);                                \
  }                                                                \
  MLUSIM_API T mlusim_remquo##suffix(T x, T y, int *quotient) {    \
    announce(quotient, sizeof *quotient, Kind::kWrite, MLUSIM_PC); \
    return std::remquo(x, y, quotient);                            \
  }                                                                \
  MLUSIM_API void mlusim_sincos##suffix(T x, T *sine, T *cosine) { \
    announce(sine, sizeof *sine, Kind::kWrite, MLUSIM_PC);         \
    *sine = std::sin(x);                                           \
    announce(cosine, sizeof *cosine, Kind::kWrite, MLUSIM_PC);     \
    *cosine = std::cos(x);                                         \
  }
MLUSIM_WITH_RESULT(, double)
MLUSIM_WITH_RESULT(f, float)
MLUSIM_WITH_RESULT(l, long double)

// ---- Printed text -------------------------------------------------------------------------------

MLUSIM_API int mlusim_printf(const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int length = print(format, values, MLUSIM_PC);
  va_end(values);
  return length;
}

MLUSIM_API int mlusim_printf_chk(int, const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int length = print(format, values, MLUSIM_PC);
  va_end(values);
  return length;
}

MLUSIM_API int mlusim_vprintf(const char *format, va_list values) { return print(format, values, MLUSIM_PC); }
MLUSIM_API int mlusim_vprintf_chk(int, const char *format, va_list values) { return print(format, values, MLUSIM_PC); }

MLUSIM_API int mlusim_puts(const char *text) {
  announce_text(text, static_cast<std::size_t>(-1), 1, MLUSIM_PC);
  return flushed(std::puts(text));
}

MLUSIM_API int mlusim_putchar(int letter) { return flushed(std::putchar(letter)); }

}  // extern "C"
