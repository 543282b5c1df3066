// The tensor set descriptor: an array of tensor descriptors addressed by a multi-dimensional index.
#include <limits>
#include <memory>

#include "core/array.h"
#include "core/check.h"
#include "core/exception_guard.h"
#include "core/tensor.h"

struct mluOpTensorSetStruct {
  static constexpr std::uint32_t kMagic = 0x4d4c5553u;  // "MLUS"

  mluops::ObjectHeader header;
  mluops::Array<int> dims;
  mluops::Array<mluOpTensorDescriptor_t> members;

  void release() {
    for (mluOpTensorDescriptor_t member : members) mluops::Pool<mluOpTensorStruct>::destroy(member);
    dims = {};
    members = {};
  }
};

using mluops::guarded;
using mluops::need_pointer;
using mluops::Text;
using SetPool = mluops::Pool<mluOpTensorSetStruct>;

namespace {

const mluops::Pool<mluOpTensorSetStruct>::AtLoad g_pool_at_load;

mluOpStatus_t need_set(const char *function, mluOpTensorSetDescriptor_t set) {
  MLUOPS_REQUIRE(mluops::alive(set), MLUOP_STATUS_BAD_PARAM, function, "tensorSetDesc", "a tensor set descriptor",
                 set == nullptr ? "NULL" : "a destroyed descriptor or something else");
  return MLUOP_STATUS_SUCCESS;
}

// A limit, so that a call cannot use up the memory.
constexpr std::int64_t kMostMembers = 1 << 20;

// Returns the number of members for `dims`.
mluOpStatus_t count_members(const char *function, int rank, const int *dims, std::int64_t *count) {
  MLUOPS_REQUIRE(rank > 0, MLUOP_STATUS_BAD_PARAM, function, "setDimNb", "at least 1", Text::format("%d", rank));
  MLUOPS_TRY(need_pointer(function, "setDimSize", dims));
  *count = 1;
  for (int i = 0; i < rank; ++i) {
    MLUOPS_REQUIRE(dims[i] > 0, MLUOP_STATUS_BAD_PARAM, function, "setDimSize", "dims of at least 1",
                   Text::format("%d at position %d", dims[i], i));
    *count *= dims[i];
    MLUOPS_REQUIRE(*count <= kMostMembers, MLUOP_STATUS_BAD_PARAM, function, "setDimSize", "at most 2^20 members",
                   "dims whose product is larger");
  }
  return MLUOP_STATUS_SUCCESS;
}

// Finds the position of the member at `index`.
mluOpStatus_t find_member(const char *function, mluOpTensorSetDescriptor_t set, int rank, const int *index,
                          std::size_t *position) {
  MLUOPS_TRY(need_set(function, set));
  MLUOPS_REQUIRE(rank == static_cast<int>(set->dims.size()), MLUOP_STATUS_BAD_PARAM, function, "setDimNb",
                 Text::format("%d as when the set was created", static_cast<int>(set->dims.size())),
                 Text::format("%d", rank));
  MLUOPS_TRY(need_pointer(function, "tensorIndex", index));
  *position = 0;
  for (std::size_t i = 0; i < set->dims.size(); ++i) {
    MLUOPS_REQUIRE(index[i] >= 0 && index[i] < set->dims[i], MLUOP_STATUS_BAD_PARAM, function, "tensorIndex",
                   Text::format("0 to %d at position %zu", set->dims[i] - 1, i), Text::format("%d", index[i]));
    *position = *position * static_cast<std::size_t>(set->dims[i]) + static_cast<std::size_t>(index[i]);
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorSetDescriptor(mluOpTensorSetDescriptor_t *tensorSetDesc,
                                                           const int setDimNb, const int setDimSize[]) {
  constexpr const char *kFunction = "mluOpCreateTensorSetDescriptor";
  return guarded(kFunction, [&] {
    std::int64_t count = 0;
    MLUOPS_TRY(need_pointer(kFunction, "tensorSetDesc", tensorSetDesc));
    MLUOPS_TRY(count_members(kFunction, setDimNb, setDimSize, &count));
    struct Destroy {
      void operator()(mluOpTensorSetDescriptor_t set) const { SetPool::destroy(set); }
    };
    std::unique_ptr<mluOpTensorSetStruct, Destroy> set(SetPool::create());
    if (set == nullptr || !set->dims.copy(setDimSize, static_cast<std::size_t>(setDimNb)) ||
        !set->members.make(static_cast<std::size_t>(count))) {
      return mluops::out_of_memory(kFunction);
    }
    for (mluOpTensorDescriptor_t &member : set->members) {
      MLUOPS_TRY(mluops::Pool<mluOpTensorStruct>::create(kFunction, &member));
      member->in_set = true;
    }
    *tensorSetDesc = set.release();
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc, int *setDimNb,
                                                        int setDimSize[]) {
  MLUOPS_TRY(need_set(__func__, tensorSetDesc));
  if (setDimNb != nullptr) *setDimNb = static_cast<int>(tensorSetDesc->dims.size());
  if (setDimSize != nullptr) {
    for (std::size_t i = 0; i < tensorSetDesc->dims.size(); ++i) setDimSize[i] = tensorSetDesc->dims[i];
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc) {
  MLUOPS_TRY(need_set(__func__, tensorSetDesc));
  MLUOPS_REQUIRE(SetPool::destroy(tensorSetDesc), MLUOP_STATUS_BAD_PARAM, __func__, "tensorSetDesc",
                 "a living tensor set descriptor", "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                               const int setDimNb, const int tensorIndex[],
                                                               mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                                                               const int dimNb, const int dimSize[]) {
  std::size_t position = 0;
  MLUOPS_TRY(find_member(__func__, tensorSetDesc, setDimNb, tensorIndex, &position));
  return mluops::set_tensor<int>(__func__, tensorSetDesc->members[position], layout, dtype, dimNb, dimSize, nullptr);
}

mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptorPositionAndScale(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                                               const int setDimNb,
                                                                               const int tensorIndex[],
                                                                               const int position, const float scale) {
  std::size_t member = 0;
  MLUOPS_TRY(find_member(__func__, tensorSetDesc, setDimNb, tensorIndex, &member));
  return mluOpSetTensorDescriptorPositionAndScale(tensorSetDesc->members[member], position, scale);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptorSize(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                            int *sizeInBytes) {
  MLUOPS_TRY(need_set(__func__, tensorSetDesc));
  MLUOPS_TRY(need_pointer(__func__, "sizeInBytes", sizeInBytes));
  std::int64_t total = 0;
  bool overflow = false;
  for (mluOpTensorDescriptor_t member : tensorSetDesc->members) {
    overflow |= __builtin_add_overflow(total, member->bytes(), &total);
  }
  MLUOPS_REQUIRE(!overflow && total <= std::numeric_limits<int>::max(), MLUOP_STATUS_BAD_PARAM, __func__,
                 "tensorSetDesc", "members of fewer than 2^31 bytes together",
                 Text::format("%lld bytes", static_cast<long long>(total)));
  *sizeInBytes = static_cast<int>(total);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorAndDataFromTensorSet(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                               const int setDimNb, const int tensorIndex[], void *data,
                                                               mluOpTensorDescriptor_t *tensorDesc,
                                                               void **dataAddrInDevice) {
  std::size_t position = 0;
  MLUOPS_TRY(find_member(__func__, tensorSetDesc, setDimNb, tensorIndex, &position));
  MLUOPS_TRY(need_pointer(__func__, "data", data));
  MLUOPS_TRY(need_pointer(__func__, "tensorDesc", tensorDesc));
  MLUOPS_TRY(need_pointer(__func__, "dataAddrInDevice", dataAddrInDevice));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < position; ++i) {
    MLUOPS_REQUIRE(!__builtin_add_overflow(offset, tensorSetDesc->members[i]->bytes(), &offset), MLUOP_STATUS_BAD_PARAM,
                   __func__, "tensorSetDesc", "members of fewer than 2^63 bytes together", "more");
  }
  *tensorDesc = tensorSetDesc->members[position];
  *dataAddrInDevice = static_cast<char *>(data) + offset;
  return MLUOP_STATUS_SUCCESS;
}
