#include "ops/ingroup_indices/ingroup_indices.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/ingroup_indices.h"

namespace mluops {
namespace {

mluOpStatus_t ingroup_indices(const char *function, mluOpHandle_t handle, const TensorArgument &groups,
                              const TensorArgument &ranks) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {groups, ranks}));
  for (const TensorArgument &tensor : {groups, ranks}) MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_rank(function, groups, 1, "[N]"));
  MLUOPS_TRY(need_rank(function, ranks, 1, "[N]"));
  MLUOPS_TRY(need_packed(function, {groups, ranks}));
  MLUOPS_TRY(need_same_dim(function, ranks, 0, groups, 0));
  MLUOPS_TRY(need_indexable(function, {groups, ranks}));
  for (const TensorArgument &tensor : {groups, ranks}) MLUOPS_TRY(need_elements(function, tensor));
  MLUOPS_TRY(need_data(function, {groups, ranks}));
  MLUOPS_TRY(require_no_overlap(function, {ranks}, {groups}));
  const IngroupIndicesProblem problem{function, groups.desc->dims[0], static_cast<const std::int32_t *>(groups.data),
                                      static_cast<std::int32_t *>(const_cast<void *>(ranks.data))};
  return launch_ingroup_indices(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtIngroupIndices(mluOpHandle_t handle, const mluOpTensorDescriptor_t groups_desc,
                                                    const void *groups, const mluOpTensorDescriptor_t ranks_desc,
                                                    void *ranks) {
  constexpr const char *kFunction = "mluopsExtIngroupIndices";
  return mluops::guarded(kFunction, [&] {
    return mluops::ingroup_indices(kFunction, handle, {"groups", groups_desc, groups}, {"ranks", ranks_desc, ranks});
  });
}
