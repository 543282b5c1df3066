// Keeps the error text of this thread, which mlusimGetLastError() returns.
#ifndef MLUSIM_BASE_EXPLAIN_H_
#define MLUSIM_BASE_EXPLAIN_H_

#include "cnrt.h"

namespace mlusim {

// Keeps a sentence about an error on this thread; longer texts are cut. Returns `error`.
cnrtRet_t explain(cnrtRet_t error, const char *pattern, ...) __attribute__((format(printf, 2, 3)));
const char *explanation();

cnrtRet_t refuse_null(const char *function, const char *argument);

}  // namespace mlusim

#endif  // MLUSIM_BASE_EXPLAIN_H_
