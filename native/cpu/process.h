#ifndef MLUOPS_CPU_PROCESS_H_
#define MLUOPS_CPU_PROCESS_H_

namespace mluops {

// Whether a fork began this process and no program was started in it since. Memory may then tell of threads that do not exist here,
// no matter whether this library saw the fork. True where the system does not say.
bool begun_by_fork();

// The same for what /proc/<process>/stat says.
bool begun_by_fork(const char *stat);

}  // namespace mluops

#endif  // MLUOPS_CPU_PROCESS_H_
