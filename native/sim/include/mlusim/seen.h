// Functions of the C library that read or write memory, in forms that tell the checkers of it. The
// instrumentation of kernels covers loads and stores, and with Clang also copies and fills, but not
// what a function of a library does. Headers of the C++ library call these functions by the names
// of the compiler, which are macros here, so include this before all other headers.
#ifndef MLUSIM_SEEN_H_
#define MLUSIM_SEEN_H_

#define MLUSIM_SEEN __attribute__((visibility("default")))
#define MLUSIM_SEEN_INLINE __attribute__((always_inline, unused)) inline

extern "C" {
MLUSIM_SEEN void *mlusim_seen_memcpy(void *target, const void *source, __SIZE_TYPE__ bytes) __asm__("__tsan_memcpy");
MLUSIM_SEEN void *mlusim_seen_memmove(void *target, const void *source, __SIZE_TYPE__ bytes) __asm__("__tsan_memmove");
MLUSIM_SEEN void *mlusim_seen_memset(void *target, int value, __SIZE_TYPE__ bytes) __asm__("__tsan_memset");
MLUSIM_SEEN int mlusim_seen_memcmp(const void *a, const void *b, __SIZE_TYPE__ bytes);
MLUSIM_SEEN const void *mlusim_seen_memchr(const void *text, int value, __SIZE_TYPE__ bytes);
MLUSIM_SEEN __SIZE_TYPE__ mlusim_seen_strlen(const char *text);
MLUSIM_SEEN int mlusim_seen_strcmp(const char *a, const char *b);
MLUSIM_SEEN int mlusim_seen_strncmp(const char *a, const char *b, __SIZE_TYPE__ bytes);

// Calls of these get other names, so that the library of the simulator sees what they read and
// write.
double frexp(double, int *) noexcept __asm__("mlusim_frexp");
float frexpf(float, int *) noexcept __asm__("mlusim_frexpf");
long double frexpl(long double, int *) noexcept __asm__("mlusim_frexpl");
double modf(double, double *) noexcept __asm__("mlusim_modf");
float modff(float, float *) noexcept __asm__("mlusim_modff");
long double modfl(long double, long double *) noexcept __asm__("mlusim_modfl");
double remquo(double, double, int *) noexcept __asm__("mlusim_remquo");
float remquof(float, float, int *) noexcept __asm__("mlusim_remquof");
long double remquol(long double, long double, int *) noexcept __asm__("mlusim_remquol");
void sincos(double, double *, double *) noexcept __asm__("mlusim_sincos");
void sincosf(float, float *, float *) noexcept __asm__("mlusim_sincosf");
void sincosl(long double, long double *, long double *) noexcept __asm__("mlusim_sincosl");
int printf(const char *, ...) __asm__("mlusim_printf");
int __printf_chk(int, const char *, ...) __asm__("mlusim_printf_chk");
int __vprintf_chk(int, const char *, __builtin_va_list) __asm__("mlusim_vprintf_chk");
int puts(const char *) __asm__("mlusim_puts");
#ifndef __USE_EXTERN_INLINES  // else the C library may have defined them
int vprintf(const char *, __builtin_va_list) __asm__("mlusim_vprintf");
int putchar(int) __asm__("mlusim_putchar");
#endif

// In a constant expression the compiler computes them. What it makes a number of, or a load and a
// store of one, the instrumentation covers, and so it covers copies and fills of Clang.
#ifdef __clang__
#define MLUSIM_IS_COVERED(bytes) true
#else
#define MLUSIM_IS_COVERED(bytes) __builtin_is_constant_evaluated()
#endif
#if defined(__OPTIMIZE__) && !defined(__clang__)
#define MLUSIM_IS_NUMBER(bytes) (__builtin_constant_p(bytes) && bytes != 0 && bytes <= 8 && (bytes & (bytes - 1)) == 0)
#else
#define MLUSIM_IS_NUMBER(bytes) false
#endif
#ifdef __OPTIMIZE__
#define MLUSIM_IS_LITERAL(text) __builtin_constant_p(__builtin_strlen(text))
#else
#define MLUSIM_IS_LITERAL(text) false
#endif
MLUSIM_SEEN_INLINE constexpr void *mlusim_memcpy(void *target, const void *source, __SIZE_TYPE__ bytes) {
  return MLUSIM_IS_COVERED(bytes) || MLUSIM_IS_NUMBER(bytes) ? __builtin_memcpy(target, source, bytes)
                                                             : mlusim_seen_memcpy(target, source, bytes);
}
MLUSIM_SEEN_INLINE constexpr void *mlusim_memmove(void *target, const void *source, __SIZE_TYPE__ bytes) {
  return MLUSIM_IS_COVERED(bytes) ? __builtin_memmove(target, source, bytes)
                                  : mlusim_seen_memmove(target, source, bytes);
}
#ifndef __clang__
constexpr
#endif
    MLUSIM_SEEN_INLINE void *mlusim_memset(void *target, int value, __SIZE_TYPE__ bytes) {
  return MLUSIM_IS_COVERED(bytes) ? __builtin_memset(target, value, bytes) : mlusim_seen_memset(target, value, bytes);
}
MLUSIM_SEEN_INLINE void *mlusim_mempcpy(void *target, const void *source, __SIZE_TYPE__ bytes) {
  return static_cast<char *>(mlusim_memcpy(target, source, bytes)) + bytes;
}
MLUSIM_SEEN_INLINE void mlusim_bcopy(const void *source, void *target, __SIZE_TYPE__ bytes) {
  mlusim_memmove(target, source, bytes);
}
MLUSIM_SEEN_INLINE void mlusim_bzero(void *target, __SIZE_TYPE__ bytes) { mlusim_memset(target, 0, bytes); }
MLUSIM_SEEN_INLINE constexpr int mlusim_memcmp(const void *a, const void *b, __SIZE_TYPE__ bytes) {
  return __builtin_is_constant_evaluated() ? __builtin_memcmp(a, b, bytes) : mlusim_seen_memcmp(a, b, bytes);
}
MLUSIM_SEEN_INLINE constexpr void *mlusim_memchr(const void *text, int value, __SIZE_TYPE__ bytes) {
  return const_cast<void *>(__builtin_is_constant_evaluated() ? __builtin_memchr(text, value, bytes)
                                                              : mlusim_seen_memchr(text, value, bytes));
}
MLUSIM_SEEN_INLINE constexpr __SIZE_TYPE__ mlusim_strlen(const char *text) {
  return __builtin_is_constant_evaluated() || MLUSIM_IS_LITERAL(text) ? __builtin_strlen(text)
                                                                      : mlusim_seen_strlen(text);
}
MLUSIM_SEEN_INLINE constexpr int mlusim_strcmp(const char *a, const char *b) {
  return __builtin_is_constant_evaluated() ? __builtin_strcmp(a, b) : mlusim_seen_strcmp(a, b);
}
MLUSIM_SEEN_INLINE constexpr int mlusim_strncmp(const char *a, const char *b, __SIZE_TYPE__ bytes) {
  return __builtin_is_constant_evaluated() ? __builtin_strncmp(a, b, bytes) : mlusim_seen_strncmp(a, b, bytes);
}
}

