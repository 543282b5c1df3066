#include "bang/policy.h"

#include "core/reason.h"

namespace mluops {
namespace {

// By number: these stay the same between versions of CNRT.
enum Attribute : int {
  kClusterCount = 0x205,
  kCoresPerCluster = 0x206,
  kIsaVersion = 0x20a,
  kNramBytesPerCore = 0x302
};

mluOpStatus_t runtime_failed(const char *function, const char *call, cnrtRet_t error) {
  return fail(MLUOP_STATUS_EXECUTION_FAILED, function, Text::format("%s: %s", call, cnrtGetErrorStr(error)));
}

}  // namespace

mluOpStatus_t read_card(const char *function, Card *card) {
  int device = 0;
  cnrtRet_t error = cnrtGetDevice(&device);
  int nram = 0;
  const struct {
    Attribute attribute;
    int *value;
  } figures[] = {{kIsaVersion, &card->arch},
                 {kClusterCount, &card->clusters},
                 {kCoresPerCluster, &card->cores_per_cluster},
                 {kNramBytesPerCore, &nram}};
  for (const auto &figure : figures) {
    if (error != cnrtSuccess) break;
    error = cnrtDeviceGetAttribute(figure.value, static_cast<cnrtDeviceAttr_t>(figure.attribute), device);
  }
  cnrtGetLastError();
  if (error != cnrtSuccess) return runtime_failed(function, "figures of the device", error);
  MLUOPS_REQUIRE(nram > MLUOPS_ONCHIP_RESERVE, MLUOP_STATUS_NOT_SUPPORTED, function, "device",
                 Text::format("more than %d bytes of NRAM", MLUOPS_ONCHIP_RESERVE), Text::format("%d", nram));
  card->nram_bytes = nram - MLUOPS_ONCHIP_RESERVE;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t launched(const char *function) {
  const cnrtRet_t error = cnrtGetLastError();
  return error == cnrtSuccess ? MLUOP_STATUS_SUCCESS : runtime_failed(function, "kernel launch", error);
}

}  // namespace mluops
