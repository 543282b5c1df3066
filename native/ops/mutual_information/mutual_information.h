// MutualInformation: log-probabilities of all monotonic alignments of two sequences, and their
// gradient.
#ifndef MLUOPS_OPS_MUTUAL_INFORMATION_MUTUAL_INFORMATION_H_
#define MLUOPS_OPS_MUTUAL_INFORMATION_MUTUAL_INFORMATION_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Each batch has a table of rows 0 to `rows` and columns 0 to `columns`. A region of it begins at
// [s_begin, t_begin] and ends at [s_end, t_end], which belongs to it; it is empty if an end lies
// before its begin. A region that does not lie in the table is refused before anything is written.
struct MutualInformationTables {
  std::int64_t batches;  // > 0
  std::int64_t rows;     // S
  std::int64_t columns;  // T
  bool is_double;        // type of the real arrays: float or double
  const void *px;        // [batches, rows, columns + 1]: of a step to the next row
  const void *py;        // [batches, rows + 1, columns]: of a step to the next column
  // [batches, 4]: s_begin, t_begin, s_end, t_end; NULL for whole tables
  const std::int64_t *boundary;
};

// p at the begin of a region is 0, and elsewhere the logarithm of the sum of what both steps bring.
struct MutualInformationForwardProblem {
  const char *function;  // of the entry point, for messages
  MutualInformationTables tables;
  void *p;    // [batches, rows + 1, columns + 1]; cells beside the region stay as they are
  void *ans;  // [batches]: p at the end of the region, 0 for an empty one
};

struct MutualInformationBackwardProblem {
  const char *function;
  MutualInformationTables tables;
  const void *p;   // [batches, rows + 1, columns + 1]
  void *ans_grad;  // [batches]
  bool overwrite;  // ans_grad gets what the gradient is at the begin of the region
  void *px_grad;   // like px, 0 beside the region
  void *py_grad;   // like py
};

mluOpStatus_t launch_mutual_information_forward(mluOpHandle_t handle, const MutualInformationForwardProblem &problem);
mluOpStatus_t launch_mutual_information_backward(mluOpHandle_t handle, const MutualInformationBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_MUTUAL_INFORMATION_MUTUAL_INFORMATION_H_
