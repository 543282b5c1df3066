// A library that implements some functions of mlu_op.h that those of this project may lack, in a
// few lines each. Handles, tensor descriptors and CNRT are those of the library that it is linked
// with: for the CPU, or with -DON_DEVICE for the simulated device, whose memory it reaches through
// CNRT only.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mlu_op.h"
#ifdef ON_DEVICE
#include "cnrt.h"
#endif

namespace {

constexpr mluOpStatus_t kOk = MLUOP_STATUS_SUCCESS, kBad = MLUOP_STATUS_BAD_PARAM;

int g_live = 0;
std::atomic<int> g_slow_calls{0};

bool copy(void *target, const void *source, size_t size, bool to_host) {
#ifdef ON_DEVICE
  return cnrtMemcpy(target, const_cast<void *>(source), size, to_host ? cnrtMemcpyDevToHost : cnrtMemcpyHostToDev) ==
         cnrtSuccess;
#else
  (void)to_host;
  std::memcpy(target, source, size);
  return true;
#endif
}

template <typename T>
std::vector<T> read(const void *data, size_t count) {
  std::vector<T> values(count);
  if (count > 0 && !copy(values.data(), data, count * sizeof(T), true)) values.clear();
  return values;
}

template <typename T>
mluOpStatus_t write(void *data, const std::vector<T> &values) {
  return values.empty() || copy(data, values.data(), values.size() * sizeof(T), false) ? kOk : kBad;
}

size_t count_of(mluOpTensorDescriptor_t desc) { return mluOpGetTensorElementNum(desc); }

std::vector<int> dims_of(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t *layout = nullptr) {
  int rank = 0, dims[8] = {};
  mluOpTensorLayout_t found;
  mluOpDataType_t dtype;
  mluOpGetTensorDescriptor(desc, &found, &dtype, &rank, dims);
  if (layout != nullptr) *layout = found;
  return std::vector<int>(dims, dims + rank);
}

struct Unary {
  const float *x;
  float *y;
  size_t count;
};

void run_abs(void *data) {
  Unary *work = static_cast<Unary *>(data);
  if (work->count > 0 && work->x[0] < 0) usleep(20000);  // so that what does not wait for it comes too early
  for (size_t i = 0; i < work->count; i++) work->y[i] = std::fabs(work->x[i]);
  delete work;
}

std::string g_directory = "/first";

}  // namespace

struct cnnlNmsStruct {
  float iou_threshold = 0;
  int max_output_size = 0;
  bool pad = false;
};
struct cnnlDCNStruct {
  size_t digits = 0;
};
struct mluOpCarafeStruct {
  float numbers[4];
};
struct mluOpAdamWStruct {
  float weight_decay = 0, grad_scale = 1;
  bool nesterov = false, remove_nan = false;
};
struct mluOpFFTStruct {
  size_t count = 0;
  int n = 0;
  void *reserve = nullptr;
};
struct cnnlRoiAlignStruct {
  int numbers[4];
  float scale;
  bool aligned;
};

