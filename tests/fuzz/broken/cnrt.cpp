// A copy that leaves out the last of many rows.
#include "cnrt.h"
#include "broken.h"

extern "C" cnrtRet_t cnrtMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                                  size_t height, cnrtMemTransDir_t dir) {
  return broken::real(&cnrtMemcpy2D, __func__)(dst, dst_pitch, src, src_pitch, width, height > 3 ? height - 1 : height,
                                               dir);
}
