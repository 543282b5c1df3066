// Tensor descriptors created, set and destroyed by the group.
#include "core/check.h"
#include "core/exception_guard.h"
#include "core/tensor.h"

using mluops::need_pointer;
using mluops::Text;

namespace {

mluOpStatus_t need_group(const char *function, mluOpTensorDescriptor_t *group[], int count) {
  MLUOPS_TRY(need_pointer(function, "group_desc", group));
  MLUOPS_REQUIRE(count > 0, MLUOP_STATUS_BAD_PARAM, function, "desc_num", "at least 1", Text::format("%d", count));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_slots(const char *function, mluOpTensorDescriptor_t *group[], int count) {
  for (int i = 0; i < count; ++i) {
    MLUOPS_REQUIRE(group[i] != nullptr, MLUOP_STATUS_BAD_PARAM, function, "group_desc", "pointers to descriptors",
                   Text::format("NULL at position %d", i));
  }
  return MLUOP_STATUS_SUCCESS;
}

// Marks the descriptors, and returns the position of the first that the group names a second time,
// with no mark left then; -1 if there is none.
int mark_for_destruction(mluOpTensorDescriptor_t *group[], int count) {
  for (int i = 0; i < count; ++i) {
    if (!(*group[i])->leaving) {
      (*group[i])->leaving = true;
      continue;
    }
    for (int k = 0; k < i; ++k) (*group[k])->leaving = false;
    return i;
  }
  return -1;
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[],
                                                              const int desc_num) {
  constexpr const char *kFunction = "mluOpCreateGroupTensorDescriptors";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(need_group(kFunction, group_desc, desc_num));
    MLUOPS_TRY(need_slots(kFunction, group_desc, desc_num));
    for (int created = 0; created < desc_num; ++created) {
      const mluOpStatus_t status = mluops::Pool<mluOpTensorStruct>::create(kFunction, group_desc[created]);
      if (status == MLUOP_STATUS_SUCCESS) continue;
      while (created-- > 0) {
        mluops::Pool<mluOpTensorStruct>::destroy(*group_desc[created]);
        *group_desc[created] = nullptr;
      }
      return status;
    }
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[],
                                                           const mluOpTensorLayout_t group_layout[],
                                                           const mluOpDataType_t group_dtype[], const int group_dimNb[],
                                                           const int group_dimSize[], const int desc_num) {
  MLUOPS_TRY(need_group(__func__, group_desc, desc_num));
  MLUOPS_TRY(need_pointer(__func__, "group_layout", group_layout));
  MLUOPS_TRY(need_pointer(__func__, "group_dtype", group_dtype));
  MLUOPS_TRY(need_pointer(__func__, "group_dimNb", group_dimNb));
  MLUOPS_TRY(need_pointer(__func__, "group_dimSize", group_dimSize));
  MLUOPS_TRY(need_slots(__func__, group_desc, desc_num));
  // A rank tells where the dims of the next member begin, so a wrong one is refused before anything
  // is set.
  for (int i = 0; i < desc_num; ++i) {
    MLUOPS_REQUIRE(group_dimNb[i] >= 0 && group_dimNb[i] <= MLUOP_DIM_MAX, MLUOP_STATUS_BAD_PARAM, __func__,
                   "group_dimNb", "ranks from 0 to MLUOP_DIM_MAX",
                   Text::format("%d at position %d", group_dimNb[i], i));
  }
  const int *dims = group_dimSize;
  for (int i = 0; i < desc_num; ++i) {
    // The ABI does not report the status of a single set; a refused one leaves its descriptor alone
    // and gives a reason.
    mluops::set_tensor<int>(__func__, *group_desc[i], group_layout[i], group_dtype[i], group_dimNb[i], dims, nullptr);
    dims += group_dimNb[i];
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[],
                                                               const int desc_num) {
  MLUOPS_TRY(need_group(__func__, group_desc, desc_num));
  MLUOPS_TRY(need_slots(__func__, group_desc, desc_num));
  for (int i = 0; i < desc_num; ++i) {
    MLUOPS_TRY(mluops::need_descriptor(__func__, "group_desc", *group_desc[i]));
    MLUOPS_REQUIRE(!(*group_desc[i])->in_set, MLUOP_STATUS_BAD_PARAM, __func__, "group_desc",
                   "descriptors of the caller's own", Text::format("a member of a tensor set at position %d", i));
  }
  const int repeated = mark_for_destruction(group_desc, desc_num);
  MLUOPS_REQUIRE(repeated < 0, MLUOP_STATUS_BAD_PARAM, __func__, "group_desc", "each descriptor once",
                 Text::format("a second time at position %d", repeated));
  for (int i = 0; i < desc_num; ++i) mluops::Pool<mluOpTensorStruct>::destroy(*group_desc[i]);
  return MLUOP_STATUS_SUCCESS;
}