extern "C" {

// Its own, so that this library is told apart from the one behind it.
mluOpStatus_t mluOpCreate(mluOpHandle_t *handle) {
  auto next = reinterpret_cast<mluOpStatus_t (*)(mluOpHandle_t *)>(dlsym(RTLD_NEXT, "mluOpCreate"));
  return next(handle);
}

int other_live() { return g_live; }
int other_slow_calls() { return g_slow_calls; }

// The functions below give no reasons, and what the library behind this one says is about something
// else.
const char *mluopsExtGetLastReason() { return ""; }

mluOpStatus_t mluOpAbs(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
                       const mluOpTensorDescriptor_t y_desc, void *y) {
  if (count_of(x_desc) != count_of(y_desc)) return kBad;
  Unary *work = new Unary{static_cast<const float *>(x), static_cast<float *>(y), count_of(x_desc)};
#ifdef ON_DEVICE
  cnrtQueue_t queue = nullptr;
  mluOpGetQueue(handle, &queue);
  return cnrtInvokeHostFunc(queue, run_abs, work) == cnrtSuccess ? kOk : MLUOP_STATUS_EXECUTION_FAILED;
#else
  (void)handle;
  run_abs(work);
  return kOk;
#endif
}

mluOpStatus_t mluOpBallQuery(mluOpHandle_t, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
                             const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const float min_radius,
                             const float max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
                             void *idx) {
  const std::vector<int> queries = dims_of(new_xyz_desc), points = dims_of(xyz_desc);
  const auto centres = read<float>(new_xyz, count_of(new_xyz_desc)), all = read<float>(xyz, count_of(xyz_desc));
  auto found = read<int>(idx, count_of(idx_desc));  // what is not found keeps its content
  for (int b = 0; b < queries[0]; b++) {
    for (int m = 0; m < queries[1]; m++) {
      int number = 0;
      for (int n = 0; n < points[1] && number < nsample; n++) {
        float squared = 0;
        for (int c = 0; c < 3; c++) {
          const float d = centres[(b * queries[1] + m) * 3 + c] - all[(b * points[1] + n) * 3 + c];
          squared += d * d;
        }
        if (squared >= min_radius * min_radius && squared < max_radius * max_radius) {
          found[(b * queries[1] + m) * nsample + number++] = n;
        }
      }
    }
  }
  return write(idx, found);
}

mluOpStatus_t mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t, const mluOpTensorDescriptor_t known_desc,
                                                  size_t *workspace_size) {
  *workspace_size = count_of(known_desc) * sizeof(float);
  return kOk;
}

// The workspace holds the known points; each unknown one is given the first three of them.
mluOpStatus_t mluOpThreeNNForward(const mluOpHandle_t, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
                                  const mluOpTensorDescriptor_t known_desc, const void *known, void *workspace,
                                  const size_t workspace_size, const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                  const mluOpTensorDescriptor_t idx_desc, void *idx) {
  if (workspace == nullptr || workspace_size < count_of(known_desc) * sizeof(float)) return kBad;
  if (write(workspace, read<float>(known, count_of(known_desc))) != kOk) return kBad;
  const auto points = read<float>(workspace, count_of(known_desc)), from = read<float>(unknown, count_of(unknown_desc));
  const std::vector<int> dims = dims_of(unknown_desc), others = dims_of(known_desc);
  std::vector<float> distances(count_of(dist2_desc));
  std::vector<int> indices(count_of(idx_desc));
  for (size_t i = 0; i < indices.size(); i++) {
    const int k = static_cast<int>(i % 3), row = static_cast<int>(i / 3), batch = row / dims[1];
    for (int c = 0; c < 3; c++) {
      const float d = from[row * 3 + c] - points[(batch * others[1] + k) * 3 + c];
      distances[i] += d * d;
    }
    indices[i] = k;
  }
  return write(dist2, distances) == kOk ? write(idx, indices) : kBad;
}

mluOpStatus_t mluOpCreateNmsDescriptor(mluOpNmsDescriptor_t *desc) {
  g_live++;
  *desc = new cnnlNmsStruct;
  return kOk;
}

mluOpStatus_t mluOpSetNmsDescriptor(mluOpNmsDescriptor_t desc, const mluOpNmsBoxPointMode_t, const mluOpNmsOutputMode_t,
                                    const mluOpNmsAlgo_t, const mluOpNmsMethodMode_t, const float iou_threshold,
                                    const float, const int max_output_size, const float, const float, const int,
                                    const bool pad) {
  if (max_output_size < 0) return kBad;
  desc->iou_threshold = iou_threshold;
  desc->max_output_size = max_output_size;
  desc->pad = pad;
  return kOk;
}

mluOpStatus_t mluOpDestroyNmsDescriptor(mluOpNmsDescriptor_t desc) {
  g_live--;
  delete desc;
  return kOk;
}

