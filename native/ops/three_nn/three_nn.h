// ThreeNN: for each unknown point the three nearest known points.
#ifndef MLUOPS_OPS_THREE_NN_THREE_NN_H_
#define MLUOPS_OPS_THREE_NN_THREE_NN_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

constexpr int kNearest = 3;

// dist2[b, n] holds the three smallest squared distances of unknown point n from known points,
// ascending; indices[b, n] holds the indices of these points, the lower first among equal
// distances. Distances that are not finite in the type of the points do not count. Missing
// neighbours have distance infinity and index 0. There may be no known point; every other extent is
// at least 1.
struct ThreeNNForwardProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t batches;
  std::int64_t unknowns;   // N
  std::int64_t knowns;     // M
  bool half;               // type of points and distances: half (held as 16 bits) or float
  bool is_double = false;  // double instead
  const void *unknown;     // [batches, unknowns, 3]
  const void *known;       // [batches, knowns, 3]
  void *dist2;             // [batches, unknowns, kNearest]
  std::int32_t *indices;   // [batches, unknowns, kNearest]
  // For stacked points: where the rows of each batch begin, and end; the extents above are then of
  // all batches. Indices are rows of all batches, and a missing neighbour has the first of its own.
  const std::int64_t *unknown_rows = nullptr;
  const std::int64_t *known_rows = nullptr;
};

mluOpStatus_t launch_three_nn_forward(mluOpHandle_t handle, const ThreeNNForwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_THREE_NN_THREE_NN_H_
