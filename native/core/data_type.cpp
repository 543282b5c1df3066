#include "core/data_type.h"

#include "core/check.h"

namespace mluops {
namespace {

struct TypeFacts {
  mluOpDataType_t dtype;
  std::size_t size;
  const char *name;
};

constexpr TypeFacts kTypes[] = {
    {MLUOP_DTYPE_INVALID, 0, "invalid"},
    {MLUOP_DTYPE_HALF, 2, "half"},
    {MLUOP_DTYPE_FLOAT, 4, "float"},
    {MLUOP_DTYPE_DOUBLE, 8, "double"},
    {MLUOP_DTYPE_INT8, 1, "int8"},
    {MLUOP_DTYPE_INT16, 2, "int16"},
    {MLUOP_DTYPE_INT31, 4, "int31"},
    {MLUOP_DTYPE_INT32, 4, "int32"},
    {MLUOP_DTYPE_INT64, 8, "int64"},
    {MLUOP_DTYPE_UINT8, 1, "uint8"},
    {MLUOP_DTYPE_UINT16, 2, "uint16"},
    {MLUOP_DTYPE_UINT32, 4, "uint32"},
    {MLUOP_DTYPE_UINT64, 8, "uint64"},
    {MLUOP_DTYPE_BOOL, 1, "bool"},
    {MLUOP_DTYPE_COMPLEX_HALF, 4, "complex_half"},
    {MLUOP_DTYPE_COMPLEX_FLOAT, 8, "complex_float"},
    {MLUOP_DTYPE_BFLOAT16, 2, "bfloat16"},
};

const TypeFacts *find(mluOpDataType_t dtype) {
  for (const TypeFacts &facts : kTypes) {
    if (facts.dtype == dtype) return &facts;
  }
  return nullptr;
}

// Sizes by number: every call asks for several.
struct Sizes {
  static constexpr unsigned kCount = MLUOP_DTYPE_BFLOAT16 + 1;
  std::size_t bytes[kCount] = {};

  constexpr Sizes() {
    for (const TypeFacts &facts : kTypes) bytes[facts.dtype] = facts.size;
  }
};
constexpr Sizes kSizes;

}  // namespace

std::size_t size_of(mluOpDataType_t dtype) {
  const auto number = static_cast<unsigned>(dtype);
  return number < Sizes::kCount ? kSizes.bytes[number] : 0;
}

const char *name_of(mluOpDataType_t dtype) {
  const TypeFacts *facts = find(dtype);
  return facts == nullptr ? "an unknown dtype" : facts->name;
}

const char *name_of(mluOpTensorLayout_t layout) {
  static constexpr const char *kNames[] = {"NCHW", "NHWC", "HWCN", "NDHWC", "ARRAY", "NCDHW",
                                           "TNC",  "NTC",  "NC",   "NLC",   "NCL"};
  const auto number = static_cast<unsigned>(layout);
  return number < sizeof kNames / sizeof *kNames ? kNames[number] : "an unknown layout";
}

}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t *size) {
  MLUOPS_TRY(mluops::need_pointer(__func__, "size", size));
  MLUOPS_REQUIRE(data_type != MLUOP_DTYPE_INVALID, MLUOP_STATUS_BAD_PARAM, __func__, "data_type",
                 "a data type other than INVALID", "MLUOP_DTYPE_INVALID");
  *size = mluops::size_of(data_type);
  return MLUOP_STATUS_SUCCESS;
}
