// BANG C on the simulated device: what a kernel source finds declared.
//
// Sources are compiled once for each architecture, with __BANG_ARCH__ set. What an architecture lacks is not declared, so that
// using it is a compile error. The functions themselves are the same for all and live in the simulator's library.
#ifndef BANG_H_
#define BANG_H_

// Sources redefine sizeof and other words after this line, so the standard headers come first.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "mlusim_source.h"

#include "mlusim/types.h"

#include "mlusim/activation.h"
#include "mlusim/assembly.h"
#include "mlusim/atomic.h"
#include "mlusim/bits.h"
#include "mlusim/compare.h"
#include "mlusim/convert.h"
#include "mlusim/copy.h"
#include "mlusim/elementwise.h"
#include "mlusim/layout.h"
#include "mlusim/math.h"
#include "mlusim/matrix.h"
#include "mlusim/reduce.h"
#include "mlusim/registers.h"
#include "mlusim/scalar.h"
#include "mlusim/sync.h"

// In BANG C these take a half, which the C interface knows as 16 bits.
inline cnrtRet_t cnrtConvertHalfToFloat(float *result, half value) {
  std::uint16_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return cnrtConvertHalfToFloat(result, bits);
}
inline cnrtRet_t cnrtConvertFloatToHalf(half *result, float value) {
  std::uint16_t bits = 0;
  const cnrtRet_t error = cnrtConvertFloatToHalf(result == nullptr ? nullptr : &bits, value);
  if (error == cnrtSuccess) std::memcpy(result, &bits, sizeof bits);
  return error;
}

#include "mlusim/bytes.h"  // what stands before it uses the functions of the C library

// tools/intrinsics.py, which writes it, reads the other ones.
#ifndef MLUSIM_WITHOUT_LACKING
#include "mlusim/lacking.h"
#endif

#endif  // BANG_H_
