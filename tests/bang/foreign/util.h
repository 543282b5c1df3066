// A header as operator libraries have it: for kernels and host code alike.
#ifndef UTIL_H_
#define UTIL_H_
#include <cstdint>
#include <string>
#if defined(__BANG__)
#include "bang.h"
#endif
#define CHECK(call) \
  do {              \
    call;           \
  } while (0)
#define REM_FOR_STACK (128 * 1024)
#ifdef __BANG_ARCH__
#define MAX_NRAM_SIZE (__MLU_NRAM_SIZE__ * 1024 - REM_FOR_STACK)
#else
#define MAX_NRAM_SIZE (384 * 1024)
#endif
#if defined(__BANG_ARCH__)
template <typename T>
__mlu_func__ static bool inline inRange(const T &value, T low, T high) {
  return value >= low && value < high;
}
#endif
struct Args {
  int n;
  float scale[4];
  const float *in;
};
typedef enum {
  MODE_ADD = 0,
  MODE_SUB
} Mode;
extern "C" void host_api(cnrtQueue_t queue, Args args, float *out);
#endif  // UTIL_H_
