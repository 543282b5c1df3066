/* What the libraries of this project offer beyond the C ABI of mlu-ops. */
#ifndef MLUOPS_EXT_H_
#define MLUOPS_EXT_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Why the last call of this thread that did not succeed was refused: function, argument, what was expected and what came.
 * Empty if there was none. The text stays valid until the next refused call of this thread. */
const char *MLUOP_WIN_API mluopsExtGetLastReason(void);

/* Number of threads that an operator uses, for the whole process. Starts as the value of the environment variable
 * PYMLUOPS_NUM_THREADS or else the number of CPUs that the process may use (affinity and cgroup quota respected). */
int MLUOP_WIN_API mluopsExtGetNumThreads(void);

/* Sets it; num_threads is 1 to 1024. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetNumThreads(int num_threads);

/* Says whether the call that is running on its thread is to end: not 0 if so. */
typedef int (*mluopsExtInterruptCheck)(void);

/* Sets the interrupt check of the process; NULL, as at first, is none. A call of an operator that takes long calls it about every
 * 50 milliseconds, on the thread that made the call and holding no lock. If it returns anything but 0, the call ends soon with
 * EXECUTION_FAILED; its outputs then hold anything. The check may call functions of this library. Operators of a device library
 * only enqueue their work: there the check is not called. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSetInterruptCheck(mluopsExtInterruptCheck check);

/* Results of at least this many bytes are written past the caches: half of the last cache or 32 MiB, whichever is less, or what the
 * environment variable PYMLUOPS_STREAM_MIB says. 0 on a device library. */
size_t MLUOP_WIN_API mluopsExtGetStreamingBytes(void);

/* Whether this library implements a function of mlu_op.h: 1 if so, 0 if it returns NOT_SUPPORTED or the name is unknown. */
int MLUOP_WIN_API mluopsExtImplements(const char *function);

/* Which target this library computes on, for example "cpu". */
const char *MLUOP_WIN_API mluopsExtGetLibraryKind(void);

/* Version of this library itself, as "major.minor.patch"; mluOpGetLibVersion gives that of the ABI. */
const char *MLUOP_WIN_API mluopsExtGetLibraryVersion(void);

/* Instruction level that the kernels run at, for example "x86-64-v3". The environment variable PYMLUOPS_INSTRUCTION_LEVEL, read
 * when the library is loaded, selects a lower one than the CPU has. */
const char *MLUOP_WIN_API mluopsExtGetInstructionLevel(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_H_ */
