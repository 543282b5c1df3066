// Inverses of the error function and of its complement, to double precision.
#ifndef MLUSIM_INTRINSICS_ERROR_FUNCTION_H_
#define MLUSIM_INTRINSICS_ERROR_FUNCTION_H_

namespace mlusim {

// NaN outside of -1 .. 1, infinite at its ends.
double erfinv(double x);

// NaN outside of 0 .. 2, infinite at its ends.
double erfcinv(double x);

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_ERROR_FUNCTION_H_