mluOpStatus_t mluOpGetNmsWorkspaceSize(mluOpHandle_t, mluOpNmsDescriptor_t, const mluOpTensorDescriptor_t boxes_desc,
                                       const mluOpTensorDescriptor_t confidence_desc, size_t *size) {
  *size = confidence_desc == nullptr ? 0 : count_of(boxes_desc);
  return kOk;
}

// Selects the first boxes; without confidence none.
mluOpStatus_t mluOpNms(mluOpHandle_t, const mluOpNmsDescriptor_t desc, const mluOpTensorDescriptor_t, const void *,
                       const mluOpTensorDescriptor_t confidence_desc, const void *confidence, void *workspace,
                       size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output,
                       void *output_size) {
  const bool none = confidence_desc == nullptr;
  if (none != (confidence == nullptr) || none != (workspace == nullptr) || none != (workspace_size == 0)) return kBad;
  if (desc->iou_threshold == 0.75f) {
    g_slow_calls++;
    usleep(200000);
  }
  std::vector<int> indices(count_of(output_desc), desc->pad ? 0 : -1);
  const int number = none ? 0 : std::min<int>(desc->max_output_size, static_cast<int>(indices.size()));
  for (int i = 0; i < number; i++) indices[i] = i;
  return write(output, indices) == kOk ? write(output_size, std::vector<int>{number}) : kBad;
}

mluOpStatus_t mluOpCreateRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t *desc) {
  g_live++;
  *desc = new cnnlRoiAlignStruct{};
  return kOk;
}

mluOpStatus_t mluOpSetRoiAlignForwardDescriptor_v2(mluOpRoiAlignForwardDescriptor_t desc, const int pooled_height,
                                                   const int pooled_width, const int sampling_ratio,
                                                   const float spatial_scale, const int pool_mode, const bool aligned) {
  *desc = {{pooled_height, pooled_width, sampling_ratio, pool_mode}, spatial_scale, aligned};
  return kOk;
}

mluOpStatus_t mluOpDestroyRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t desc) {
  g_live--;
  delete desc;
  return kOk;
}

// Writes its settings to the output, and whether argmax is given.
mluOpStatus_t mluOpRoiAlignForward_v2(mluOpHandle_t, const mluOpRoiAlignForwardDescriptor_t desc,
                                      const mluOpTensorDescriptor_t input_desc, const void *,
                                      const mluOpTensorDescriptor_t, const void *, const mluOpTensorDescriptor_t,
                                      void *output, const mluOpTensorDescriptor_t argmax_x_desc, void *argmax_x,
                                      const mluOpTensorDescriptor_t argmax_y_desc, void *argmax_y) {
  mluOpTensorLayout_t layout;
  dims_of(input_desc, &layout);
  if (layout != MLUOP_LAYOUT_NHWC) return kBad;
  const bool all = argmax_x_desc && argmax_x && argmax_y_desc && argmax_y;
  std::vector<float> values;
  for (int number : desc->numbers) values.push_back(static_cast<float>(number));
  values.insert(values.end(), {desc->scale, desc->aligned ? 1.0f : 0.0f, all ? 1.0f : 0.0f});
  return write(output, values);
}

mluOpStatus_t mluOpCreateDCNDescriptor(mluOpDCNDescriptor_t *desc) {
  g_live++;
  *desc = new cnnlDCNStruct;
  return kOk;
}

// Keeps its numbers as decimal digits.
mluOpStatus_t mluOpSetDCNDescriptor(mluOpDCNDescriptor_t desc, int dimNb, const int pad[], const int stride[],
                                    const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                    const mluOpDataType_t compute_type) {
  const int numbers[] = {pad[0],      pad[1],      pad[2],           pad[3],     stride[0],   stride[1],
                         dilation[0], dilation[1], deformable_group, conv_group, im2col_step, compute_type};
  if (dimNb != 4) return kBad;
  desc->digits = 0;
  for (int number : numbers) desc->digits = desc->digits * 10 + static_cast<size_t>(number);
  return kOk;
}

