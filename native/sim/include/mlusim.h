/* The interface of the simulated MLU beyond CNRT and mlu-ops: device models, checkers and their
 * findings.
 *
 * Functions that can fail return 0 or -1; mlusimGetLastError() then gives the reason. */
#ifndef MLUSIM_H_
#define MLUSIM_H_

#include <stdint.h>

#include "cnrt.h"

#if defined(_WIN32)
#define MLUSIM_API
#else
#define MLUSIM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One device. Field names end with the unit. */
typedef struct {
  char name[32];
  int32_t arch;              /* __BANG_ARCH__: 270, 290, 372 or 592 */
  int32_t clusters;          /* 1 to 16 */
  int32_t cores_per_cluster; /* 1 to 4 */
  int32_t nram_kib;          /* of a core */
  int32_t wram_kib;          /* of a core */
  int32_t sram_kib;          /* of a cluster */
  int32_t stack_kib;         /* of a core: automatic variables, and variables declared __ldram__ */
  int64_t memory_mib;        /* GDRAM */
  int32_t clock_mhz;
  int32_t bandwidth_gb_s; /* GDRAM */
} mlusimDeviceModel;

/* The checkers, bits of a mask. */
typedef enum {
  MLUSIM_CHECK_MEMORY = 1,
  MLUSIM_CHECK_INIT = 2,
  MLUSIM_CHECK_RACE = 4,
  MLUSIM_CHECK_SYNC = 8,
  MLUSIM_CHECK_ALIGN = 16,
  MLUSIM_CHECK_ALL = 31
} mlusimCheck_t;

/* A finding of a checker, or of the machine itself, in a kernel. Longer texts are cut. */
typedef struct {
  char checker[16]; /* memory, init, race, sync, align; or machine, whose findings need no checker and end the launch */
  char rule[32];    /* the broken rule, for example out-of-bounds */
  char kernel[128]; /* as written at the launch */
  char file[256];   /* of the source; empty if unknown */
  int32_t line;     /* 0 if unknown */
  char other_file[256]; /* the other access of a race, the allocation's place: empty if there is none */
  int32_t other_line;
  int32_t task;          /* taskId */
  int32_t cluster;       /* clusterId */
  int32_t core;          /* coreId: 0x80 is the memory core */
  char space[16];        /* GDRAM, NRAM, WRAM, SRAM, LDRAM or host; empty if it is not about an address */
  int64_t offset;        /* of the first byte from the start of its allocation or array */
  uint64_t size;         /* bytes */
  char allocation[160];  /* the allocation or array that the address belongs to or lies next to */
  char message[512];     /* one sentence */
  uint64_t count;        /* number of occurrences at this place in this launch */
  char severity[16];     /* of the rule: error, warning or remark */
  int32_t launch_failed; /* 1 if its launch failed; 0 if it was only recorded */
  /* The finding of the launch that this one follows from, such as
   * "memory/out-of-bounds at add.mlu:12"; empty if it stands for itself. A launch has its causes
   * first, each with what follows from it. */
  char cause[320];
  int32_t step; /* orders causes: 0 wrong accesses, 1 syncs, 2 races, 3 undefined bytes, 4 unused data */
} mlusimFinding;

/* A rule that findings belong to. */
typedef struct {
  char name[48];     /* checker/rule, for example race/between-cores; stays the same from release to release */
  char severity[16]; /* error; warning: known devices behave as the kernel expects; remark: harmless */
  char action[16];   /* the current consequence of a violation: off, record or fail */
  char meaning[160]; /* a phrase */
} mlusimRule;

/* ---- Devices ---- */

MLUSIM_API const char *mlusimGetLastError(void);

/* Copies the model number `index`, or returns -1 behind the last. */
MLUSIM_API int mlusimGetKnownModel(int index, mlusimDeviceModel *model);

