// __bang_unpool, __bang_avgpool_bp, __bang_maxpool_bp: from the results of a pool back to its
// image.
#include <cstring>
#include <string>
#include <vector>

#include "check/init.h"
#include "intrinsics/product.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "intrinsics/windows.h"
#include "machine/trap.h"
#include "mlusim/reduce.h"

namespace mlusim {
namespace {

template <typename T>
Operand image_of(T *dst, const Windows &w) {
  return nram_target("dst", dst, w.elements() * std::int64_t{sizeof(T)});
}

template <typename T>
Operand results_of(const char *role, const T *src, const Windows &w) {
  return nram_source(role, src, w.results() * std::int64_t{sizeof(T)});
}

template <typename T>
Amount amount_of(const Windows &w) {
  return {w.channel, w.channel * std::int64_t{sizeof(T)}, w.operations()};
}

// An image of sums in float, rounded once, with a record of the elements that depend on undefined
// ones.
struct Sums {
  explicit Sums(const Windows &w)
      : count(w.elements()), values(scratch<float, 0>(count)), undefined(scratch<char, 0>(count)) {
    std::fill(values, values + count, 0.0f);
    std::fill(undefined, undefined + count, '\0');
  }
  void put(std::int64_t at, float value, bool defined, mluPoolBPOverlap overlap) {
    const bool covers = overlap == OVERLAP_COVER;
    values[at] = covers ? value : values[at] + value;
    undefined[at] = static_cast<char>((covers ? 0 : undefined[at]) | (defined ? 0 : 1));
  }
  template <typename T>
  void round_to(T *dst) const {
    for (std::int64_t i = 0; i < count; ++i) {
      dst[i] = static_cast<T>(values[i]);
      if (g_observers.init) shadow_set(dst + i, sizeof(T), undefined[i] == 0);
    }
  }

  std::int64_t count;
  float *values;
  char *undefined;
};

void check_overlap(const Call &call, mluPoolBPOverlap overlap) {
  if (overlap == OVERLAP_ACC || overlap == OVERLAP_COVER) return;
  refuse(call, "bad-argument",
         "there is no way " + std::to_string(static_cast<int>(overlap)) + " for windows to overlap");
}

template <typename T>
void unpool(const Call &call, T *dst, const T *src, const Windows &w, int index) {
  if (!has_windows(call, w)) return;
  if (index < 0 || index >= w.places()) {
    refuse(call, "bad-argument", "place " + std::to_string(index) + " of a window of " + std::to_string(w.places()));
  }
  check_operands(call, {results_of("src", src, w), image_of(dst, w)}, amount_of<T>(w));
  for (std::int64_t result = 0; result < w.results(); ++result) {
    const bool defined = shadow_defined(src + result, sizeof(T));
    for (std::int64_t place = 0; place < w.places(); ++place) {
      T *to = dst + w.element(result, place);
      *to = place == index ? src[result] : static_cast<T>(0.0f);
      if (g_observers.init) shadow_set(to, sizeof(T), place != index || defined);
    }
  }
}

template <typename T>
void average_back(const Call &call, T *dst, const T *src, const Windows &w, mluPoolBPOverlap overlap) {
  if (!has_windows(call, w)) return;
  check_overlap(call, overlap);
  check_operands(call, {results_of("src", src, w), image_of(dst, w)}, amount_of<T>(w));
  Sums sums(w);
  const float places = static_cast<float>(w.places());
  for (std::int64_t result = 0; result < w.results(); ++result) {
    const bool defined = shadow_defined(src + result, sizeof(T));
    const float share = static_cast<float>(src[result]) / places;
    for (std::int64_t place = 0; place < w.places(); ++place)
      sums.put(w.element(result, place), share, defined, overlap);
  }
  sums.round_to(dst);
  drop_zero_signs(type_of<T>(), dst, sums.count);
}

template <typename T, typename Index>
void report_place(const Call &call, const Index *place, const Windows &w) {
  FindingText text = {"memory", "table-index"};
  text.pc = call.pc;
  text.address = place;
  text.size = sizeof *place;
  text.message = std::string(call.name) + ": mask names place " + std::to_string(*place) + " of a window of " +
                 std::to_string(w.places());
  report(&call.core, text);
}

template <typename T, typename Index>
void maximum_back(const Call &call, T *dst, const T *src, const Index *mask, const Windows &w,
                  mluPoolBPOverlap overlap) {
  if (!has_windows(call, w)) return;
  check_overlap(call, overlap);
  const Operand places = results_of("mask", mask, w);
  check_operands(call, {results_of("src", src, w), places, image_of(dst, w)}, amount_of<T>(w));
  if (w.results() > 0) need_initialised(call.core, places.region, places.role, call.name, call.pc);
  Sums sums(w);
  for (std::int64_t result = 0; result < w.results(); ++result) {
    const std::int64_t place = mask[result];
    if (place < 0 || place >= w.places()) {
      report_place<T>(call, mask + result, w);
      continue;
    }
    sums.put(w.element(result, place), static_cast<float>(src[result]), shadow_defined(src + result, sizeof(T)),
             overlap);
  }
  sums.round_to(dst);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_WINDOWS {channel, height, width, kernel_height, kernel_width, stride_height, stride_width}
#define MLUSIM_DEFINE_UNPOOL(T, name)                                    \
  void name(T *dst, const T *src, MLUSIM_POOL_SIZES, int index) {        \
    mlusim::unpool(MLUSIM_CALL(#name), dst, src, MLUSIM_WINDOWS, index); \
  }
#define MLUSIM_DEFINE_AVGPOOL_BP(T, name)                                        \
  void name(T *dst, const T *src, MLUSIM_POOL_SIZES, mluPoolBPOverlap overlap) { \
    mlusim::average_back(MLUSIM_CALL(#name), dst, src, MLUSIM_WINDOWS, overlap); \
  }
#define MLUSIM_DEFINE_MAXPOOL_BP(T, Index, name)                                                    \
  void name(T *dst, const T *src, const Index *mask, MLUSIM_POOL_SIZES, mluPoolBPOverlap overlap) { \
    mlusim::maximum_back(MLUSIM_CALL(#name), dst, src, mask, MLUSIM_WINDOWS, overlap);              \
  }
MLUSIM_REALS(MLUSIM_DEFINE_UNPOOL, __bang_unpool);
MLUSIM_REALS(MLUSIM_DEFINE_AVGPOOL_BP, __bang_avgpool_bp);
MLUSIM_DEFINE_MAXPOOL_BP(half, int16, __bang_maxpool_bp)
MLUSIM_DEFINE_MAXPOOL_BP(float, int, __bang_maxpool_bp)
MLUSIM_DEFINE_MAXPOOL_BP(bfloat16_t, unsigned short, __bang_maxpool_bp)
