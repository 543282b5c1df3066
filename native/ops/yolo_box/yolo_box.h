// YoloBox: boxes and scores from the output of a YOLOv3 head (arXiv:1804.02767).
#ifndef MLUOPS_OPS_YOLO_BOX_YOLO_BOX_H_
#define MLUOPS_OPS_YOLO_BOX_YOLO_BOX_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// A cell gets a box of each anchor unless its confidence is below the threshold: then box and
// scores are 0. All sizes are at least 1.
struct YoloBoxProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;        // type of the real arrays: float or double
  std::int64_t batch;
  std::int64_t anchors;
  std::int64_t classes;
  std::int64_t height;
  std::int64_t width;
  double threshold;
  int downsample;  // pixels of a cell
  bool clip;
  double scale;  // of the centre within its cell
  bool iou_aware;
  double iou_factor;
  const void *x;                     // [batch, channels, height, width]
  const std::int32_t *image_sizes;   // [batch, 2], height and width in pixels
  const std::int32_t *anchor_sizes;  // [anchors, 2], width and height in pixels
  void *boxes;                       // [batch, anchors, 4, height * width]
  void *scores;                      // [batch, anchors, classes, height * width]
};

mluOpStatus_t launch_yolo_box(mluOpHandle_t handle, const YoloBoxProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_YOLO_BOX_YOLO_BOX_H_
