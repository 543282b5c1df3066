// Non-maximum suppression, which the CPU library computes.
#include <cstring>

#include "objects.h"
#include "operands.h"

namespace cnnl {
namespace {

struct Suppression {
  int box_mode = 0, output_mode = 0, algo = 0, method = 0;
  float iou_threshold = 0, sigma = 0, confidence_threshold = 0, offset = 0;
  int most = 0, layout = 0;
  bool pads = false;
};

auto &g_suppressions = *new Objects<Suppression, cnnlNmsDescriptor_t>("desc");

// A descriptor of the CPU library with these values.
class CpuDescriptor {
 public:
  explicit CpuDescriptor(const char *function) : function_(function) {}
  CpuDescriptor(const CpuDescriptor &) = delete;
  CpuDescriptor &operator=(const CpuDescriptor &) = delete;
  ~CpuDescriptor() {
    if (desc_ != nullptr) CNNL_CPU(function_, mluOpDestroyNmsDescriptor, desc_);
  }

  cnnlStatus_t set(const Suppression &how) {
    CNNL_TRY(CNNL_CPU(function_, mluOpCreateNmsDescriptor, &desc_));
    return CNNL_CPU(function_, mluOpSetNmsDescriptor, desc_, static_cast<mluOpNmsBoxPointMode_t>(how.box_mode),
                    static_cast<mluOpNmsOutputMode_t>(how.output_mode), static_cast<mluOpNmsAlgo_t>(how.algo),
                    static_cast<mluOpNmsMethodMode_t>(how.method), how.iou_threshold, how.sigma, how.most,
                    how.confidence_threshold, how.offset, how.layout, how.pads);
  }

  mluOpNmsDescriptor_t get() const { return desc_; }

 private:
  const char *const function_;
  mluOpNmsDescriptor_t desc_ = nullptr;
};

// Copies one attribute from host memory.
template <typename Value>
cnnlStatus_t take(const char *function, const void *value, std::size_t bytes, Value *target) {
  if (bytes != sizeof(Value)) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: bytes: expected %zu, got %zu", function, sizeof(Value), bytes);
  }
  std::memcpy(target, value, bytes);
  return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t set_attribute(const char *function, Suppression *how, cnnlNmsDescAttribute_t attribute, const void *value,
                           std::size_t bytes) {
  switch (attribute) {
    case CNNL_NMS_DESC_IOU_THRESHOLD:
      return take(function, value, bytes, &how->iou_threshold);
    case CNNL_NMS_DESC_INPUT_LAYOUT:
      return take(function, value, bytes, &how->layout);
    case CNNL_NMS_DESC_MAX_OUTPUT_SIZE:
      return take(function, value, bytes, &how->most);
    case CNNL_NMS_DESC_CONFIDENCE_THRESHOLD:
      return take(function, value, bytes, &how->confidence_threshold);
    case CNNL_NMS_DESC_OUTPUT_MODE:
      return take(function, value, bytes, &how->output_mode);
    case CNNL_NMS_DESC_OFFSET:
      return take(function, value, bytes, &how->offset);
    case CNNL_NMS_DESC_BOX_MODE:
      return take(function, value, bytes, &how->box_mode);
    case CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE:
      return take(function, value, bytes, &how->pads);
    case CNNL_NMS_DESC_ALGO:
      return take(function, value, bytes, &how->algo);
    case CNNL_NMS_DESC_METHOD_MODE:
      return take(function, value, bytes, &how->method);
    case CNNL_NMS_DESC_SOFT_NMS_SIGMA:
      return take(function, value, bytes, &how->sigma);
  }
  return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: attribute: expected 0 to 10, got %d", function,
                static_cast<int>(attribute));
}

cnnlStatus_t suppress(const char *function, cnnlHandle_t handle, cnnlNmsDescriptor_t desc,
                      cnnlTensorDescriptor_t boxes_desc, const void *boxes, cnnlTensorDescriptor_t confidence_desc,
                      const void *confidence, cnnlTensorDescriptor_t output_desc, void *output, void *output_size) {
  Suppression how;
  CNNL_TRY(g_suppressions.get(function, "desc", desc, &how));
  if (output_size == nullptr) return refuse_null(function, "output_size");
  CpuDescriptor cpu_desc(function);
  CNNL_TRY(cpu_desc.set(how));
  Operands operands(function, handle);
  const Operand &all = operands.in("boxes", boxes_desc, boxes);
  const Operand &scores = operands.in("confidence", confidence_desc, confidence);
  Operand &picked = operands.out("output", output_desc, output);
  Tensor one;
  one.dims = {1};
  one.strides = {1};
  one.count = 1;
  const Operand &count = operands.out("output_size", CNNL_DTYPE_INT32, one, output_size);
  return operands.run([&](mluOpHandle_t cpu) {
    std::size_t bytes = 0;
    CNNL_TRY(CNNL_CPU(function, mluOpGetNmsWorkspaceSize, cpu, cpu_desc.get(), all.desc, scores.desc, &bytes));
    Elements workspace(bytes);
    CNNL_TRY(CNNL_CPU(function, mluOpNms, cpu, cpu_desc.get(), all.desc, all.data, scores.desc, scores.data,
                      workspace.data(), workspace.size(), picked.desc, picked.data, count.data));
    // What lies behind the last pick keeps its contents, unless it is to be filled with zeros.
    std::int32_t rows = 0;
    std::memcpy(&rows, count.data, sizeof rows);
    if (how.pads) rows = how.most;
    Dims &dims = picked.tensor.dims;
    if (!dims.empty() && rows < dims[0]) {
      dims[0] = rows;
      picked.tensor.count = product(dims, 0, dims.size());
    }
    return CNNL_STATUS_SUCCESS;
  });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlCreateNmsDescriptor(cnnlNmsDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_suppressions.create(function, desc); });
}

