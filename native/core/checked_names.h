/* Generated from native/include/mlu_op.h by native/abi/generate.py; do not edit.
 *
 * Symbols of the operators that cases are dumped of. Their exported entry points are generated, see
 * native/abi/gen_case.py, and call these. */
/* clang-format off */
#ifndef MLUOPS_CORE_CHECKED_NAMES_H_
#define MLUOPS_CORE_CHECKED_NAMES_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

__typeof__(mluOpAbs) mluOpAbs
    __asm__("mluops_checked_mluOpAbs");
__typeof__(mluOpActiveRotatedFilterForward) mluOpActiveRotatedFilterForward
    __asm__("mluops_checked_mluOpActiveRotatedFilterForward");
__typeof__(mluOpAdamW) mluOpAdamW
    __asm__("mluops_checked_mluOpAdamW");
__typeof__(mluOpBallQuery) mluOpBallQuery
    __asm__("mluops_checked_mluOpBallQuery");
__typeof__(mluOpBboxOverlaps) mluOpBboxOverlaps
    __asm__("mluops_checked_mluOpBboxOverlaps");
__typeof__(mluOpBorderAlignBackward) mluOpBorderAlignBackward
    __asm__("mluops_checked_mluOpBorderAlignBackward");
__typeof__(mluOpBorderAlignForward) mluOpBorderAlignForward
    __asm__("mluops_checked_mluOpBorderAlignForward");
__typeof__(mluOpBoxIouRotated) mluOpBoxIouRotated
    __asm__("mluops_checked_mluOpBoxIouRotated");
__typeof__(mluOpCarafeBackward) mluOpCarafeBackward
    __asm__("mluops_checked_mluOpCarafeBackward");
__typeof__(mluOpCarafeForward) mluOpCarafeForward
    __asm__("mluops_checked_mluOpCarafeForward");
__typeof__(mluOpDCNBackwardData) mluOpDCNBackwardData
    __asm__("mluops_checked_mluOpDCNBackwardData");
__typeof__(mluOpDCNBackwardWeight) mluOpDCNBackwardWeight
    __asm__("mluops_checked_mluOpDCNBackwardWeight");
__typeof__(mluOpDCNForward) mluOpDCNForward
    __asm__("mluops_checked_mluOpDCNForward");
__typeof__(mluOpDeformRoiPoolBackward) mluOpDeformRoiPoolBackward
    __asm__("mluops_checked_mluOpDeformRoiPoolBackward");
__typeof__(mluOpDeformRoiPoolForward) mluOpDeformRoiPoolForward
    __asm__("mluops_checked_mluOpDeformRoiPoolForward");
__typeof__(mluOpDiffIouRotatedSortVerticesForward) mluOpDiffIouRotatedSortVerticesForward
    __asm__("mluops_checked_mluOpDiffIouRotatedSortVerticesForward");
__typeof__(mluOpDiv) mluOpDiv
    __asm__("mluops_checked_mluOpDiv");
__typeof__(mluOpDynamicPointToVoxelBackward) mluOpDynamicPointToVoxelBackward
    __asm__("mluops_checked_mluOpDynamicPointToVoxelBackward");
__typeof__(mluOpDynamicPointToVoxelForward) mluOpDynamicPointToVoxelForward
    __asm__("mluops_checked_mluOpDynamicPointToVoxelForward");
__typeof__(mluOpExecFFT) mluOpExecFFT
    __asm__("mluops_checked_mluOpExecFFT");
__typeof__(mluOpFocalLossSigmoidBackward) mluOpFocalLossSigmoidBackward
    __asm__("mluops_checked_mluOpFocalLossSigmoidBackward");
__typeof__(mluOpFocalLossSigmoidForward) mluOpFocalLossSigmoidForward
    __asm__("mluops_checked_mluOpFocalLossSigmoidForward");
__typeof__(mluOpGenerateProposalsV2) mluOpGenerateProposalsV2
    __asm__("mluops_checked_mluOpGenerateProposalsV2");
__typeof__(mluOpGetIndicePairs) mluOpGetIndicePairs
    __asm__("mluops_checked_mluOpGetIndicePairs");
__typeof__(mluOpIndiceConvolutionBackwardData) mluOpIndiceConvolutionBackwardData
    __asm__("mluops_checked_mluOpIndiceConvolutionBackwardData");
__typeof__(mluOpIndiceConvolutionBackwardFilter) mluOpIndiceConvolutionBackwardFilter
    __asm__("mluops_checked_mluOpIndiceConvolutionBackwardFilter");
__typeof__(mluOpIndiceConvolutionForward) mluOpIndiceConvolutionForward
    __asm__("mluops_checked_mluOpIndiceConvolutionForward");
