#include "core/batch_rows.h"

#include <algorithm>

namespace mluops {

mluOpStatus_t read_batch_rows(const char *function, const TensorArgument &counts, const TensorArgument &stacked,
                              Array<std::int64_t> *rows) {
  const std::int64_t batches = counts.desc->count, all = stacked.desc->dims[0];
  if (!rows->make(static_cast<std::size_t>(batches) + 1)) return out_of_memory(function);
  std::int64_t *const first = rows->begin();
  const auto *number = static_cast<const std::int32_t *>(counts.data);
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t count = __atomic_load_n(number + b, __ATOMIC_RELAXED);  // it may change during the call
    first[b + 1] = std::min(all, first[b] + std::max<std::int64_t>(count, 0));
  }
  first[batches] = all;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops
