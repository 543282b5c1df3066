// Rows of stacked tensors: those of all batches stand one after another.
#ifndef MLUOPS_CORE_BATCH_ROWS_H_
#define MLUOPS_CORE_BATCH_ROWS_H_

#include "core/array.h"
#include "core/check.h"

namespace mluops {

// Reads how many rows each batch has. rows->begin()[b] becomes the first row of batch b; one more
// number is that behind the last row. A negative number counts as 0, rows that `stacked` does not
// have are none, and rows behind those of all batches belong to the last one.
mluOpStatus_t read_batch_rows(const char *function, const TensorArgument &counts, const TensorArgument &stacked,
                              Array<std::int64_t> *rows);

}  // namespace mluops

#endif  // MLUOPS_CORE_BATCH_ROWS_H_