__typeof__(mluOpLgamma) mluOpLgamma
    __asm__("mluops_checked_mluOpLgamma");
__typeof__(mluOpLog) mluOpLog
    __asm__("mluops_checked_mluOpLog");
__typeof__(mluOpLogspace) mluOpLogspace
    __asm__("mluops_checked_mluOpLogspace");
__typeof__(mluOpMaskedCol2imForward) mluOpMaskedCol2imForward
    __asm__("mluops_checked_mluOpMaskedCol2imForward");
__typeof__(mluOpMaskedIm2colForward) mluOpMaskedIm2colForward
    __asm__("mluops_checked_mluOpMaskedIm2colForward");
__typeof__(mluOpMoeDispatchBackwardData) mluOpMoeDispatchBackwardData
    __asm__("mluops_checked_mluOpMoeDispatchBackwardData");
__typeof__(mluOpMoeDispatchBackwardGate) mluOpMoeDispatchBackwardGate
    __asm__("mluops_checked_mluOpMoeDispatchBackwardGate");
__typeof__(mluOpMoeDispatchForward) mluOpMoeDispatchForward
    __asm__("mluops_checked_mluOpMoeDispatchForward");
__typeof__(mluOpMsDeformAttnBackward) mluOpMsDeformAttnBackward
    __asm__("mluops_checked_mluOpMsDeformAttnBackward");
__typeof__(mluOpMsDeformAttnForward) mluOpMsDeformAttnForward
    __asm__("mluops_checked_mluOpMsDeformAttnForward");
__typeof__(mluOpMutualInformationBackward) mluOpMutualInformationBackward
    __asm__("mluops_checked_mluOpMutualInformationBackward");
__typeof__(mluOpMutualInformationForward) mluOpMutualInformationForward
    __asm__("mluops_checked_mluOpMutualInformationForward");
__typeof__(mluOpNms) mluOpNms
    __asm__("mluops_checked_mluOpNms");
__typeof__(mluOpNmsRotated) mluOpNmsRotated
    __asm__("mluops_checked_mluOpNmsRotated");
__typeof__(mluOpPointsInBoxes) mluOpPointsInBoxes
    __asm__("mluops_checked_mluOpPointsInBoxes");
__typeof__(mluOpPolyNms) mluOpPolyNms
    __asm__("mluops_checked_mluOpPolyNms");
__typeof__(mluOpPriorBox) mluOpPriorBox
    __asm__("mluops_checked_mluOpPriorBox");
__typeof__(mluOpPsRoiPoolBackward) mluOpPsRoiPoolBackward
    __asm__("mluops_checked_mluOpPsRoiPoolBackward");
__typeof__(mluOpPsRoiPoolForward) mluOpPsRoiPoolForward
    __asm__("mluops_checked_mluOpPsRoiPoolForward");
__typeof__(mluOpPsamaskBackward) mluOpPsamaskBackward
    __asm__("mluops_checked_mluOpPsamaskBackward");
__typeof__(mluOpPsamaskForward) mluOpPsamaskForward
    __asm__("mluops_checked_mluOpPsamaskForward");
__typeof__(mluOpRoiAlignBackward) mluOpRoiAlignBackward
    __asm__("mluops_checked_mluOpRoiAlignBackward");
__typeof__(mluOpRoiAlignBackward_v2) mluOpRoiAlignBackward_v2
    __asm__("mluops_checked_mluOpRoiAlignBackward_v2");
__typeof__(mluOpRoiAlignForward_v2) mluOpRoiAlignForward_v2
    __asm__("mluops_checked_mluOpRoiAlignForward_v2");
__typeof__(mluOpRoiAlignRotatedBackward) mluOpRoiAlignRotatedBackward
    __asm__("mluops_checked_mluOpRoiAlignRotatedBackward");
__typeof__(mluOpRoiAlignRotatedForward) mluOpRoiAlignRotatedForward
    __asm__("mluops_checked_mluOpRoiAlignRotatedForward");
__typeof__(mluOpRoiAwarePool3dBackward) mluOpRoiAwarePool3dBackward
    __asm__("mluops_checked_mluOpRoiAwarePool3dBackward");
__typeof__(mluOpRoiAwarePool3dForward) mluOpRoiAwarePool3dForward
    __asm__("mluops_checked_mluOpRoiAwarePool3dForward");
__typeof__(mluOpRoiCropBackward) mluOpRoiCropBackward
    __asm__("mluops_checked_mluOpRoiCropBackward");
__typeof__(mluOpRoiCropForward) mluOpRoiCropForward
    __asm__("mluops_checked_mluOpRoiCropForward");
