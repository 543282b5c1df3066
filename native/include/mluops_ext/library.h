/* Functions about the library itself: reasons of refusals, threads, interrupts, its version. */
#ifndef MLUOPS_EXT_LIBRARY_H_
#define MLUOPS_EXT_LIBRARY_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Reason of the last refused call of this thread: function, argument, expected and actual value.
 * Empty if there was none. The text stays valid until the next refused call of this thread. */
const char *MLUOP_WIN_API mluopsExtGetLastReason(void);

/* Number of threads that an operator uses, for the whole process. Starts as the value of
 * PYMLUOPS_NUM_THREADS, or else the number of CPUs that the process may use (affinity and cgroup
 * quota respected), at most OMP_NUM_THREADS. */
int MLUOP_WIN_API mluopsExtGetNumThreads(void);

/* Sets it; num_threads is 1 to 1024. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads);

/* Returns nonzero to interrupt the call that runs on its thread. */
typedef int (*mluopsExtInterruptCheck)(void);

/* Sets the interrupt check of the process; NULL, the default, is none. A long call of an operator
 * calls it about every 50 milliseconds, on the thread that made the call and without holding a
 * lock. If it returns nonzero, the call ends soon with EXECUTION_FAILED and its outputs are
 * undefined. The check may call functions of this library. Operators of a device library only
 * enqueue their work and do not call the check. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck check);

/* What each thread of a team runs. */
typedef void (*mluopsExtTeamMember)(void *argument);

/* Calls member(argument) at once in at most num_threads threads, of which the calling one is one,
 * and returns when all of these calls have returned. GOMP_parallel of an OpenMP runtime, whose
 * flags are 0, is such a function. */
typedef void (*mluopsExtTeam)(mluopsExtTeamMember member, void *argument, unsigned num_threads, unsigned flags);

/* Lets operators that the main thread calls, and that use exactly num_threads threads, run them as
 * such a team instead of starting threads. In a program with OpenMP regions, whose threads spin for
 * milliseconds after each of them, other threads would share the processors with these. NULL, the
 * default, is none. Threads of OpenMP do not outlive a fork: in the child there is no team, and
 * setting one has no effect, also if the library was loaded after the fork; a program that the
 * child starts is no child in this sense. A library for a device has no use for a team. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetTeam(mluopsExtTeam team, int num_threads);

/* Results of at least this many bytes are written with non-temporal stores: half of the last-level
 * cache, at most 32 MiB, or the value of the environment variable PYMLUOPS_STREAM_MIB. 0 on a
 * device library. */
size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void);

/* The switches for dumped cases, for the whole process: what the environment variables
 * MLUOP_GEN_CASE, MLUOP_GEN_CASE_DUMP_DATA, _DUMP_DATA_FILE and _DUMP_DATA_OUTPUT say when the
 * library is loaded. `mode` 0 to 3 as for mluOpSetGenCaseMode; `data` 0 to 2: in mode 2 only inputs
 * whose contents matter, all inputs as decimal, as hexadecimal numbers; `in_files` 1: data go to
 * files beside the case; `outputs` 1: so do outputs, when the call ends. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetGenCaseSwitches(int mode, int data, int in_files, int outputs);
mluOpStatus_t MLUOP_WIN_API mluopsExtGetGenCaseSwitches(int *mode, int *data, int *in_files, int *outputs);

/* Whether this library implements an operator function of these headers: 1 if so, 0 if it returns
 * NOT_SUPPORTED or the name is unknown. */
int MLUOP_WIN_API mluopsExtImplements(const char *function);

/* The target of this library, for example "cpu". */
const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void);

/* Version of this library, as "major.minor.patch"; mluOpGetLibVersion gives that of the ABI. */
const char *MLUOP_WIN_API mluopsExtGetLibraryVersion(void);

/* Instruction level that the kernels run at, for example "x86-64-v3". The environment variable
 * PYMLUOPS_INSTRUCTION_LEVEL, read when the library is loaded, selects a lower one than the CPU
 * has. */
const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_LIBRARY_H_ */
