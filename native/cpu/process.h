#ifndef MLUOPS_CPU_PROCESS_H_
#define MLUOPS_CPU_PROCESS_H_

namespace mluops {

// Whether this process began by a fork and has not started a program since. Memory may then
// describe threads that do not exist here, even if this library did not see the fork. True if the
// system does not tell.
bool begun_by_fork();

// The same for the contents of /proc/<process>/stat.
bool begun_by_fork(const char *stat);

}  // namespace mluops

#endif  // MLUOPS_CPU_PROCESS_H_