#undef MLUSIM_IS_LITERAL
#undef MLUSIM_IS_NUMBER
#undef MLUSIM_IS_COVERED
#undef MLUSIM_SEEN_INLINE
#undef MLUSIM_SEEN

#ifndef __clang__
#define __builtin_memcpy(...) mlusim_memcpy(__VA_ARGS__)
#define __builtin_memmove(...) mlusim_memmove(__VA_ARGS__)
#define __builtin_memset(...) mlusim_memset(__VA_ARGS__)
#endif
#define __builtin_mempcpy(...) mlusim_mempcpy(__VA_ARGS__)
#define __builtin_bcopy(...) mlusim_bcopy(__VA_ARGS__)
#define __builtin_bzero(...) mlusim_bzero(__VA_ARGS__)
#define __builtin_memcmp(...) mlusim_memcmp(__VA_ARGS__)
#define __builtin_bcmp(...) mlusim_memcmp(__VA_ARGS__)
#define __builtin_memchr(...) mlusim_memchr(__VA_ARGS__)
#define __builtin_strlen(...) mlusim_strlen(__VA_ARGS__)
#define __builtin_strcmp(...) mlusim_strcmp(__VA_ARGS__)
#define __builtin_strncmp(...) mlusim_strncmp(__VA_ARGS__)
// The last operand is the size of the object, which the checkers know better.
#define __builtin___memcpy_chk(target, source, bytes, ...) mlusim_memcpy(target, source, bytes)
#define __builtin___memmove_chk(target, source, bytes, ...) mlusim_memmove(target, source, bytes)
#define __builtin___memset_chk(target, value, bytes, ...) mlusim_memset(target, value, bytes)
#define __builtin___mempcpy_chk(target, source, bytes, ...) mlusim_mempcpy(target, source, bytes)
#define __builtin_frexp(...) ::frexp(__VA_ARGS__)
#define __builtin_frexpf(...) ::frexpf(__VA_ARGS__)
#define __builtin_frexpl(...) ::frexpl(__VA_ARGS__)
#define __builtin_modf(...) ::modf(__VA_ARGS__)
#define __builtin_modff(...) ::modff(__VA_ARGS__)
#define __builtin_modfl(...) ::modfl(__VA_ARGS__)
#define __builtin_remquo(...) ::remquo(__VA_ARGS__)
#define __builtin_remquof(...) ::remquof(__VA_ARGS__)
#define __builtin_remquol(...) ::remquol(__VA_ARGS__)
#define __builtin_sincos(...) ::sincos(__VA_ARGS__)
#define __builtin_sincosf(...) ::sincosf(__VA_ARGS__)
#define __builtin_sincosl(...) ::sincosl(__VA_ARGS__)
#define __builtin_printf(...) ::printf(__VA_ARGS__)
#define __builtin_vprintf(...) ::vprintf(__VA_ARGS__)
#define __builtin_puts(...) ::puts(__VA_ARGS__)
#define __builtin_putchar(...) ::putchar(__VA_ARGS__)

#endif  // MLUSIM_SEEN_H_
