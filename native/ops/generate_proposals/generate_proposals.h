// GenerateProposalsV2: the boxes of a map that a region proposal network finds best.
#ifndef MLUOPS_OPS_GENERATE_PROPOSALS_GENERATE_PROPOSALS_H_
#define MLUOPS_OPS_GENERATE_PROPOSALS_GENERATE_PROPOSALS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Real numbers are of float, or of double.
struct GenerateProposalsProblem {
  const char *function;  // of the entry point, for messages
  bool is_double;
  std::int64_t batch;
  std::int64_t anchor_count;  // of one image: height * width * anchors
  std::int64_t most_ranked;   // boxes with the highest scores that are looked at, of one image
  std::int64_t most_kept;     // of one image, >= 1
  double nms_threshold;
  double eta;  // below 1: what a threshold above 0.5 is multiplied by for each box that is kept
  double min_size;
  bool pixel_offset;
  const void *scores;     // [batch, anchor_count]
  const void *deltas;     // [batch, anchor_count, 4]
  const void *im_shape;   // [batch, 2]: height, width
  const void *anchors;    // [anchor_count, 4]
  const void *variances;  // [anchor_count, 4]
  void *rois;             // [batch * most_kept, 4]
  void *probabilities;    // [batch * most_kept, 1]
  std::int32_t *counts;   // [batch]
  std::int32_t *total;
};

mluOpStatus_t launch_generate_proposals(mluOpHandle_t handle, const GenerateProposalsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_GENERATE_PROPOSALS_GENERATE_PROPOSALS_H_
