// What the environment says about the CPU library. Read once, when first needed.
#ifndef MLUOPS_CPU_SETTINGS_H_
#define MLUOPS_CPU_SETTINGS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct Settings {
  int threads;                   // PYMLUOPS_NUM_THREADS, or else as many as there are CPUs for this process
  std::int64_t streaming_bytes;  // PYMLUOPS_STREAM_MIB in bytes, -1 if it is not set
};

const Settings &settings();

// NOT_INITIALIZED if a variable that this library reads is set to something that it does not understand.
mluOpStatus_t check_settings(const char *function);

}  // namespace mluops

#endif  // MLUOPS_CPU_SETTINGS_H_
