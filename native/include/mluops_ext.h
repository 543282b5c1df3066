/* Extensions of this project's libraries to the C ABI of mlu-ops: functions about the library
 * itself, the operators in double, and functions of families beyond mlu_op.h.
 *
 * Where nothing else is said, values are half, float or double, half is computed in float and
 * rounded once, and a library for a device returns NOT_SUPPORTED. In functions for stacked points
 * the rows of all batches stand one after another, and [B] numbers of int32 tell how many each
 * batch has: a negative one counts as 0, and rows behind those of all batches belong to the last
 * one. */
#ifndef MLUOPS_EXT_H_
#define MLUOPS_EXT_H_

#include "mluops_ext/double.h"
#include "mluops_ext/library.h"

/* Families: written by tools/families.py. */
#include "mluops_ext/active_rotated_filter.h"
#include "mluops_ext/aligned_regions.h"
#include "mluops_ext/assign_score_withk.h"
#include "mluops_ext/ball_query.h"
#include "mluops_ext/bev_pool.h"
#include "mluops_ext/bezier_regions.h"
#include "mluops_ext/box_nms.h"
#include "mluops_ext/boxes3d.h"
#include "mluops_ext/carafe_upsample.h"
#include "mluops_ext/chamfer_distance.h"
#include "mluops_ext/correlation.h"
#include "mluops_ext/deform_conv.h"
#include "mluops_ext/deformed_regions.h"
#include "mluops_ext/dynamic_point_to_voxel.h"
#include "mluops_ext/focal_loss.h"
#include "mluops_ext/fourier_transforms.h"
#include "mluops_ext/furthest_point_sampling.h"
#include "mluops_ext/general_indice_pairs.h"
#include "mluops_ext/generate_proposals.h"
#include "mluops_ext/group_points.h"
#include "mluops_ext/indice_convolution.h"
#include "mluops_ext/ingroup_indices.h"
#include "mluops_ext/knn.h"
#include "mluops_ext/moe_dispatch.h"
#include "mluops_ext/optimizer_steps.h"
#include "mluops_ext/point_sets.h"
#include "mluops_ext/points_in_boxes.h"
#include "mluops_ext/points_in_polygons.h"
#include "mluops_ext/pooled_regions.h"
#include "mluops_ext/precise_regions.h"
#include "mluops_ext/quadri_boxes.h"
#include "mluops_ext/stack_three_interpolate.h"
#include "mluops_ext/sync_batch_norm.h"
#include "mluops_ext/text_regions.h"
#include "mluops_ext/three_nn.h"
#include "mluops_ext/turned_regions.h"
#include "mluops_ext/voxel_pooling.h"
#include "mluops_ext/voxel_query.h"
#include "mluops_ext/voxelization.h"
/* End of the families. */

#endif /* MLUOPS_EXT_H_ */
