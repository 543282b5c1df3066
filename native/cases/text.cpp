#include "cases/text.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/data_type.h"
#include "core/handle.h"
#include "core/settings.h"

namespace mluops {
namespace {

// ---- Numbers ------------------------------------------------------------------------------------

// A real number in as few digits as give it back.
std::string text_of(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string text_of(std::int64_t value) { return std::to_string(value); }

float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * HUGE_VALF;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return sign * size;
}

template <typename T>
T element(const void *data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

// How the numbers of a type are written: the field of the tensor, how many numbers an element has,
// and the bytes of each.
struct NumberFormat {
  const char *field;
  int per_element;
  int bytes;
  bool is_real;
  std::string (*text)(const void *data, std::int64_t index);
};

template <typename T>
std::string integer_text(const void *data, std::int64_t index) {
  return std::to_string(element<T>(data, index));
}
std::string float_text(const void *data, std::int64_t index) { return text_of(element<float>(data, index)); }
std::string half_text(const void *data, std::int64_t index) {
  return text_of(half_value(element<std::uint16_t>(data, index)));
}

NumberFormat format_of(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return {"value_f", 1, 2, true, half_text};
    case MLUOP_DTYPE_COMPLEX_HALF:
      return {"value_f", 2, 2, true, half_text};
    case MLUOP_DTYPE_FLOAT:
      return {"value_f", 1, 4, true, float_text};
    case MLUOP_DTYPE_COMPLEX_FLOAT:
      return {"value_f", 2, 4, true, float_text};
    case MLUOP_DTYPE_DOUBLE:  // its bits: the other field is of floats
      return {"value_l", 1, 8, true, integer_text<std::int64_t>};
    case MLUOP_DTYPE_INT8:
      return {"value_i", 1, 1, false, integer_text<std::int8_t>};
    case MLUOP_DTYPE_BOOL:
      return {"value_i", 1, 1, false, integer_text<std::uint8_t>};
    case MLUOP_DTYPE_INT16:
      return {"value_i", 1, 2, false, integer_text<std::int16_t>};
    case MLUOP_DTYPE_INT31:
      return {"value_i", 2, 2, false, integer_text<std::int16_t>};
    case MLUOP_DTYPE_INT32:
      return {"value_i", 1, 4, false, integer_text<std::int32_t>};
    case MLUOP_DTYPE_INT64:
      return {"value_l", 1, 8, false, integer_text<std::int64_t>};
    case MLUOP_DTYPE_UINT8:
      return {"value_ui", 1, 1, false, integer_text<std::uint8_t>};
    case MLUOP_DTYPE_UINT16:
      return {"value_ui", 1, 2, false, integer_text<std::uint16_t>};
    case MLUOP_DTYPE_UINT32:
      return {"value_ui", 1, 4, false, integer_text<std::uint32_t>};
    case MLUOP_DTYPE_UINT64:
      return {"value_ul", 1, 8, false, integer_text<std::uint64_t>};
    case MLUOP_DTYPE_BFLOAT16:  // its bits; the vendor's reader takes no hexadecimal ones
      return {"value_ui", 1, 2, false, integer_text<std::uint16_t>};
    case MLUOP_DTYPE_INVALID:
      break;
  }
  return {"", 0, 0, false, nullptr};
}

std::string hexadecimal(const void *data, std::int64_t index, int bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(data) + index * bytes, static_cast<std::size_t>(bytes));
  char text[20] = "\"";
  const auto end = std::to_chars(text + 1, text + 18, bits, 16).ptr;
  *end = '"';
  return std::string(text, end + 1);
}

std::string values_text(const CaseTensorView &view, const void *data) {
  const NumberFormat format = format_of(view.dtype);
  const bool in_hexadecimal = format.is_real && case_dump() == CaseDump::kHexadecimal;
  const std::string label = std::string("  ") + (in_hexadecimal ? "value_h" : format.field) + ": ";
  std::string text;
  for (std::int64_t i = 0; i < view.span() * format.per_element; ++i)
    text += label + (in_hexadecimal ? hexadecimal(data, i, format.bytes) : format.text(data, i)) + "\n";
  return text;
}

// ---- Tensors ------------------------------------------------------------------------------------

std::string upper(const char *text) {
  std::string result = text;
  for (char &c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

float bound(const CaseBound &bound, const CaseValue *values) {
  double value = bound.number;
  if (bound.argument >= 0 && bound.dim < 0) value += values[bound.argument].number();
  if (bound.argument >= 0 && bound.dim >= 0) {
    const auto *desc = static_cast<mluOpTensorDescriptor_t>(const_cast<void *>(values[bound.argument].pointer()));
    if (alive(desc) && bound.dim < desc->rank) value += static_cast<double>(desc->dims[bound.dim]);
  }
  return static_cast<float>(value);
}

std::string random_text(const CaseTensor &tensor, const CaseValue *values) {
  return "  random_data: {\n    seed: 233\n    distribution: UNIFORM\n    upper_bound: " +
         text_of(bound(tensor.upper, values)) + "\n    lower_bound: " + text_of(bound(tensor.lower, values)) +
         "\n  }\n";
}

void copy_descriptor(const mluOpTensorStruct &desc, CaseTensorView *view) {
  view->dtype = desc.dtype;
  view->onchip_dtype = desc.onchip_dtype;
  view->layout = desc.layout;
  view->pointer_mode = desc.pointer_mode;
  view->rank = desc.rank;
  view->position = desc.position;
  view->scale = desc.scale;
  view->offset = desc.offset;
  for (int i = 0; i < desc.rank; ++i) {
    view->dims[i] = desc.dims[i];
    view->strides[i] = desc.strides[i];
  }
  view->on_host = desc.pointer_mode == MLUOP_POINTER_MODE_HOST;
}

void copy_planned(const FftTensor &planned, CaseTensorView *view) {
  view->dtype = planned.dtype;
  view->onchip_dtype = planned.onchip_dtype;
  view->rank = planned.rank;
  for (int i = 0; i < planned.rank; ++i) {
    view->dims[i] = planned.dims[i];
    view->strides[i] = planned.strides[i];
  }
}

bool is_set(const CaseSource &source, const CaseValue *values) {
  if (source.reader == nullptr) return values[source.argument].is_set();
  CaseNumbers numbers;
  return source.reader(values[source.argument].pointer(), source.field, &numbers) && numbers.is_set();
}

// ---- Parameters ---------------------------------------------------------------------------------

std::string parameter_line(const char *name, const std::string &value) {
  return std::string("  ") + name + ": " + value + "\n";
}

std::string field_text(const CaseParameter &parameter, const CaseValue *values) {
  CaseNumbers numbers;
  const CaseSource &source = parameter.source;
  if (!source.reader(values[source.argument].pointer(), source.field, &numbers)) return "";
  if (numbers.is_real) return parameter_line(parameter.name, text_of(numbers.real));
  if (std::strcmp(parameter.name, "compute_type") == 0) {  // numbered differently
    const auto dtype = static_cast<mluOpDataType_t>(numbers.integers[0]);
    return parameter_line(parameter.name, "DTYPE_" + upper(name_of(dtype)));
  }
  std::string text;
  for (int i = 0; i < numbers.count; ++i) text += parameter_line(parameter.name, text_of(numbers.integers[i]));
  return text;
}

std::string parameter_text(const CaseParameter &parameter, const CaseValue *values) {
  const CaseSource &source = parameter.source;
  switch (parameter.kind) {
    case CaseSourceKind::kArgument: {
      const CaseValue &value = values[source.argument];
      return parameter_line(parameter.name, value.is_real() ? text_of(value.real()) : text_of(value.integer()));
    }
    case CaseSourceKind::kField:
      return field_text(parameter, values);
    case CaseSourceKind::kConstant:
      return parameter_line(parameter.name, text_of(parameter.number));
    case CaseSourceKind::kSamePointers: {
      const bool same = values[source.argument].pointer() == values[parameter.other].pointer();
      return parameter_line(parameter.name, same ? "1" : "0");
    }
    case CaseSourceKind::kHostArray: {
      const auto *desc = static_cast<const mluOpTensorStruct *>(values[parameter.other].pointer());
      const auto *numbers = static_cast<const std::int64_t *>(values[source.argument].pointer());
      std::string text;
      for (std::int64_t i = 0; i < desc->dims[0]; ++i) text += parameter_line(parameter.name, text_of(numbers[i]));
      return text;
    }
  }
  return "";
}

}  // namespace

std::int64_t CaseTensorView::count() const {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= dims[i];
  return product;
}

bool CaseTensorView::packed() const {
  std::int64_t expected = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

std::int64_t CaseTensorView::span() const {
  if (count() == 0 || packed()) return count();
  std::int64_t last = 0;
  for (int i = 0; i < rank; ++i) last += (dims[i] - 1) * strides[i];
  return last + 1;
}

CaseTensorView case_tensor(const CaseTensor &tensor, const CaseValue *values) {
  CaseTensorView view;
  if (tensor.data >= 0) view.data = values[tensor.data].pointer();
  const int described = tensor.desc >= 0 ? tensor.desc : tensor.like;
  if (tensor.part >= 0) {
    const auto *plan = static_cast<const mluOpFFTStruct *>(values[tensor.desc].pointer());
    copy_planned(tensor.part == 0 ? plan->settings.input : plan->settings.output, &view);
    return view;
  }
  if (described >= 0) {
    const auto *desc = static_cast<const mluOpTensorStruct *>(values[described].pointer());
    if (alive(desc)) {
      copy_descriptor(*desc, &view);
    } else {
      view.data = nullptr;
    }
  }
  if (tensor.desc < 0 && tensor.data >= 0) view.dtype = MLUOP_DTYPE_INT32;
  return view;
}

bool case_has(const CaseTensor &tensor, const CaseValue *values) {
  if (tensor.condition.source.argument < 0) return true;
  return is_set(tensor.condition.source, values) != tensor.condition.negated;
}

std::string case_tensor_text(const char *label, const CaseTensor &tensor, const CaseTensorView &view,
                             const CaseData &data, const CaseValue *values) {
  std::string text = std::string(label) + " {\n  id: \"" + tensor.id + "\"\n  shape: {\n";
  for (int i = 0; i < view.rank; ++i) text += "    dims: " + text_of(view.dims[i]) + "\n";
  if (view.count() > 1 && !view.packed())
    for (int i = 0; i < view.rank; ++i) text += "    dim_stride: " + text_of(view.strides[i]) + "\n";
  text += std::string("  }\n  layout: LAYOUT_") + name_of(view.layout) + "\n  dtype: DTYPE_" +
          upper(name_of(view.dtype)) + "\n";
  if (view.pointer_mode == MLUOP_POINTER_MODE_HOST) {
    text += "  pointer_mode: POINTER_MODE_HOST\n";
    if (view.rank == 0) text += "  is_cpu_scalar: 1\n";
  }
  if (view.onchip_dtype != MLUOP_DTYPE_INVALID)
    text += "  onchip_dtype: DTYPE_" + upper(name_of(view.onchip_dtype)) + "\n";
  text += "  position: " + std::to_string(view.position) + "\n  scale: " + text_of(view.scale) +
          "\n  offset: " + std::to_string(view.offset) + "\n";
  if (data.values != nullptr) {
    text += values_text(view, data.values);
  } else if (!data.path.empty()) {
    text += "  path: \"" + data.path + "\"\n";
  } else if (data.random) {
    text += random_text(tensor, values);
  }
  return text + "}\n";
}

std::string case_end_text(const CaseOperator &the_operator, const CaseValue *values) {
  std::string text;
  if (the_operator.message != nullptr) {
    text += std::string(the_operator.message) + " {\n";
    for (const CaseParameter &parameter : the_operator.parameters) text += parameter_text(parameter, values);
    text += "}\n";
  }
  if (the_operator.round_mode) {  // the first argument is the handle
    const auto *handle = static_cast<const mluOpContext *>(values[0].pointer());
    text += "handle_param {\n  round_mode: " + std::to_string(static_cast<int>(handle->round_mode)) + "\n}\n";
  }
  text += "test_param: {\n";
  for (const CaseCriterion &criterion : the_operator.criteria)
    text += std::string("  error_func: ") + criterion.name + "\n";
  for (const CaseCriterion &criterion : the_operator.criteria)
    text += std::string("  error_threshold: ") + criterion.threshold + "\n";
  return text + "  baseline_device: CPU\n}";
}

}  // namespace mluops