__typeof__(mluOpRoiPointPool3d) mluOpRoiPointPool3d
    __asm__("mluops_checked_mluOpRoiPointPool3d");
__typeof__(mluOpRoiPoolingBackward) mluOpRoiPoolingBackward
    __asm__("mluops_checked_mluOpRoiPoolingBackward");
__typeof__(mluOpRoiPoolingForward) mluOpRoiPoolingForward
    __asm__("mluops_checked_mluOpRoiPoolingForward");
__typeof__(mluOpRoiawarePool3dBackward) mluOpRoiawarePool3dBackward
    __asm__("mluops_checked_mluOpRoiawarePool3dBackward");
__typeof__(mluOpRoiawarePool3dForward) mluOpRoiawarePool3dForward
    __asm__("mluops_checked_mluOpRoiawarePool3dForward");
__typeof__(mluOpRotatedFeatureAlignBackward) mluOpRotatedFeatureAlignBackward
    __asm__("mluops_checked_mluOpRotatedFeatureAlignBackward");
__typeof__(mluOpRotatedFeatureAlignForward) mluOpRotatedFeatureAlignForward
    __asm__("mluops_checked_mluOpRotatedFeatureAlignForward");
__typeof__(mluOpSqrt) mluOpSqrt
    __asm__("mluops_checked_mluOpSqrt");
__typeof__(mluOpSqrtBackward) mluOpSqrtBackward
    __asm__("mluops_checked_mluOpSqrtBackward");
__typeof__(mluOpSyncBatchNormBackwardElemt) mluOpSyncBatchNormBackwardElemt
    __asm__("mluops_checked_mluOpSyncBatchNormBackwardElemt");
__typeof__(mluOpSyncBatchNormBackwardElemtV2) mluOpSyncBatchNormBackwardElemtV2
    __asm__("mluops_checked_mluOpSyncBatchNormBackwardElemtV2");
__typeof__(mluOpSyncBatchNormBackwardReduce) mluOpSyncBatchNormBackwardReduce
    __asm__("mluops_checked_mluOpSyncBatchNormBackwardReduce");
__typeof__(mluOpSyncBatchNormBackwardReduce_v2) mluOpSyncBatchNormBackwardReduce_v2
    __asm__("mluops_checked_mluOpSyncBatchNormBackwardReduce_v2");
__typeof__(mluOpSyncBatchNormElemt) mluOpSyncBatchNormElemt
    __asm__("mluops_checked_mluOpSyncBatchNormElemt");
__typeof__(mluOpSyncBatchNormGatherStatsWithCounts) mluOpSyncBatchNormGatherStatsWithCounts
    __asm__("mluops_checked_mluOpSyncBatchNormGatherStatsWithCounts");
__typeof__(mluOpSyncBatchNormStats) mluOpSyncBatchNormStats
    __asm__("mluops_checked_mluOpSyncBatchNormStats");
__typeof__(mluOpSyncBatchNormStats_v2) mluOpSyncBatchNormStats_v2
    __asm__("mluops_checked_mluOpSyncBatchNormStats_v2");
__typeof__(mluOpSyncBatchnormBackwardReduce) mluOpSyncBatchnormBackwardReduce
    __asm__("mluops_checked_mluOpSyncBatchnormBackwardReduce");
__typeof__(mluOpSyncBatchnormBackwardReduce_v2) mluOpSyncBatchnormBackwardReduce_v2
    __asm__("mluops_checked_mluOpSyncBatchnormBackwardReduce_v2");
__typeof__(mluOpThreeInterpolateBackward) mluOpThreeInterpolateBackward
    __asm__("mluops_checked_mluOpThreeInterpolateBackward");
__typeof__(mluOpThreeInterpolateForward) mluOpThreeInterpolateForward
    __asm__("mluops_checked_mluOpThreeInterpolateForward");
__typeof__(mluOpThreeNNForward) mluOpThreeNNForward
    __asm__("mluops_checked_mluOpThreeNNForward");
__typeof__(mluOpTinShiftBackward) mluOpTinShiftBackward
    __asm__("mluops_checked_mluOpTinShiftBackward");
__typeof__(mluOpTinShiftForward) mluOpTinShiftForward
    __asm__("mluops_checked_mluOpTinShiftForward");
__typeof__(mluOpVoxelPoolingForward) mluOpVoxelPoolingForward
    __asm__("mluops_checked_mluOpVoxelPoolingForward");
__typeof__(mluOpVoxelization) mluOpVoxelization
    __asm__("mluops_checked_mluOpVoxelization");
__typeof__(mluOpYoloBox) mluOpYoloBox
    __asm__("mluops_checked_mluOpYoloBox");

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_CORE_CHECKED_NAMES_H_ */
