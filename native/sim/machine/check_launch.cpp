// Checks whether the device can run a launch.
#include "machine/array.h"
#include "machine/launch.h"
#include "machine/model.h"

namespace mlusim {

cnrtRet_t check_launch(const Launch &launch, std::string *reason) {
  const mlusimDeviceModel &model = device();
  const int type = static_cast<int>(launch.type);
  const unsigned width = static_cast<unsigned>(clusters_of(launch.type) * model.cores_per_cluster);
  const auto refuse = [reason, &launch](cnrtRet_t error, const std::string &text) {
    *reason = "launch of " + launch.kernel + ": " + text;
    return error;
  };
  if (type != 1 && (type < 4 || type > 64 || (type & (type - 1)) != 0)) {
    return refuse(
        cnrtErrorArgsInvalid,
        "expected function type 1 (Block) or 4, 8, 16, 32, 64 (Union1 to Union16), got " + std::to_string(type));
  }
  if (launch.dim.x == 0 || launch.dim.y == 0 || launch.dim.z == 0) {
    return refuse(cnrtErrorArgsInvalid, "expected a dim of at least 1 task on each axis");
  }
  if (std::uint64_t{launch.dim.x} * launch.dim.y > 0x7fffffff / launch.dim.z) {
    return refuse(cnrtErrorArgsInvalid, "expected fewer than 2^31 tasks");
  }
  if (clusters_of(launch.type) > model.clusters) {
    return refuse(cnrtErrorArgsInvalid, "Union" + std::to_string(clusters_of(launch.type)) +
                                            " needs as many clusters, " + model.name + " has " +
                                            std::to_string(model.clusters));
  }
  if (width != 0 && launch.dim.x % width != 0) {
    return refuse(cnrtErrorArgsInvalid, "expected dim.x to be a multiple of " + std::to_string(width) +
                                            ", the cores of a job, got " + std::to_string(launch.dim.x));
  }
  std::string unfit;
  if (launch.unit != nullptr && !unit_fits(launch.unit, &unfit)) return refuse(cnrtErrorInvalidKernel, unfit);
  return cnrtSuccess;
}

}  // namespace mlusim
