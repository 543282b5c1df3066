// Knn: for each of some places the k nearest points.
#ifndef MLUOPS_OPS_KNN_KNN_H_
#define MLUOPS_OPS_KNN_KNN_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// dist2[b, m] holds the k smallest squared distances of place m from the points, ascending;
// indices[b, m] holds the indices of these points, the lower first among equal distances. Distances
// that are not finite in the type of the points do not count. Missing neighbours have distance
// infinity and index 0. There may be no point; every other extent is at least 1.
struct KnnProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // half, float or double
  std::int64_t batches;
  std::int64_t points;   // N
  std::int64_t places;   // M
  std::int64_t nearest;  // k
  const void *xyz;       // points [batches, points, 3]
  const void *new_xyz;   // places [batches, places, 3]
  void *dist2;           // [batches, places, nearest]
  std::int32_t *indices;
};

mluOpStatus_t launch_knn(mluOpHandle_t handle, const KnnProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_KNN_KNN_H_
