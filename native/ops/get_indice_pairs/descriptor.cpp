#include "ops/get_indice_pairs/descriptor.h"

#include "core/check.h"
#include "core/exception_guard.h"

namespace mluops {
namespace {

const mluops::Pool<mluOpSparseConvolutionStruct>::AtLoad g_pool_at_load;

using DescriptorPool = Pool<mluOpSparseConvolutionStruct>;

// The status of a bad descriptor differs between the functions.
mluOpStatus_t need_sparse(mluOpStatus_t status, const char *function, mluOpSparseConvolutionDescriptor_t desc) {
  MLUOPS_REQUIRE(alive(desc), status, function, "desc", "a sparse convolution descriptor",
                 desc == nullptr ? "NULL" : "a destroyed descriptor or something else");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_axes(const char *function, const SparseGeometry &geometry) {
  for (int axis = 0; axis < kSpaceDims; ++axis) {
    MLUOPS_TRY(need_at_least(function, "pad", geometry.pad[axis], 0));
    MLUOPS_TRY(need_at_least(function, "stride", geometry.stride[axis], 1));
    MLUOPS_TRY(need_at_least(function, "dilation", geometry.dilation[axis], 1));
    MLUOPS_TRY(need_at_least(function, "input_space", geometry.input_space[axis], 1));
    MLUOPS_TRY(need_at_least(function, "filter_space", geometry.filter_space[axis], 1));
    MLUOPS_TRY(need_at_least(function, "output_space", geometry.output_space[axis], 1));
  }
  return MLUOP_STATUS_SUCCESS;
}

void copy_axes(int (&to)[kSpaceDims], const int *from) {
  for (int axis = 0; axis < kSpaceDims; ++axis) to[axis] = from[axis];
}

}  // namespace
}  // namespace mluops

using mluops::need_pointer;

mluOpStatus_t MLUOP_WIN_API mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t *desc) {
  constexpr const char *kFunction = "mluOpCreateSparseConvolutionDescriptor";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_REQUIRE(desc != nullptr, MLUOP_STATUS_NOT_INITIALIZED, kFunction, "desc", "a pointer", "NULL");
    return mluops::DescriptorPool::create(kFunction, desc);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc) {
  MLUOPS_REQUIRE(desc != nullptr, MLUOP_STATUS_EXECUTION_FAILED, __func__, "desc", "a sparse convolution descriptor",
                 "NULL");
  MLUOPS_TRY(mluops::need_sparse(MLUOP_STATUS_BAD_PARAM, __func__, desc));
  MLUOPS_REQUIRE(mluops::DescriptorPool::destroy(desc), MLUOP_STATUS_BAD_PARAM, __func__, "desc",
                 "a living sparse convolution descriptor", "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc, int dimNb,
                                                                int batch_size, const int pad[], const int stride[],
                                                                const int dilation[], const int input_space[],
                                                                const int filter_space[], const int output_space[],
                                                                const int sub_m, const int transpose,
                                                                const int inverse) {
  constexpr int kTensorDims = 5;  // batch, channels and space
  MLUOPS_TRY(mluops::need_sparse(MLUOP_STATUS_BAD_PARAM, __func__, desc));
  MLUOPS_TRY(need_pointer(__func__, "pad", pad));
  MLUOPS_TRY(need_pointer(__func__, "stride", stride));
  MLUOPS_TRY(need_pointer(__func__, "dilation", dilation));
  MLUOPS_TRY(need_pointer(__func__, "input_space", input_space));
  MLUOPS_TRY(need_pointer(__func__, "filter_space", filter_space));
  MLUOPS_TRY(need_pointer(__func__, "output_space", output_space));
  MLUOPS_TRY(mluops::need_between(__func__, "dimNb", dimNb, kTensorDims, kTensorDims));
  MLUOPS_TRY(mluops::need_at_least(__func__, "batch_size", batch_size, 1));
  MLUOPS_TRY(mluops::need_between(__func__, "transpose", transpose, 0, 0));
  MLUOPS_TRY(mluops::need_between(__func__, "inverse", inverse, 0, 0));
  mluops::SparseGeometry geometry = {};
  geometry.batch = batch_size;
  geometry.sub_m = sub_m;
  mluops::copy_axes(geometry.pad, pad);
  mluops::copy_axes(geometry.stride, stride);
  mluops::copy_axes(geometry.dilation, dilation);
  mluops::copy_axes(geometry.input_space, input_space);
  mluops::copy_axes(geometry.filter_space, filter_space);
  mluops::copy_axes(geometry.output_space, output_space);
  MLUOPS_TRY(mluops::check_axes(__func__, geometry));
  desc->geometry = geometry;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetSparseConvolutionNumActOut(mluOpSparseConvolutionDescriptor_t desc,
                                                               int *num_act_out) {
  MLUOPS_REQUIRE(desc != nullptr, MLUOP_STATUS_NOT_INITIALIZED, __func__, "desc", "a sparse convolution descriptor",
                 "NULL");
  MLUOPS_TRY(mluops::need_sparse(MLUOP_STATUS_BAD_PARAM, __func__, desc));
  MLUOPS_REQUIRE(num_act_out != nullptr, MLUOP_STATUS_NOT_INITIALIZED, __func__, "num_act_out", "a pointer", "NULL");
  *num_act_out = desc->num_act_out;
  return MLUOP_STATUS_SUCCESS;
}
