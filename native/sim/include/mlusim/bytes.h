// Copies, fills and comparisons of bytes in kernels by the names of the C library; see
// mlusim/seen.h.
#ifndef MLUSIM_BYTES_H_
#define MLUSIM_BYTES_H_

#include <cstring>

#include "mlusim/seen.h"

namespace std {
using ::mlusim_memchr;
using ::mlusim_memcmp;
using ::mlusim_memcpy;
using ::mlusim_memmove;
using ::mlusim_memset;
using ::mlusim_strcmp;
using ::mlusim_strlen;
using ::mlusim_strncmp;
}  // namespace std

// Macros with arguments, so that the names alone still mean the functions of the C library.
#define memcpy(...) mlusim_memcpy(__VA_ARGS__)
#define memmove(...) mlusim_memmove(__VA_ARGS__)
#define memset(...) mlusim_memset(__VA_ARGS__)
#define memcmp(...) mlusim_memcmp(__VA_ARGS__)
#define strcmp(...) mlusim_strcmp(__VA_ARGS__)
#define strncmp(...) mlusim_strncmp(__VA_ARGS__)
#define strlen(...) mlusim_strlen(__VA_ARGS__)

#endif  // MLUSIM_BYTES_H_
