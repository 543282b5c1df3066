#include "profile/cost.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace mlusim {
namespace {

// Sorted by name: of several prefixes of a name, the longest stands last.
constexpr CostRule kRules[] = {
    {"__bang_", Speed::kElementwise, 1},
    {"__bang_active_", Speed::kFunction, 1},
    {"__bang_active_abs", Speed::kElementwise, 1},
    {"__bang_active_relu", Speed::kElementwise, 1},
    {"__bang_active_sign", Speed::kElementwise, 1},
    {"__bang_conv", Speed::kMatrix, 2},
    {"__bang_cos", Speed::kFunction, 1},
    {"__bang_div", Speed::kFunction, 1},
    {"__bang_fusion", Speed::kElementwise, 2},
    {"__bang_gather", Speed::kElementwise, 0},
    {"__bang_histogram", Speed::kMatrix, 2},
    {"__bang_integral", Speed::kMatrix, 2},
    {"__bang_log", Speed::kFunction, 1},
    {"__bang_lut", Speed::kFunction, 1},
    {"__bang_matmul", Speed::kMatrix, 2},
    {"__bang_mirror", Speed::kElementwise, 0},
    {"__bang_mlp", Speed::kMatrix, 2},
    {"__bang_move", Speed::kElementwise, 0},
    {"__bang_pad", Speed::kElementwise, 0},
    {"__bang_pow", Speed::kFunction, 1},
    {"__bang_recip", Speed::kFunction, 1},
    {"__bang_rem", Speed::kFunction, 1},
    {"__bang_reshape", Speed::kElementwise, 0},
    {"__bang_rotate", Speed::kElementwise, 0},
    {"__bang_rsqrt", Speed::kFunction, 1},
    {"__bang_sin", Speed::kFunction, 1},
    {"__bang_sqrt", Speed::kFunction, 1},
    {"__bang_tanh", Speed::kFunction, 1},
    {"__bang_taylor", Speed::kFunction, 1},
    {"__bang_tiling", Speed::kElementwise, 0},
    {"__bang_transpose", Speed::kElementwise, 0},
    {"__bang_write", Speed::kElementwise, 0},
    {"__cn_vector_", Speed::kFunction, 1},
    {"__cn_vector_abs", Speed::kElementwise, 1},
    {"__cn_vector_cast", Speed::kElementwise, 1},
    {"__extension", Speed::kElementwise, 0},
    {"__memcpy", Speed::kElementwise, 0},
    {"__memset_nram", Speed::kElementwise, 0},
    {"__nramset", Speed::kElementwise, 0},
    {"__vv_", Speed::kElementwise, 1},
    {"div.scalar.nram.", Speed::kFunction, 1},
    {"fuse.nram.", Speed::kElementwise, 1},
    {"fusor::", Speed::kElementwise, 1},
    {"fusor::div", Speed::kFunction, 1},
    {"fusor::sqrt", Speed::kFunction, 1},
    {"div.scalar.nram", Speed::kFunction, 1},
    {"fuse.nram", Speed::kElementwise, 1},
};

constexpr std::uint64_t kLine = 64;          // bytes, of device memory
constexpr std::uint64_t kLeastVector = 128;  // the least number of bytes that a vector instruction works on
constexpr std::uint64_t kByteElements = 64;  // elements of one byte per cycle

std::uint64_t lines_of(std::uintptr_t begin, std::uint64_t bytes, bool written) {
  const std::uintptr_t end = begin + bytes;
  const std::uint64_t lines = (end + kLine - 1) / kLine - begin / kLine;
  if (!written) return lines;
  const bool first = begin % kLine != 0;
  const bool last = end % kLine != 0 && (lines > 1 || !first);
  return lines + (first ? 1 : 0) + (last ? 1 : 0);
}

double matrix_rate(const mlusimTimeModel &model, std::uint64_t element) {
  if (element <= 1) return model.matrix_byte_operations;
  return element == 2 ? model.matrix_half_operations : model.matrix_float_operations;
}

}  // namespace

const CostRule *cost_rule(const char *name) {
  for (const CostRule *rule = std::end(kRules); rule != std::begin(kRules);) {
    --rule;
    if (std::strncmp(rule->prefix, name, std::strlen(rule->prefix)) == 0) return rule;
  }
  return nullptr;
}

double compute_time(const mlusimTimeModel &model, Speed speed, const ComputeSize &size) {
  if (speed == Speed::kMatrix) {
    const double cycles = static_cast<double>(size.operations) / matrix_rate(model, size.element);
    return cycles_to_ns(model, model.vector_startup_cycles + std::ceil(cycles));
  }
  // Instructions such as pools do more operations than they have operands.
  const std::uint64_t element = size.element == 0 ? 4 : size.element;
  const std::uint64_t bytes = std::max({size.widest, size.operations * element, kLeastVector});
  const double width = element == 1 ? static_cast<double>(kByteElements) : model.vector_bytes_per_cycle;
  const double passes = speed == Speed::kFunction ? model.function_passes : 1;
  return cycles_to_ns(model, model.vector_startup_cycles + passes * std::ceil(static_cast<double>(bytes) / width));
}

double on_chip_time(const mlusimTimeModel &model, std::uint64_t bytes) {
  const double cycles = std::ceil(static_cast<double>(bytes) / model.on_chip_bytes_per_cycle);
  return cycles_to_ns(model, model.on_chip_latency_cycles + cycles);
}

std::uint64_t off_chip_bytes(const Region &region, bool written) {
  std::uint64_t lines = 0;
  for_each_piece(region, [&lines, written](const char *begin, std::size_t bytes) {
    lines += lines_of(reinterpret_cast<std::uintptr_t>(begin), bytes, written);
  });
  return lines * kLine;
}

}  // namespace mlusim
