#include "tensor.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "mlusim_source.h"

// The checkers see accesses through these functions; see native/sim/machine/hooks.cpp. The sizes
// are signed, like those in the compiler's declarations.
extern "C" void __tsan_read_range(void *address, long bytes);
extern "C" void __tsan_write_range(void *address, long bytes);

namespace cnnl {
namespace {

struct TypeInfo {
  cnnlDataType_t dtype;
  std::size_t size;
  enum {
    kInteger,
    kReal,
    kOther
  } kind;
};

constexpr TypeInfo kTypes[] = {
    {CNNL_DTYPE_HALF, 2, TypeInfo::kReal},          {CNNL_DTYPE_FLOAT, 4, TypeInfo::kReal},
    {CNNL_DTYPE_DOUBLE, 8, TypeInfo::kReal},        {CNNL_DTYPE_BFLOAT16, 2, TypeInfo::kReal},
    {CNNL_DTYPE_INT8, 1, TypeInfo::kInteger},       {CNNL_DTYPE_INT16, 2, TypeInfo::kInteger},
    {CNNL_DTYPE_INT32, 4, TypeInfo::kInteger},      {CNNL_DTYPE_INT64, 8, TypeInfo::kInteger},
    {CNNL_DTYPE_UINT8, 1, TypeInfo::kInteger},      {CNNL_DTYPE_UINT16, 2, TypeInfo::kInteger},
    {CNNL_DTYPE_UINT32, 4, TypeInfo::kInteger},     {CNNL_DTYPE_UINT64, 8, TypeInfo::kInteger},
    {CNNL_DTYPE_BOOL, 1, TypeInfo::kInteger},       {CNNL_DTYPE_INT31, 4, TypeInfo::kOther},
    {CNNL_DTYPE_COMPLEX_HALF, 4, TypeInfo::kOther}, {CNNL_DTYPE_COMPLEX_FLOAT, 8, TypeInfo::kOther},
};

const TypeInfo *find_type(cnnlDataType_t dtype) {
  for (const TypeInfo &type : kTypes) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

// Calls visit(offset in bytes) for each element, in the order of their indices.
template <typename Visit>
void walk(const Tensor &tensor, const Visit &visit) {
  Dims at(tensor.dims.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < tensor.count; ++i) {
    visit(offset * static_cast<std::int64_t>(tensor.size));
    for (std::size_t d = at.size(); d-- > 0;) {
      offset += tensor.strides[d];
      if (++at[d] < tensor.dims[d]) break;
      offset -= tensor.strides[d] * tensor.dims[d];
      at[d] = 0;
    }
  }
}

template <typename T>
T read_as(const unsigned char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void write_as(unsigned char *at, T value) {
  std::memcpy(at, &value, sizeof value);
}

float bfloat_at(const unsigned char *element) {
  const std::uint32_t word = static_cast<std::uint32_t>(read_as<std::uint16_t>(element)) << 16;
  return read_as<float>(reinterpret_cast<const unsigned char *>(&word));
}

void put_bfloat(unsigned char *element, double value) {
  std::uint16_t bits = 0;
  cnrtCastDataType_V2(&value, cnrtDouble, &bits, cnrtBfloat, 1, nullptr, cnrtRounding_rn);
  write_as(element, bits);
}

}  // namespace

std::size_t size_of(cnnlDataType_t dtype) {
  const TypeInfo *type = find_type(dtype);
  return type != nullptr ? type->size : 0;
}

bool is_integer(cnnlDataType_t dtype) {
  const TypeInfo *type = find_type(dtype);
  return type != nullptr && type->kind == TypeInfo::kInteger;
}

bool is_real(cnnlDataType_t dtype) {
  const TypeInfo *type = find_type(dtype);
  return type != nullptr && type->kind == TypeInfo::kReal;
}

std::int64_t product(const Dims &dims, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t d = begin; d < end; ++d) count *= dims[d];
  return count;
}

// ---- Elements -----------------------------------------------------------------------------------

void load(const Tensor &tensor, const void *data, Elements *elements) {
  auto *base = static_cast<unsigned char *>(const_cast<void *>(data));
  unsigned char *target = elements->data();
  if (tensor.count == 0) return;
  if (tensor.dense) {
    __tsan_read_range(base, tensor.bytes());
    std::memcpy(target, base, tensor.bytes());
    return;
  }
  walk(tensor, [&](std::int64_t offset) {
    __tsan_read_range(base + offset, tensor.size);
    std::memcpy(target, base + offset, tensor.size);
    target += tensor.size;
  });
}

void store(const Tensor &tensor, void *data, const Elements &elements) {
  auto *base = static_cast<unsigned char *>(data);
  const unsigned char *source = elements.data();
  if (tensor.count == 0) return;
  if (tensor.dense) {
    __tsan_write_range(base, tensor.bytes());
    std::memcpy(base, source, tensor.bytes());
    return;
  }
  walk(tensor, [&](std::int64_t offset) {
    __tsan_write_range(base + offset, tensor.size);
    std::memcpy(base + offset, source, tensor.size);
    source += tensor.size;
  });
}

// ---- Numbers ------------------------------------------------------------------------------------

template <typename Number>
Number number_at(cnnlDataType_t dtype, const unsigned char *element) {
  switch (dtype) {
    case CNNL_DTYPE_HALF:
      return static_cast<Number>(read_as<_Float16>(element));
    case CNNL_DTYPE_BFLOAT16:
      return static_cast<Number>(bfloat_at(element));
    case CNNL_DTYPE_FLOAT:
      return static_cast<Number>(read_as<float>(element));
    case CNNL_DTYPE_DOUBLE:
      return static_cast<Number>(read_as<double>(element));
    case CNNL_DTYPE_INT8:
      return static_cast<Number>(read_as<std::int8_t>(element));
    case CNNL_DTYPE_INT16:
      return static_cast<Number>(read_as<std::int16_t>(element));
    case CNNL_DTYPE_INT32:
      return static_cast<Number>(read_as<std::int32_t>(element));
    case CNNL_DTYPE_INT64:
      return static_cast<Number>(read_as<std::int64_t>(element));
    case CNNL_DTYPE_UINT16:
      return static_cast<Number>(read_as<std::uint16_t>(element));
    case CNNL_DTYPE_UINT32:
      return static_cast<Number>(read_as<std::uint32_t>(element));
    case CNNL_DTYPE_UINT64:
      return static_cast<Number>(read_as<std::uint64_t>(element));
    default:  // bool and uint8
      return static_cast<Number>(*element);
  }
}

template <typename Number>
void put_number(cnnlDataType_t dtype, unsigned char *element, Number value) {
  switch (dtype) {
    case CNNL_DTYPE_HALF:
      return write_as(element, static_cast<_Float16>(value));
    case CNNL_DTYPE_BFLOAT16:
      return put_bfloat(element, static_cast<double>(value));
    case CNNL_DTYPE_FLOAT:
      return write_as(element, static_cast<float>(value));
    case CNNL_DTYPE_DOUBLE:
      return write_as(element, static_cast<double>(value));
    case CNNL_DTYPE_BOOL:
      *element = value != 0 ? 1 : 0;
      return;
    default:
      break;
  }
  // Integers wrap around.
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  std::memcpy(element, &bits, size_of(dtype));
}

template double number_at<double>(cnnlDataType_t, const unsigned char *);
template std::int64_t number_at<std::int64_t>(cnnlDataType_t, const unsigned char *);
template void put_number<double>(cnnlDataType_t, unsigned char *, double);
template void put_number<std::int64_t>(cnnlDataType_t, unsigned char *, std::int64_t);

}  // namespace cnnl
