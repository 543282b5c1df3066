#ifndef MLUOPS_CPU_CPU_COUNT_H_
#define MLUOPS_CPU_CPU_COUNT_H_

namespace mluops {

// CPUs that this process may use: its affinity mask, limited by the CPU quota of its control group.
// At least 1.
int usable_cpus();

}  // namespace mluops

#endif  // MLUOPS_CPU_CPU_COUNT_H_