/* The device of this process. It cannot be set while device memory, queues or notifiers exist, a
 * default queue has work or an error, or a call of another thread uses the device. Calls of other
 * threads wait during the change. It is the one that was set last. If none was set, it is the one
 * that PYMLUOPS_SIM_DEVICE names; else MLU590, or where a library is loaded that has no kernels for
 * it, the card of the newest architecture that the library has. NULL: as if none was set, and as
 * if no library was loaded yet. A name may be the path of a TOML file, with ".toml" at its end or
 * with a slash, whose keys are the fields above; `base` names the model that has the others. */
MLUSIM_API int mlusimGetDevice(mlusimDeviceModel *model);
MLUSIM_API int mlusimSetDevice(const mlusimDeviceModel *model);
MLUSIM_API int mlusimSetDeviceByName(const char *name);

/* Has a device of this architecture: 0 if the present one is, or if none was set and it could be
 * changed into the card of this architecture. */
MLUSIM_API int mlusimPreferArch(int32_t arch);

/* ---- Checkers ---- */

/* The checkers for launches that start from now on: bits of mlusimCheck_t. */
MLUSIM_API uint32_t mlusimGetChecks(void);
MLUSIM_API int mlusimSetChecks(uint32_t checks);

/* The same by name: memory, init, race, sync, align, with commas between them; or all; or none
 * alone. Blanks around a name do not count. Without a call the environment variable
 * PYMLUOPS_SIM_CHECK decides, in the same words. */
MLUSIM_API int mlusimSetChecksByName(const char *names);

/* Sets the consequences of broken rules from now on, for example
 * "race/on-chip-order=off,init=record,all=fail". Before the equals sign stands a rule, a checker
 * for all its rules, or all. Behind it stands an action: off reports nothing; record keeps the
 * finding, and the launch goes on and does not fail for it; fail makes the launch fail. Later words
 * win. Rules without a word keep their usual action; an empty text restores the usual action of
 * all. Blanks do not count. Some findings always end the launch: rules of the machine, deadlocks,
 * and operands that an intrinsic cannot work on. Without a call the environment variable
 * PYMLUOPS_SIM_RULES decides, in the same words. */
MLUSIM_API int mlusimSetRules(const char *rules);

/* Copies the rule number `index`, or returns -1 behind the last. */
MLUSIM_API int mlusimGetRule(int index, mlusimRule *rule);

/* Sets the behaviour of launches, from now on, where a device promises nothing, for example
 * "copies=early,cores=random,memory=nan,seed=7".
 *   copies: asynchronous copies from or to device memory happen late, when the core waits for
 *           them; early, when they are issued; or at random moments between.
 *   cores:  cores take turns in a fixed order, each until it waits; or in random order, each for a
 *           random number of instructions.
 *   memory: NRAM, WRAM and SRAM at the start of a task, and new allocations of device memory, keep
 *           their earlier contents (pattern), or hold NaN (all bits are 1), zero, or noise. Of an
 *           allocation the first 256 MiB are filled.
 *   seed:   of all random choices. The n-th launch since this call is the same for the same seed.
 * Omitted words mean copies=late, cores=fixed, memory=pattern and seed=0; an empty text means all
 * of these. Blanks do not count. Without a call the environment variable PYMLUOPS_SIM_SCHEDULE
 * decides, in the same words. */
MLUSIM_API int mlusimSetSchedule(const char *schedule);

typedef struct {
  char copies[16];
  char cores[16];
  char memory[16];
  uint64_t seed;
} mlusimSchedule;
MLUSIM_API int mlusimGetSchedule(mlusimSchedule *schedule);

/* The time limit of one launch in seconds; 0: no limit. A kernel that does not come to a place
 * where it can stop is abandoned half a second later. */
MLUSIM_API double mlusimGetTimeLimit(void);
MLUSIM_API int mlusimSetTimeLimit(double seconds);

/* ---- Interrupts ---- */

