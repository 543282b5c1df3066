#include "cases/fields.h"

#include <cstring>
#include <initializer_list>

#include "core/settings.h"
#include "ops/get_indice_pairs/descriptor.h"

namespace mluops {
namespace {

CaseNumbers number(float value) {
  CaseNumbers numbers;
  numbers.count = 1;
  numbers.is_real = true;
  numbers.real = value;
  return numbers;
}

template <typename T>
CaseNumbers number(T value) {
  CaseNumbers numbers;
  numbers.count = 1;
  numbers.integers[0] = static_cast<std::int64_t>(value);
  return numbers;
}

template <int kCount>
CaseNumbers number(const int (&values)[kCount]) {
  static_assert(kCount <= CaseNumbers::kMost, "more values than a parameter has");
  CaseNumbers numbers;
  numbers.count = kCount;
  for (int i = 0; i < kCount; ++i) numbers.integers[i] = values[i];
  return numbers;
}

struct NamedField {
  const char *name;
  CaseNumbers numbers;
};

bool find(const char *field, std::initializer_list<NamedField> fields, CaseNumbers *numbers) {
  for (const NamedField &known : fields) {
    if (std::strcmp(known.name, field) != 0) continue;
    *numbers = known.numbers;
    return true;
  }
  return false;
}

// The settings of a descriptor, or those of one that was never set if it is none.
template <typename T>
typename T::Settings settings_of(const void *object) {
  const auto *descriptor = static_cast<const T *>(object);
  return alive(descriptor) ? descriptor->settings : typename T::Settings{};
}

}  // namespace

bool carafe_field(const void *object, const char *field, CaseNumbers *numbers) {
  const CarafeSettings s = settings_of<mluOpCarafeStruct>(object);
  return find(field,
              {{"dimnb", number(s.dims)},
               {"kernel_size", number(s.kernel_size)},
               {"group_size", number(s.group_size)},
               {"scale_factor", number(s.scale_factor)}},
              numbers);
}

bool nms_field(const void *object, const char *field, CaseNumbers *numbers) {
  const NmsSettings s = settings_of<cnnlNmsStruct>(object);
  return find(field,
              {{"box_mode", number(s.box_mode)},
               {"output_mode", number(s.output_mode)},
               {"algo", number(s.algo)},
               {"method_mode", number(s.method_mode)},
               {"iou_threshold", number(s.iou_threshold)},
               {"soft_nms_sigma", number(s.soft_nms_sigma)},
               {"max_output_size", number(s.max_output_size)},
               {"confidence_threshold", number(s.confidence_threshold)},
               {"offset", number(s.offset)},
               {"input_layout", number(s.input_layout)},
               {"pad_to_max_output_size", number(s.pad_to_max_output_size)}},
              numbers);
}

bool roi_align_field(const void *object, const char *field, CaseNumbers *numbers) {
  const RoiAlignSettings s = settings_of<cnnlRoiAlignStruct>(object);
  return find(field,
              {{"pooled_height", number(s.pooled_height)},
               {"pooled_width", number(s.pooled_width)},
               {"sampling_ratio", number(s.sampling_ratio)},
               {"spatial_scale", number(s.spatial_scale)},
               {"pool_mode", number(s.pool_mode)},
               {"aligned", number(s.aligned)}},
              numbers);
}

bool adamw_field(const void *object, const char *field, CaseNumbers *numbers) {
  const AdamWSettings s = settings_of<mluOpAdamWStruct>(object);
  return find(field,
              {{"weight_decay", number(s.weight_decay)},
               {"grad_scale", number(s.grad_scale)},
               {"use_nesterov", number(s.use_nesterov)},
               {"need_remove_nan", number(s.need_remove_nan)}},
              numbers);
}

bool dcn_field(const void *object, const char *field, CaseNumbers *numbers) {
  const DcnSettings s = settings_of<cnnlDCNStruct>(object);
  return find(field,
              {{"dimnb", number(s.dims)},
               {"pad", number(s.pad)},
               {"stride", number(s.stride)},
               {"dilation", number(s.dilation)},
               {"deformable_group", number(s.deformable_group)},
               {"conv_group", number(s.conv_group)},
               {"im2col_step", number(s.im2col_step)},
               {"compute_type", number(s.compute_type)}},
              numbers);
}

bool fft_field(const void *object, const char *field, CaseNumbers *numbers) {
  const FftSettings s = settings_of<mluOpFFTStruct>(object);
  CaseNumbers lengths = number(s.n);
  lengths.count = s.rank;
  return find(field, {{"rank", number(s.rank)}, {"n", lengths}}, numbers);
}

// Descriptors are refused unless they have five dims, and neither transpose nor invert.
bool sparse_convolution_field(const void *object, const char *field, CaseNumbers *numbers) {
  const auto *descriptor = static_cast<const mluOpSparseConvolutionStruct *>(object);
  const SparseGeometry g = alive(descriptor) ? descriptor->geometry : SparseGeometry{};
  return find(field,
              {{"dimnb", number(2 + kSpaceDims)},
               {"batch", number(g.batch)},
               {"pad", number(g.pad)},
               {"stride", number(g.stride)},
               {"dilation", number(g.dilation)},
               {"input_space", number(g.input_space)},
               {"filter_space", number(g.filter_space)},
               {"output_space", number(g.output_space)},
               {"sub_m", number(g.sub_m)},
               {"transpose", number(0)},
               {"inverse", number(0)}},
              numbers);
}

}  // namespace mluops
