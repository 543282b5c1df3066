// Environment variables of the CPU library, read once, on first use.
#ifndef MLUOPS_CPU_SETTINGS_H_
#define MLUOPS_CPU_SETTINGS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

struct Settings {
  int threads;                   // PYMLUOPS_NUM_THREADS, else the CPUs that this process may use
  std::int64_t streaming_bytes;  // PYMLUOPS_STREAM_MIB in bytes, -1 if it is not set
};

const Settings &settings();

// NOT_INITIALIZED if a variable of this library has an invalid value.
mluOpStatus_t check_settings(const char *function);

}  // namespace mluops

#endif  // MLUOPS_CPU_SETTINGS_H_
