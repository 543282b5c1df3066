// border_align as custom operators of PyTorch, for tiny arrays.

#include "torch_tensors.h"

namespace {

namespace border_align {

struct Sample {
  int64_t pixel[4];
  float weight[4];
};

Sample sample(float x, float y, int64_t H, int64_t W) {
  Sample s{};
  if (!(y >= -1 && y <= H && x >= -1 && x <= W)) return s;
  x = std::max(x, 0.0f), y = std::max(y, 0.0f);
  int64_t l = std::min<int64_t>(static_cast<int64_t>(x), W - 1), t = std::min<int64_t>(static_cast<int64_t>(y), H - 1);
  int64_t r = std::min(l + 1, W - 1), d = std::min(t + 1, H - 1);
  float lx = l == W - 1 ? 0 : x - l, ly = t == H - 1 ? 0 : y - t;
  int64_t pixels[4] = {t * W + l, t * W + r, d * W + l, d * W + r};
  float weights[4] = {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx};
  std::copy_n(pixels, 4, s.pixel);
  std::copy_n(weights, 4, s.weight);
  return s;
}

Sample border_sample(const float *box, int64_t e, int64_t i, int64_t pool, int64_t H, int64_t W) {
  float sx = (box[2] - box[0]) / pool, sy = (box[3] - box[1]) / pool;
  float x = e < 2 ? box[0] : box[2], y = e < 2 ? box[1] : box[3], sign = e < 2 ? 1 : -1;
  return sample(x + (e % 2 == 0 ? sign * sx * i : 0), y + (e % 2 == 1 ? sign * sy * i : 0), H, W);
}

void border_align_forward(const Tensor &x, const Tensor &boxes, int64_t pool, const Tensor &out, const Tensor &argmax) {
  const float *in = floats(x, 4), *box = floats(boxes, 3);
  int64_t N = x.size(0), H = x.size(1), W = x.size(2), C = x.size(3) / 4, K = boxes.size(1);
  TORCH_CHECK(x.size(3) % 4 == 0 && boxes.size(0) == N && boxes.size(2) == 4 && pool > 0, "boxes are wrong");
  float *y = output(out, {N, K, 4, C});
  check(argmax, at::kInt, 4);
  TORCH_CHECK(argmax.sizes() == out.sizes(), "argmax_idx is wrong");
  int *where = argmax.mutable_data_ptr<int>();
  for (int64_t b = 0; b < N * K; ++b)
    for (int64_t e = 0; e < 4; ++e)
      for (int64_t i = 0; i <= pool; ++i) {
        Sample s = border_sample(box + b * 4, e, i, pool, H, W);
        for (int64_t c = 0; c < C; ++c) {
          float value = 0;
          for (int64_t j = 0; j < 4; ++j) value += s.weight[j] * in[(b / K * H * W + s.pixel[j]) * 4 * C + e * C + c];
          int64_t at = (b * 4 + e) * C + c;
          if (i == 0 || value > y[at]) y[at] = value, where[at] = static_cast<int>(i);
        }
      }
}

void border_align_backward(const Tensor &g, const Tensor &boxes, const Tensor &argmax, int64_t pool,
                           at::IntArrayRef size, const Tensor &out) {
  const float *in = floats(g, 4), *box = floats(boxes, 3);
  const int *where = ints(argmax, 4);
  TORCH_CHECK(size.size() == 2 && g.sizes() == argmax.sizes() && boxes.size(1) == g.size(1) && pool > 0,
              "sizes differ");
  int64_t N = g.size(0), K = g.size(1), C = g.size(3), H = size[0], W = size[1];
  float *y = output(out, {N, H, W, 4 * C});
  std::fill_n(y, out.numel(), 0.0f);
  for (int64_t b = 0; b < N * K; ++b)
    for (int64_t e = 0; e < 4; ++e)
      for (int64_t c = 0; c < C; ++c) {
        int64_t at = (b * 4 + e) * C + c;
        if (where[at] < 0 || where[at] > pool) continue;
        Sample s = border_sample(box + b * 4, e, where[at], pool, H, W);
        for (int64_t j = 0; j < 4; ++j) y[(b / K * H * W + s.pixel[j]) * 4 * C + e * C + c] += s.weight[j] * in[at];
      }
}

}  // namespace border_align

}  // namespace

TORCH_LIBRARY_FRAGMENT(pymluops_bench, m) {
  m.def("border_align_forward(Tensor x, Tensor boxes, int pool, Tensor(a!) out, Tensor(b!) argmax) -> ()");
  m.def("border_align_backward(Tensor g, Tensor boxes, Tensor argmax, int pool, int[] size, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(pymluops_bench, CPU, m) {
  m.impl("border_align_forward", border_align::border_align_forward);
  m.impl("border_align_backward", border_align::border_align_backward);
}
