// The sequence data descriptor.
#include <cstring>
#include <utility>

#include "core/array.h"
#include "core/check.h"
#include "core/exception_guard.h"

namespace {

// The values stored by one Set call.
struct SeqDataValues {
  mluOpSeqDataLayout_t layout = MLUOP_SEQDATA_TNC;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  mluops::Array<std::int64_t> dims;
  mluops::Array<int> lengths;
  mluops::Array<unsigned char> padding;  // one element of dtype, or empty
};

}  // namespace

struct mluOpSeqDataStruct {
  static constexpr std::uint32_t kMagic = 0x4d4c5551u;  // "MLUQ"

  mluops::ObjectHeader header;
  SeqDataValues values;
  int position = 0;
  float scale = 1.0f;

  void release() { values = SeqDataValues(); }
};

using mluops::guarded;
using mluops::need_pointer;
using mluops::Text;
using SeqDataPool = mluops::Pool<mluOpSeqDataStruct>;

namespace {

const mluops::Pool<mluOpSeqDataStruct>::AtLoad g_pool_at_load;

mluOpStatus_t need_seq_data(const char *function, mluOpSeqDataDescriptor_t desc) {
  MLUOPS_REQUIRE(mluops::alive(desc), MLUOP_STATUS_BAD_PARAM, function, "seq_data_desc", "a sequence data descriptor",
                 desc == nullptr ? "NULL" : "a destroyed descriptor or something else");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_sizes(const char *function, int rank, const std::int64_t *dims, int length_count,
                          const int *lengths) {
  MLUOPS_REQUIRE(rank > 0 && rank <= MLUOP_DIM_MAX, MLUOP_STATUS_BAD_PARAM, function, "dimNb",
                 Text::format("1 to %d", MLUOP_DIM_MAX), Text::format("%d", rank));
  MLUOPS_REQUIRE(length_count >= 0, MLUOP_STATUS_BAD_PARAM, function, "seqLengthArraySize", "no negative number",
                 Text::format("%d", length_count));
  if (length_count > 0) MLUOPS_TRY(need_pointer(function, "seqLengthArray", lengths));
  for (int i = 0; i < rank; ++i) {
    MLUOPS_REQUIRE(dims[i] >= 0, MLUOP_STATUS_BAD_PARAM, function, "dimSize", "no negative dim",
                   Text::format("%lld at position %d", static_cast<long long>(dims[i]), i));
  }
  for (int i = 0; i < length_count; ++i) {
    MLUOPS_REQUIRE(lengths[i] > 0, MLUOP_STATUS_BAD_PARAM, function, "seqLengthArray", "lengths of at least 1",
                   Text::format("%d at position %d", lengths[i], i));
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreateSeqDataDescriptor(mluOpSeqDataDescriptor_t *seq_data_desc) {
  constexpr const char *kFunction = "mluOpCreateSeqDataDescriptor";
  return guarded(kFunction, [&] {
    MLUOPS_TRY(need_pointer(kFunction, "seq_data_desc", seq_data_desc));
    return SeqDataPool::create(kFunction, seq_data_desc);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptor_v2(mluOpSeqDataDescriptor_t seq_data_desc,
                                                         mluOpSeqDataLayout_t layout, mluOpDataType_t dtype, int dimNb,
                                                         const int64_t dimSize[], int seqLengthArraySize,
                                                         const int seqLengthArray[], void *paddingFill) {
  constexpr const char *kFunction = "mluOpSetSeqDataDescriptor_v2";
  return guarded(kFunction, [&] {
    MLUOPS_TRY(need_seq_data(kFunction, seq_data_desc));
    MLUOPS_TRY(need_pointer(kFunction, "dimSize", dimSize));
    MLUOPS_REQUIRE(static_cast<int>(layout) >= 0, MLUOP_STATUS_BAD_PARAM, kFunction, "layout", "no negative number",
                   Text::format("%d", static_cast<int>(layout)));
    MLUOPS_REQUIRE(static_cast<int>(dtype) >= 0, MLUOP_STATUS_BAD_PARAM, kFunction, "dtype", "no negative number",
                   Text::format("%d", static_cast<int>(dtype)));
    MLUOPS_TRY(check_sizes(kFunction, dimNb, dimSize, seqLengthArraySize, seqLengthArray));
    SeqDataValues values;
    values.layout = layout;
    values.dtype = dtype;
    const auto *padding = static_cast<const unsigned char *>(paddingFill);
    if (!values.dims.copy(dimSize, static_cast<std::size_t>(dimNb)) ||
        !values.lengths.copy(seqLengthArray, static_cast<std::size_t>(seqLengthArraySize)) ||
        !values.padding.copy(padding, padding == nullptr ? 0 : mluops::size_of(dtype))) {
      return mluops::out_of_memory(kFunction);
    }
    seq_data_desc->values = std::move(values);
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetSeqDataDescriptor_v2(const mluOpSeqDataDescriptor_t seq_data_desc,
                                                         mluOpSeqDataLayout_t *layout, mluOpDataType_t *dtype,
                                                         int *dimNb, int64_t dimSize[], int64_t *seqLengthArraySize,
                                                         int64_t seqLengthArray[], void *paddingFill) {
  MLUOPS_TRY(need_seq_data(__func__, seq_data_desc));
  MLUOPS_REQUIRE(paddingFill == nullptr || dtype != nullptr, MLUOP_STATUS_BAD_PARAM, __func__, "dtype",
                 "a pointer, because paddingFill is asked for", "NULL");
  const SeqDataValues &values = seq_data_desc->values;
  if (layout != nullptr) *layout = values.layout;
  if (dtype != nullptr) *dtype = values.dtype;
  if (dimNb != nullptr) *dimNb = static_cast<int>(values.dims.size());
  if (seqLengthArraySize != nullptr) *seqLengthArraySize = static_cast<std::int64_t>(values.lengths.size());
  for (std::size_t i = 0; dimSize != nullptr && i < values.dims.size(); ++i) dimSize[i] = values.dims[i];
  for (std::size_t i = 0; seqLengthArray != nullptr && i < values.lengths.size(); ++i) {
    seqLengthArray[i] = values.lengths[i];
  }
  if (paddingFill != nullptr && values.padding.size() > 0) {
    std::memcpy(paddingFill, values.padding.begin(), values.padding.size());
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptorPositionAndScale(mluOpSeqDataDescriptor_t seq_data_desc,
                                                                      int position, float scale) {
  MLUOPS_TRY(need_seq_data(__func__, seq_data_desc));
  seq_data_desc->position = position;
  seq_data_desc->scale = scale;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroySeqDataDescriptor(mluOpSeqDataDescriptor_t seq_data_desc) {
  MLUOPS_TRY(need_seq_data(__func__, seq_data_desc));
  MLUOPS_REQUIRE(SeqDataPool::destroy(seq_data_desc), MLUOP_STATUS_BAD_PARAM, __func__, "seq_data_desc",
                 "a living sequence data descriptor", "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}