mluOpStatus_t mluOpDestroyDCNDescriptor(mluOpDCNDescriptor_t desc) {
  g_live--;
  delete desc;
  return kOk;
}

mluOpStatus_t mluOpGetDCNForwardWorkspaceSize(mluOpHandle_t, const mluOpDCNDescriptor_t desc,
                                              const mluOpTensorDescriptor_t, const mluOpTensorDescriptor_t,
                                              const mluOpTensorDescriptor_t mask_desc, const mluOpTensorDescriptor_t,
                                              const mluOpTensorDescriptor_t bias_desc, const mluOpTensorDescriptor_t,
                                              size_t *workspace_size) {
  *workspace_size = (desc->digits * 10 + (mask_desc != nullptr)) * 10 + (bias_desc != nullptr);
  return kOk;
}

mluOpStatus_t mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t *desc) {
  g_live++;
  *desc = new mluOpCarafeStruct{};
  return kOk;
}

mluOpStatus_t mluOpSetCarafeDescriptor(mluOpCarafeDescriptor_t desc, const int dimNb, const int kernel_size,
                                       const int group_size, const int scale_factor) {
  const int numbers[] = {dimNb, kernel_size, group_size, scale_factor};
  for (int i = 0; i < 4; i++) desc->numbers[i] = static_cast<float>(numbers[i]);
  return kOk;
}

mluOpStatus_t mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t desc) {
  g_live--;
  delete desc;
  return kOk;
}

mluOpStatus_t mluOpCarafeForward(mluOpHandle_t, const mluOpCarafeDescriptor_t desc, const mluOpTensorDescriptor_t,
                                 const void *, const mluOpTensorDescriptor_t, const void *,
                                 const mluOpTensorDescriptor_t, void *output) {
  return write(output, std::vector<float>(desc->numbers, desc->numbers + 4));
}

mluOpStatus_t mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t *desc) {
  g_live++;
  *desc = new mluOpAdamWStruct;
  return kOk;
}

mluOpStatus_t mluOpSetAdamWDescAttr(mluOpAdamWDescriptor_t desc, mluOpAdamWDescAttribute_t attr, const void *buf,
                                    const size_t size) {
  void *const fields[] = {&desc->weight_decay, &desc->grad_scale, &desc->nesterov, &desc->remove_nan};
  if (size != (attr < 2 ? sizeof(float) : sizeof(bool))) return kBad;
  std::memcpy(fields[attr], buf, size);
  return kOk;
}

mluOpStatus_t mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t desc) {
  g_live--;
  delete desc;
  return kOk;
}

// param -= lr * grad / grad_scale + weight_decay, in place.
mluOpStatus_t mluOpAdamW(mluOpHandle_t, mluOpAdamWDescriptor_t desc, const mluOpTensorDescriptor_t param_desc,
                         void *param, const mluOpTensorDescriptor_t, void *, const mluOpTensorDescriptor_t, void *,
                         const mluOpTensorDescriptor_t, void *, const mluOpTensorDescriptor_t, void *grad,
                         const float lr, const float, const float, const float, const float, const float) {
  auto values = read<float>(param, count_of(param_desc));
  const auto steps = read<float>(grad, count_of(param_desc));
  for (size_t i = 0; i < values.size(); i++) values[i] -= lr * steps[i] / desc->grad_scale + desc->weight_decay;
  return write(param, values);
}

mluOpStatus_t mluOpCreateFFTPlan(mluOpFFTPlan_t *plan) {
  g_live++;
  *plan = new mluOpFFTStruct;
  return kOk;
}

