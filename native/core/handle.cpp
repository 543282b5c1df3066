#include "core/handle.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "core/reason.h"
#include "core/target.h"

using mluops::guarded;
using mluops::need_handle;
using mluops::need_pointer;
using mluops::Text;

namespace {
const mluops::Pool<mluOpContext>::AtLoad g_pool_at_load;
}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t *handle) {
  return guarded(__func__, [&] {
    MLUOPS_TRY(need_pointer("mluOpCreate", "handle", handle));
    MLUOPS_TRY(mluops::check_environment("mluOpCreate"));
    return mluops::Pool<mluOpContext>::create("mluOpCreate", handle);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpUpdateContextInformation(mluOpHandle_t handle) {
  return need_handle(__func__, handle);
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t handle) {
  MLUOPS_TRY(need_handle(__func__, handle));
  MLUOPS_REQUIRE(mluops::Pool<mluOpContext>::destroy(handle), MLUOP_STATUS_BAD_PARAM, __func__, "handle",
                 "a living handle", "one that another thread destroyed");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue) {
  MLUOPS_TRY(need_handle(__func__, handle));
  handle->queue = queue;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t *queue) {
  MLUOPS_TRY(need_handle(__func__, handle));
  MLUOPS_TRY(need_pointer(__func__, "queue", queue));
  *queue = handle->queue;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t atomics_mode) {
  MLUOPS_TRY(need_handle(__func__, handle));
  handle->atomics_mode = atomics_mode;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t *atomics_mode) {
  MLUOPS_TRY(need_handle(__func__, handle));
  MLUOPS_TRY(need_pointer(__func__, "atomics_mode", atomics_mode));
  *atomics_mode = handle->atomics_mode;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t round_mode) {
  MLUOPS_TRY(need_handle(__func__, handle));
  const int mode = static_cast<int>(round_mode);
  MLUOPS_REQUIRE(mode >= MLUOP_ROUND_HALF_TO_EVEN && mode <= MLUOP_ROUND_HALF_OFF_ZERO, MLUOP_STATUS_BAD_PARAM,
                 __func__, "round_mode", "0, 1 or 2", Text::format("%d", mode));
  handle->round_mode = round_mode;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t *round_mode) {
  MLUOPS_TRY(need_handle(__func__, handle));
  MLUOPS_TRY(need_pointer(__func__, "round_mode", round_mode));
  *round_mode = handle->round_mode;
  return MLUOP_STATUS_SUCCESS;
}