cnnlStatus_t cnnlDestroyNmsDescriptor(cnnlNmsDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_suppressions.destroy(function, desc); });
}

cnnlStatus_t cnnlSetNmsDescAttr(cnnlNmsDescriptor_t desc, cnnlNmsDescAttribute_t attribute, const void *value,
                                size_t bytes) {
  return guarded(__func__, [&](const char *function) {
    if (value == nullptr) return refuse_null(function, "value");
    return g_suppressions.with(function, "desc", desc, [&](Suppression &found) {
      return set_attribute(function, &found, attribute, value, bytes);
    });
  });
}

cnnlStatus_t cnnlSetNmsDescriptor_v5(cnnlNmsDescriptor_t desc, cnnlNmsBoxPointMode_t box_mode,
                                     cnnlNmsOutputMode_t output_mode, cnnlNmsAlgo_t algo, cnnlNmsMethodMode_t method,
                                     float iou_threshold, float soft_nms_sigma, int max_output_size,
                                     float confidence_threshold, float offset, int input_layout, bool pads) {
  return guarded(__func__, [&](const char *function) {
    Suppression how;
    how.box_mode = box_mode;
    how.output_mode = output_mode;
    how.algo = algo;
    how.method = method;
    how.iou_threshold = iou_threshold;
    how.sigma = soft_nms_sigma;
    how.most = max_output_size;
    how.confidence_threshold = confidence_threshold;
    how.offset = offset;
    how.layout = input_layout;
    how.pads = pads;
    CpuDescriptor tried(function);
    CNNL_TRY(tried.set(how));
    return g_suppressions.with(function, "desc", desc, [&how](Suppression &found) {
      found = how;
      return CNNL_STATUS_SUCCESS;
    });
  });
}

cnnlStatus_t cnnlGetNmsWorkspaceSize_v3(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                        size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlGetNmsWorkspaceSize_v4(cnnlHandle_t handle, cnnlNmsDescriptor_t, cnnlTensorDescriptor_t,
                                        cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlNms_v2(cnnlHandle_t handle, cnnlNmsDescriptor_t desc, cnnlTensorDescriptor_t boxes_desc,
                        const void *boxes, cnnlTensorDescriptor_t confidence_desc, const void *confidence, void *,
                        size_t, cnnlTensorDescriptor_t output_desc, void *output, void *output_size) {
  return guarded(__func__, [&](const char *function) {
    return suppress(function, handle, desc, boxes_desc, boxes, confidence_desc, confidence, output_desc, output,
                    output_size);
  });
}
