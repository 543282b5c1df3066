// __bang_lut, __bang_incseq.
#include <string>

#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "machine/trap.h"
#include "mlusim/elementwise.h"

namespace mlusim {
namespace {

template <typename T, typename Index>
void report_index(const Call &call, const Index *place, const T *table, int length) {
  FindingText text = {"memory", "table-index"};
  text.pc = call.pc;
  text.address = table;
  text.size = static_cast<std::uint64_t>(length) * sizeof(T);
  text.message = std::string(call.name) + " looks up element " + std::to_string(*place) + " of a table of " +
                 std::to_string(length);
  report(&call.core, text);
}

// An index outside the table gives 0. It is a finding only if it is defined: padding behind the
// data may hold any value.
template <typename T, typename Index>
void vector_lookup(const Call &call, T *dst, const Index *indices, const T *table, int count, int length) {
  if (!has_vector_work(call, count) || !has_work(call, length)) return;
  const std::int64_t size = sizeof(T);
  check_operands(call,
                 {nram_source("idx", indices, count * size), nram_source("table", table, length * size),
                  nram_target("dst", dst, count * size)},
                 {count, count * size});
  for (int i = 0; i < count; ++i) {
    const Index index = indices[i];
    const bool inside = static_cast<std::int64_t>(index) >= 0 && static_cast<std::int64_t>(index) < length;
    if (g_observers.init) {
      const bool known = shadow_defined(indices + i, size);
      if (known && !inside) report_index(call, indices + i, table, length);
      shadow_set(dst + i, size, known && (!inside || shadow_defined(table + index, size)));
    }
    dst[i] = inside ? table[index] : static_cast<T>(0);
  }
}

template <typename T>
void vector_sequence(const Call &call, T *dst, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  check_operands(call, {nram_target("dst", dst, bytes)}, {count, bytes});
  for (int i = 0; i < count; ++i) dst[i] = i;
  if (g_observers.init) shadow_set(dst, bytes, true);
}

}  // namespace
}  // namespace mlusim

void __bang_lut(int *dst, const unsigned int *idx, const int *table, int elem_count, int table_length) {
  mlusim::vector_lookup(MLUSIM_CALL("__bang_lut"), dst, idx, table, elem_count, table_length);
}
void __bang_lut(short *dst, const unsigned short *idx, const short *table, int elem_count, int table_length) {
  mlusim::vector_lookup(MLUSIM_CALL("__bang_lut"), dst, idx, table, elem_count, table_length);
}
void __bang_lut_s32(int *dst, const int *src, const int *table, int elem_count, int table_length) {
  mlusim::vector_lookup(MLUSIM_CALL("__bang_lut_s32"), dst, src, table, elem_count, table_length);
}
void __bang_lut_s16(int16 *dst, const int16 *src, const int16 *table, int elem_count, int table_length) {
  mlusim::vector_lookup(MLUSIM_CALL("__bang_lut_s16"), dst, src, table, elem_count, table_length);
}
void __bang_incseq(int *dst, int elem_count) { mlusim::vector_sequence(MLUSIM_CALL("__bang_incseq"), dst, elem_count); }
void __bang_incseq(std::int64_t *dst, int elem_count) {
  mlusim::vector_sequence(MLUSIM_CALL("__bang_incseq"), dst, elem_count);
}
