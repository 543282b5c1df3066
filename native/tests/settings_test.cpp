// Settings descriptors: what operators read from them, and that a refused setter keeps all values.
#include "core/settings.h"

#include <cmath>
#include <limits>
#include <string>

#include "cases/switches.h"
#include "objects.h"

using namespace objects;

namespace {

// A descriptor that is destroyed at the end.
template <typename Struct>
class Object {
 public:
  Object(mluOpStatus_t create(Struct **), mluOpStatus_t destroy(Struct *)) : destroy_(destroy) {
    CHECK_EQ(create(&object_), MLUOP_STATUS_SUCCESS);
  }
  ~Object() {
    CHECK_EQ(destroy_(object_), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(destroy_(object_), MLUOP_STATUS_BAD_PARAM);
    typename Struct::Settings settings;
    CHECK_EQ(read(&settings), MLUOP_STATUS_BAD_PARAM);
  }
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  operator Struct *() const { return object_; }
  mluOpStatus_t read(typename Struct::Settings *settings) const {
    return mluops::read_settings("test", "desc", object_, settings);
  }
  typename Struct::Settings values() const {
    typename Struct::Settings settings = {};
    CHECK_EQ(read(&settings), MLUOP_STATUS_SUCCESS);
    return settings;
  }

 private:
  Struct *object_ = nullptr;
  mluOpStatus_t (*destroy_)(Struct *);
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST(carafe) {
  const Object<mluOpCarafeStruct> desc(mluOpCreateCarafeDescriptor, mluOpDestroyCarafeDescriptor);
  mluops::CarafeSettings settings = {};
  CHECK_EQ(desc.read(&settings), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(std::string(mluopsExtGetLastReason()),
           "test: desc: expected a carafe descriptor that was set, got one that was never set");
  CHECK_EQ(mluOpSetCarafeDescriptor(desc, 5, 3, 1, 2), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(desc.read(&settings), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetCarafeDescriptor(desc, 4, 5, 2, 3), MLUOP_STATUS_SUCCESS);
  const int wrong[][4] = {{3, 7, 9, 9}, {4, 2, 9, 9}, {4, 7, 0, 9}, {4, 7, 9, 0}};
  for (const auto &values : wrong) {
    CHECK_EQ(mluOpSetCarafeDescriptor(desc, values[0], values[1], values[2], values[3]), MLUOP_STATUS_BAD_PARAM);
    settings = desc.values();
    CHECK(settings.dims == 4 && settings.kernel_size == 5 && settings.group_size == 2 && settings.scale_factor == 3);
  }
  CHECK_EQ(mluOpSetCarafeDescriptor(desc, 4, 7, 9, 9), MLUOP_STATUS_SUCCESS);
  settings = desc.values();
  CHECK(settings.kernel_size == 7 && settings.group_size == 9 && settings.scale_factor == 9);
}

TEST(nms) {
  const Object<cnnlNmsStruct> desc(mluOpCreateNmsDescriptor, mluOpDestroyNmsDescriptor);
  CHECK_EQ(desc.values().max_output_size, 0);  // usable, and selects nothing
  const auto set = [&](float iou, float sigma, int most, float confidence, float offset, int layout) {
    return mluOpSetNmsDescriptor(desc, MLUOP_NMS_BOX_CENTER, MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS,
                                 MLUOP_NMS_ALGO_INCLUDE_BOUNDARY, MLUOP_NMS_SOFT_NMS_GAUSSIAN, iou, sigma, most,
                                 confidence, offset, layout, true);
  };
  CHECK_EQ(set(0.5f, 0.25f, 7, 0.75f, 1.0f, 1), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(set(kNan, 9, 9, 0, 0, 0), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(set(9, -1, 9, 0, 0, 0), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(set(9, 9, -1, 0, 0, 0), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(set(9, 9, 9, 2, 0, 0), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(set(9, 9, 9, 0, 0.5f, 0), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(set(9, 9, 9, 0, 0, 2), MLUOP_STATUS_BAD_PARAM);
  const mluops::NmsSettings nms = desc.values();
  CHECK(nms.box_mode == MLUOP_NMS_BOX_CENTER && nms.output_mode == MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS);
  CHECK(nms.algo == MLUOP_NMS_ALGO_INCLUDE_BOUNDARY && nms.method_mode == MLUOP_NMS_SOFT_NMS_GAUSSIAN);
  CHECK(nms.iou_threshold == 0.5f && nms.soft_nms_sigma == 0.25f && nms.confidence_threshold == 0.75f);
  CHECK(nms.max_output_size == 7 && nms.offset == 1.0f && nms.input_layout == 1 && nms.pad_to_max_output_size);
}

TEST(roi_align) {
  const Object<cnnlRoiAlignStruct> desc(mluOpCreateRoiAlignForwardDescriptor, mluOpDestroyRoiAlignForwardDescriptor);
  mluops::RoiAlignSettings settings = {};
  CHECK_EQ(desc.read(&settings), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetRoiAlignForwardDescriptor_v2(desc, 3, 4, 0, 0.5f, 1, true), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetRoiAlignForwardDescriptor_v2(desc, 9, 9, 9, INFINITY, 0, false), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetRoiAlignForwardDescriptor_v2(desc, 9, 9, 9, 1.0f, 2, false), MLUOP_STATUS_BAD_PARAM);
  settings = desc.values();
  CHECK(settings.pooled_height == 3 && settings.pooled_width == 4 && settings.sampling_ratio == 0);
  CHECK(settings.spatial_scale == 0.5f && settings.pool_mode == 1 && settings.aligned);
}

TEST(adamw) {
  const Object<mluOpAdamWStruct> desc(mluOpCreateAdamWDescriptor, mluOpDestroyAdamWDescriptor);
  mluops::AdamWSettings settings = desc.values();
  CHECK(settings.weight_decay == 0.0f && settings.grad_scale == 1.0f);
  CHECK(!settings.use_nesterov && !settings.need_remove_nan);
  const float value = 0.25f;
  const unsigned char strange = 0xfe, zero = 0;
  CHECK_EQ(mluOpSetAdamWDescAttr(desc, MLUOP_ADAMW_WEIGHT_DECAY, &value, sizeof value), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetAdamWDescAttr(desc, MLUOP_ADAMW_USE_NESTEROV, &strange, 1), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetAdamWDescAttr(desc, MLUOP_ADAMW_GRAD_SCALE, &value, 1), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetAdamWDescAttr(desc, MLUOP_ADAMW_NEED_REMOVE_NAN, nullptr, 1), MLUOP_STATUS_BAD_PARAM);
  settings = desc.values();
  CHECK(settings.weight_decay == 0.25f && settings.grad_scale == 1.0f);
  CHECK(settings.use_nesterov && !settings.need_remove_nan);
  CHECK_EQ(mluOpSetAdamWDescAttr(desc, MLUOP_ADAMW_USE_NESTEROV, &zero, 1), MLUOP_STATUS_SUCCESS);
  CHECK(!desc.values().use_nesterov);
}

TEST(dcn) {
  const Object<cnnlDCNStruct> desc(mluOpCreateDCNDescriptor, mluOpDestroyDCNDescriptor);
  mluops::DcnSettings settings = {};
  CHECK_EQ(desc.read(&settings), MLUOP_STATUS_BAD_PARAM);
  const int pad[] = {0, 1, 2, 3}, stride[] = {1, 2}, dilation[] = {3, 4}, nines[] = {9, 9, 9, 9};
  CHECK_EQ(mluOpSetDCNDescriptor(desc, 4, pad, stride, dilation, 2, 3, 5, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_SUCCESS);
  CHECK_EQ(mluOpSetDCNDescriptor(desc, 4, nines, nines, nines, 9, 9, 9, MLUOP_DTYPE_HALF), MLUOP_STATUS_BAD_PARAM);
  CHECK_EQ(mluOpSetDCNDescriptor(desc, 4, nines, pad, nines, 9, 9, 9, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_BAD_PARAM);
  settings = desc.values();
  for (int i = 0; i < 4; ++i) CHECK_EQ(settings.pad[i], pad[i]);
  for (int i = 0; i < 2; ++i) CHECK(settings.stride[i] == stride[i] && settings.dilation[i] == dilation[i]);
  CHECK(settings.deformable_group == 2 && settings.conv_group == 3 && settings.im2col_step == 5);
  CHECK_EQ(settings.compute_type, MLUOP_DTYPE_FLOAT);
}

TEST(fft_plan) {
  const Handle handle;
  const Object<mluOpFFTStruct> plan(mluOpCreateFFTPlan, mluOpDestroyFFTPlan);
  mluops::FftSettings settings = {};
  CHECK_EQ(
      mluops::read_settings("test", "plan", static_cast<mluOpFFTPlan_t>(plan), &settings, MLUOP_STATUS_NOT_INITIALIZED),
      MLUOP_STATUS_NOT_INITIALIZED);
  const int n[] = {4, 10}, other[] = {4, 8};
  std::size_t reserve = 1, workspace = 1;
  {
    const Descriptor input({3, 4, 10}, MLUOP_DTYPE_FLOAT), output({3, 4, 6}, MLUOP_DTYPE_COMPLEX_FLOAT);
    mluOpSetTensorDescriptorOnchipDataType(input, MLUOP_DTYPE_FLOAT);
    CHECK_EQ(mluOpMakeFFTPlanMany(handle, plan, input, output, 2, n, &reserve, &workspace), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluOpSetFFTReserveArea(handle, plan, &settings), MLUOP_STATUS_SUCCESS);
    CHECK_EQ(mluOpMakeFFTPlanMany(handle, plan, input, output, 2, other, &reserve, &workspace), MLUOP_STATUS_BAD_PARAM);
  }
  settings = plan.values();
  CHECK(settings.rank == 2 && settings.n[0] == 4 && settings.n[1] == 10 && settings.batch == 3);
  CHECK(settings.input.dtype == MLUOP_DTYPE_FLOAT && settings.output.dtype == MLUOP_DTYPE_COMPLEX_FLOAT);
  CHECK(settings.input.rank == 3 && settings.input.dims[2] == 10 && settings.output.strides[0] == 24);
  CHECK(settings.reserve_area == &settings);
}

TEST(gen_case_mode) {
  for (const int mode : {0, 1, 2, 3}) {
    mluOpSetGenCaseMode(mode);
    CHECK_EQ(mluops::current_case_mode.load(), mode);
  }
  for (const int mode : {4, -1, 1 << 30}) {
    mluOpSetGenCaseMode(2);
    mluOpSetGenCaseMode(mode);
    CHECK_EQ(mluops::current_case_mode.load(), 0);
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
