// Arguments of custom operators of PyTorch for tiny arrays: checked, loops written plainly, outputs
// given.

#ifndef BENCHMARKS_PEERS_TORCH_TENSORS_H_
#define BENCHMARKS_PEERS_TORCH_TENSORS_H_

#include <torch/library.h>

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cmath>

namespace {

using at::Tensor;

void check(const Tensor &t, at::ScalarType type, int64_t dims) {
  TORCH_CHECK(t.scalar_type() == type && t.dim() == dims && t.is_contiguous(), "an argument has a wrong type or shape");
}

const float *floats(const Tensor &t, int64_t dims) {
  check(t, at::kFloat, dims);
  return t.const_data_ptr<float>();
}

const int *ints(const Tensor &t, int64_t dims) {
  check(t, at::kInt, dims);
  return t.const_data_ptr<int>();
}

float *output(const Tensor &t, at::IntArrayRef shape) {
  TORCH_CHECK(t.scalar_type() == at::kFloat && t.sizes() == shape && t.is_contiguous(), "the output is wrong");
  return t.mutable_data_ptr<float>();
}

}  // namespace

#endif  // BENCHMARKS_PEERS_TORCH_TENSORS_H_
