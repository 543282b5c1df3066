// BANG C on the simulated device: the declarations for kernel sources.
//
// Sources are compiled once for each architecture, with __BANG_ARCH__ set. A function that an
// architecture lacks is not declared, so a call of it is a compile error. The functions themselves
// are in the simulator's library and the same for all architectures.
#ifndef BANG_H_
#define BANG_H_

// Include the standard headers first: sources may redefine sizeof and other words after this line.
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

// In BANG C these functions take a half; the C interface declares 16 bits.
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

// tools/intrinsics.py writes this header, and leaves it out when it reads the others.
#ifndef MLUSIM_WITHOUT_LACKING
#include "mlusim/lacking.h"
#endif

#endif  // BANG_H_