mluOpStatus_t mluOpMakeFFTPlanMany(mluOpHandle_t, mluOpFFTPlan_t plan, const mluOpTensorDescriptor_t input_desc,
                                   const mluOpTensorDescriptor_t, const int rank, const int n[],
                                   size_t *reservespace_size, size_t *workspace_size) {
  mluOpDataType_t on_chip;
  mluOpGetTensorDescriptorOnchipDataType(input_desc, &on_chip);
  if (rank != 1 || on_chip != MLUOP_DTYPE_FLOAT) return kBad;
  plan->count = count_of(input_desc);
  plan->n = n[0];
  *reservespace_size = 4 * sizeof(float);
  *workspace_size = plan->count * sizeof(float);
  return kOk;
}

mluOpStatus_t mluOpSetFFTReserveArea(mluOpHandle_t, mluOpFFTPlan_t plan, void *reservespace) {
  plan->reserve = reservespace;
  return write(reservespace, std::vector<float>{1, 2, 3, 4});
}

// Multiplies by the scale and the third number in the reserve area.
mluOpStatus_t mluOpExecFFT(mluOpHandle_t, const mluOpFFTPlan_t plan, const void *input, const float scale_factor,
                           void *workspace, void *output, int direction) {
  const auto table = read<float>(plan->reserve, 4);
  auto values = read<float>(input, plan->count);
  if (table.size() != 4 || values.size() != plan->count || write(workspace, values) != kOk) return kBad;
  for (float &value : values) value *= direction == 0 ? scale_factor * table[2] : 0;
  return write(output, values);
}

mluOpStatus_t mluOpDestroyFFTPlan(mluOpFFTPlan_t plan) {
  g_live--;
  delete plan;
  return kOk;
}

mluOpStatus_t mluOpLogspace(mluOpHandle_t, const float start, const float end, const int64_t steps, const float base,
                            const mluOpTensorDescriptor_t, void *res) {
  return write(res, std::vector<float>{start, end, static_cast<float>(steps), base});
}

mluOpStatus_t mluOpIndiceConvolutionBackwardData(mluOpHandle_t, const mluOpTensorDescriptor_t, const void *,
                                                 const mluOpTensorDescriptor_t, const void *,
                                                 const mluOpTensorDescriptor_t indice_pairs_desc, const void *,
                                                 const int64_t indice_num[], const int64_t inverse, const int64_t sub_m,
                                                 void *, const size_t, const mluOpTensorDescriptor_t input_grad_desc,
                                                 void *input_grad) {
  int64_t sum = inverse + sub_m;
  for (int i = 0; i < dims_of(indice_pairs_desc)[0]; i++) sum += indice_num[i];
  return write(input_grad, std::vector<float>(count_of(input_grad_desc), static_cast<float>(sum)));
}

mluOpStatus_t mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t, const mluOpTensorDescriptor_t, const mluOpTensorDescriptor_t, const mluOpTensorDescriptor_t,
    const mluOpTensorDescriptor_t, const int64_t indice_num[], const int64_t, size_t *workspace_size) {
  *workspace_size = static_cast<size_t>(indice_num[0]);
  return kOk;
}

mluOpStatus_t mluOpRoiPoolingForward(mluOpHandle_t, mluOpPoolingMode_t, const mluOpTensorDescriptor_t, const void *,
                                     const mluOpTensorDescriptor_t, const void *, float,
                                     const mluOpTensorDescriptor_t output_desc, void *output, int *argmax) {
  const size_t count = count_of(output_desc);
  return write(output, std::vector<float>(count, 2.0f)) == kOk ? write(argmax, std::vector<int>(count, 5)) : kBad;
}

mluOpStatus_t mluOpSetGenCaseDirectory(const char *path) {
  g_directory = path;
  return kOk;
}

const char *mluOpGetGenCaseDirectory(char *buffer, size_t bufferSize, size_t *pathLen, mluOpStatus_t *status) {
  *pathLen = 0;
  *status = kBad;
  if (g_directory.size() >= bufferSize) return buffer;
  std::memcpy(buffer, g_directory.c_str(), g_directory.size() + 1);
  *pathLen = g_directory.size();
  *status = kOk;
  return buffer;
}

}  // extern "C"
