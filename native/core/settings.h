// Descriptors that carry the settings of one kind of operator: set once, read by value in the call
// of an operator.
#ifndef MLUOPS_CORE_SETTINGS_H_
#define MLUOPS_CORE_SETTINGS_H_

#include <memory>

#include "core/object.h"
#include "core/reason.h"
#include "mlu_op.h"

namespace mluops {

struct FftTables;  // of the family that computes transforms

struct CarafeSettings {
  int dims;  // always 4
  int kernel_size;
  int group_size;
  int scale_factor;
};

// Selects no boxes until it is set.
struct NmsSettings {
  mluOpNmsBoxPointMode_t box_mode;
  mluOpNmsOutputMode_t output_mode;
  mluOpNmsAlgo_t algo;
  mluOpNmsMethodMode_t method_mode;
  float iou_threshold;
  float soft_nms_sigma;
  int max_output_size;
  float confidence_threshold;
  float offset;
  int input_layout;
  bool pad_to_max_output_size;
};

struct RoiAlignSettings {
  int pooled_height;
  int pooled_width;
  int sampling_ratio;  // 0: the number of samples depends on the size of the box
  float spatial_scale;
  int pool_mode;  // 0 maximum, 1 average
  bool aligned;
};

struct AdamWSettings {
  float weight_decay = 0.0f;
  float grad_scale = 1.0f;
  bool use_nesterov = false;
  bool need_remove_nan = false;
};

struct DcnSettings {
  int dims;         // always 4
  int pad[4];       // top, bottom, left, right
  int stride[2];    // height, width
  int dilation[2];  // height, width
  int deformable_group;
  int conv_group;
  int im2col_step;
  mluOpDataType_t compute_type;
};

// The input or the output of a plan, copied because the caller may destroy the descriptor.
struct FftTensor {
  mluOpDataType_t dtype;
  mluOpDataType_t onchip_dtype;
  int rank;
  std::int64_t dims[MLUOP_DIM_MAX];
  std::int64_t strides[MLUOP_DIM_MAX];
};

struct FftSettings {
  int rank;  // 1 or 2
  int n[2];
  std::int64_t batch;
  FftTensor input;
  FftTensor output;
  std::size_t workspace_bytes;
  void *reserve_area;                       // NULL until mluOpSetFFTReserveArea
  std::shared_ptr<const FftTables> tables;  // NULL in a library that computes no transforms
};

// Makes the tables of a plan, or throws. Only a library that computes transforms defines it.
[[gnu::weak]] std::shared_ptr<const FftTables> make_fft_tables(int rank, const int *n, bool real);

// The first members of every such descriptor. `kUsableUnset`: whether operators take one that was
// never set.
template <typename Values, std::uint32_t kMagicNumber, bool kUsableUnset>
struct SettingsObject {
  using Settings = Values;
  static constexpr std::uint32_t kMagic = kMagicNumber;
  static constexpr bool kUsable = kUsableUnset;

  ObjectHeader header;
  Settings settings = {};
  bool is_set = kUsableUnset;

  void release() {}
};

}  // namespace mluops

struct mluOpCarafeStruct : mluops::SettingsObject<mluops::CarafeSettings, 0x4d4c5641u, false> {
  static constexpr const char *kName = "carafe descriptor";
};
struct cnnlNmsStruct : mluops::SettingsObject<mluops::NmsSettings, 0x4d4c564eu, true> {
  static constexpr const char *kName = "nms descriptor";
};
struct cnnlRoiAlignStruct : mluops::SettingsObject<mluops::RoiAlignSettings, 0x4d4c5652u, false> {
  static constexpr const char *kName = "roi align forward descriptor";
};
struct mluOpAdamWStruct : mluops::SettingsObject<mluops::AdamWSettings, 0x4d4c5657u, true> {
  static constexpr const char *kName = "adamw descriptor";
};
struct cnnlDCNStruct : mluops::SettingsObject<mluops::DcnSettings, 0x4d4c5644u, false> {
  static constexpr const char *kName = "dcn descriptor";
};
struct mluOpFFTStruct : mluops::SettingsObject<mluops::FftSettings, 0x4d4c5646u, false> {
  static constexpr const char *kName = "fft plan";

  void release() { settings.tables.reset(); }
};

namespace mluops {

// BAD_PARAM unless `object` is alive.
template <typename T>
mluOpStatus_t need_object(const char *function, const char *argument, const T *object) {
  MLUOPS_REQUIRE(alive(object), MLUOP_STATUS_BAD_PARAM, function, argument, Text::format("a living %s", T::kName),
                 object == nullptr ? "NULL" : "one that was destroyed, or something else");
  return MLUOP_STATUS_SUCCESS;
}

// For operators: copies the settings of a descriptor. For a descriptor that was never set it
// returns BAD_PARAM, or `unset` for an FFT plan.
template <typename T>
mluOpStatus_t read_settings(const char *function, const char *argument, const T *object, typename T::Settings *settings,
                            mluOpStatus_t unset = MLUOP_STATUS_BAD_PARAM) {
  MLUOPS_TRY(need_object(function, argument, object));
  MLUOPS_REQUIRE(object->is_set, unset, function, argument, Text::format("a %s that was set", T::kName),
                 "one that was never set");
  *settings = object->settings;
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t create_object(const char *function, const char *argument, T **object) {
  MLUOPS_REQUIRE(object != nullptr, MLUOP_STATUS_BAD_PARAM, function, argument, "a pointer", "NULL");
  return Pool<T>::create(function, object);
}

template <typename T>
mluOpStatus_t destroy_object(const char *function, const char *argument, T *object) {
  MLUOPS_TRY(need_object(function, argument, object));
  MLUOPS_REQUIRE(Pool<T>::destroy(object), MLUOP_STATUS_BAD_PARAM, function, argument,
                 Text::format("a living %s", T::kName), "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}

// Stores values that a setter has checked.
template <typename T>
void store_settings(T *object, const typename T::Settings &settings) {
  object->settings = settings;
  object->is_set = true;
}

}  // namespace mluops

#endif  // MLUOPS_CORE_SETTINGS_H_
