#include "ops/knn/knn.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/knn.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument xyz;
  TensorArgument new_xyz;
  TensorArgument dist2;
  TensorArgument idx;
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.xyz, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.new_xyz, 3, "[B, M, 3]"));
  MLUOPS_TRY(need_rank(entry, t.dist2, 3, "[B, M, k]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 3, "[B, M, k]"));
  for (const TensorArgument &tensor : {t.new_xyz, t.dist2, t.idx})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.xyz, 0));
  for (const TensorArgument &tensor : {t.dist2, t.idx}) MLUOPS_TRY(need_same_dim(entry, tensor, 1, t.new_xyz, 1));
  for (const TensorArgument &tensor : {t.xyz, t.new_xyz})
    MLUOPS_TRY(need_dim(entry, tensor, 2, "number of coordinates", 3));
  return need_same_dim(entry, t.idx, 2, t.dist2, 2);
}

mluOpStatus_t check(const Entry &entry, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.xyz, t.new_xyz, t.dist2, t.idx}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_packed(entry, {t.xyz, t.new_xyz, t.dist2, t.idx}));
  MLUOPS_TRY(need_real(entry, t.xyz));
  MLUOPS_TRY(need_same_dtype(entry, t.new_xyz, t.xyz));
  MLUOPS_TRY(need_same_dtype(entry, t.dist2, t.xyz));
  MLUOPS_TRY(need_dtype(entry, t.idx, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.new_xyz));
  MLUOPS_TRY(need_elements(entry, t.dist2));
  MLUOPS_TRY(need_indexable(entry, {t.xyz, t.new_xyz, t.dist2, t.idx}));
  if (t.xyz.desc->count > 0) MLUOPS_TRY(need_data(entry, {t.xyz}));
  MLUOPS_TRY(need_data(entry, {t.new_xyz, t.dist2, t.idx}));
  return require_no_overlap(entry, {t.dist2, t.idx}, {t.xyz, t.new_xyz});
}

mluOpStatus_t knn(const Entry &entry, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(check(entry, handle, t));
  KnnProblem problem;
  problem.function = entry.function;
  problem.type = t.xyz.desc->dtype;
  problem.batches = t.xyz.desc->dims[0];
  problem.points = t.xyz.desc->dims[1];
  problem.places = t.new_xyz.desc->dims[1];
  problem.nearest = t.dist2.desc->dims[2];
  problem.xyz = t.xyz.data;
  problem.new_xyz = t.new_xyz.data;
  problem.dist2 = const_cast<void *>(t.dist2.data);
  problem.indices = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  return launch_knn(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtKnn(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
                                         const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
                                         const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                         const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtKnn", [&] {
    return mluops::knn({"mluopsExtKnn"}, handle,
                       {{"xyz", xyz_desc, xyz},
                        {"new_xyz", new_xyz_desc, new_xyz},
                        {"dist2", dist2_desc, dist2},
                        {"idx", idx_desc, idx}});
  });
}