/* Host threads that wait for the device call this function about every 50 ms, without holding a
 * lock; a nonzero result stops the wait. There is one function for the process; with NULL, as at
 * the start, none is called. Shorter waits do not call it.
 *
 * A wait that stops makes the queues that it waits for give up their work of that moment:
 *   - A running kernel is ended at any point, and leaves the finding machine/interrupted. A running
 *     copy is completed.
 *   - Work that has not begun never does, as after a failed kernel: kernels, copies and host
 *     functions are dropped, notifiers are reached, cnrtMemFreeAsync frees. A running host function
 *     continues.
 * Then the wait returns: cnrtErrorKernelTrap, or the other error that the queue holds, which is
 * taken; cnrtErrorQueue if nothing failed but work was given up; cnrtSuccess if all work was done
 * before. Work that was given up touches no memory any more, so its memory may be freed. The queues
 * can be used again at once; other queues are not affected.
 *
 * cnrtQueueSync, cnrtQueueDestroy (which still destroys the queue), cnrtInvokeKernel,
 * cnrtWaitNotifier, and copies and fills that wait do this for one queue; cnrtSyncDevice and
 * cnrtDeviceReset (which then resets nothing) for all. cnrtFree ends no work: it frees the memory
 * as soon as nothing uses it, and succeeds. */
typedef int (*mlusimInterruptCheck_t)(void);
MLUSIM_API cnrtRet_t mlusimSetInterruptCheck(mlusimInterruptCheck_t check);

/* ---- Findings ---- */

/* Findings of all launches since the last mlusimClearFindings(), oldest first. */
MLUSIM_API uint64_t mlusimGetFindingCount(void);
MLUSIM_API int mlusimGetFinding(uint64_t index, mlusimFinding *finding);
MLUSIM_API void mlusimClearFindings(void);

/* A readable report about the last failed launch; empty if none failed. It stays valid until the
 * next call of this thread. */
MLUSIM_API const char *mlusimGetReport(void);

/* A launch that fails tells its findings on stderr at once, "FILE:LINE: checker/rule: message",
 * each once, unless this is switched off: by 0. The Python package switches it off, since its
 * errors have them. */
MLUSIM_API void mlusimSetTelling(int on);
/* Tells findings on stderr: those that were not told yet, or those of the launch that failed last
 * if `error` is what it returned and they were not told; CNRT_CHECK does the latter. */
MLUSIM_API void mlusimTellFindings(void);
MLUSIM_API void mlusimTellFailure(cnrtRet_t error);

/* The place of one core when the last launch ended early (by a deadlock, the time limit or a
 * fault), in the job that ran. */
typedef struct {
  int32_t task;    /* taskId; a memory core has that of its cluster's first core */
  int32_t cluster; /* clusterId */
  int32_t core;    /* coreId: 0x80 is the memory core */
  char state[16];  /* running: it ended the launch; ready: it could continue; waiting: for a barrier or a lock; ended */
  char instruction[64]; /* the barrier or lock that it waits for, else the last intrinsic that it called */
  int32_t lock;         /* the number of the lock that it waits for; else -1 */
  char file[256];       /* the place of the instruction in the source; empty if unknown */
  int32_t line;         /* 0 if unknown */
} mlusimCoreState;

/* Copies the state of core number `index` of that job, or returns -1 behind the last. */
MLUSIM_API int mlusimGetCoreState(int index, mlusimCoreState *state);

/* ---- Counters ---- */

/* Counts since the start of the process. */
typedef struct {
  uint64_t launches;
  uint64_t failed_launches;
  uint64_t tasks;
  uint64_t live_allocations;
  uint64_t live_bytes;
  uint64_t live_queues;
  uint64_t live_notifiers;
} mlusimCounters;

MLUSIM_API int mlusimGetCounters(mlusimCounters *counters);

#ifdef __cplusplus
}
#endif

#endif /* MLUSIM_H_ */
