#ifndef MLUOPS_CORE_HANDLE_H_
#define MLUOPS_CORE_HANDLE_H_

#include "core/object.h"
#include "mlu_op.h"

struct mluOpContext {
  static constexpr std::uint32_t kMagic = 0x4d4c5548u;  // "MLUH"

  mluops::ObjectHeader header;
  cnrtQueue_t queue = nullptr;
  mluOpAtomicsMode_t atomics_mode = MLUOP_ATOMICS_NOT_ALLOWED;
  mluOpQuantizeRoundMode_t round_mode = MLUOP_ROUND_HALF_TO_EVEN;

  void release() {}
};

#endif  // MLUOPS_CORE_HANDLE_H_
