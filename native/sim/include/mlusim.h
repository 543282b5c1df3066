/* What the simulated MLU offers beyond CNRT and mlu-ops: its device models, its checkers and what they found.
 *
 * Functions that can fail return 0 or -1; mlusimGetLastError() then says why. */
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

/* One device. Sizes in KiB where the name says so. */
typedef struct {
  char name[32];
  int32_t arch;              /* __BANG_ARCH__: 270, 290, 372 or 592 */
  int32_t clusters;          /* 1 to 16 */
  int32_t cores_per_cluster; /* 1 to 4 */
  int32_t nram_kib;          /* of a core */
  int32_t wram_kib;          /* of a core */
  int32_t sram_kib;          /* of a cluster */
  int32_t stack_kib;         /* of a core: automatic variables, and what is declared __ldram__ */
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

/* One thing that a checker or the machine itself found in a kernel. Texts are cut to fit. */
typedef struct {
  char checker[16];     /* memory, init, race, sync, align; or machine: what ends any launch, checked or not */
  char rule[32];        /* which of its rules was broken, for example out-of-bounds */
  char kernel[128];     /* as written at the launch */
  char file[256];       /* of the source; empty if unknown */
  int32_t line;         /* 0 if unknown */
  char other_file[256]; /* the other access of a race, the allocation's place: empty if there is none */
  int32_t other_line;
  int32_t task;    /* taskId */
  int32_t cluster; /* clusterId */
  int32_t core;    /* coreId: 0x80 is the memory core */
  char space[16];  /* GDRAM, NRAM, WRAM, SRAM, LDRAM or host; empty if no address is concerned */
  uint64_t address;
  uint64_t size;         /* bytes */
  char allocation[160];  /* the allocation or array that the address belongs to or lies next to */
  char message[512];     /* one sentence */
  uint64_t count;        /* how often it happened at this place in this launch */
  char severity[16];     /* of the rule: error, warning or remark */
  int32_t launch_failed; /* 1 if the launch that it belongs to failed, 0 if it was recorded only */
} mlusimFinding;

/* A rule that findings belong to. */
typedef struct {
  char name[48];     /* checker/rule, for example race/between-cores; stays the same from release to release */
  char severity[16]; /* error; warning: devices are known to do what the kernel relies on; remark: harmless */
  char action[16];   /* what happens now when it is broken: off, record or fail */
  char meaning[160]; /* a phrase */
} mlusimRule;

/* ---- Devices ---- */

MLUSIM_API const char *mlusimGetLastError(void);

/* Copies the model number `index`, or returns -1 behind the last. */
MLUSIM_API int mlusimGetKnownModel(int index, mlusimDeviceModel *model);

/* The device of this process. Setting it is refused while device memory, queues or notifiers exist, a default queue has work or an
 * error, or a call of another thread uses the device. Calls that come meanwhile wait for the new device. */
MLUSIM_API int mlusimGetDevice(mlusimDeviceModel *model);
MLUSIM_API int mlusimSetDevice(const mlusimDeviceModel *model);
MLUSIM_API int mlusimSetDeviceByName(const char *name);

/* ---- Checkers ---- */

/* Which checkers watch the launches that start from now on: bits of mlusimCheck_t. */
MLUSIM_API uint32_t mlusimGetChecks(void);
MLUSIM_API int mlusimSetChecks(uint32_t checks);

/* The same by name: memory, init, race, sync, align, with commas between them; or all; or none alone. Blanks around a name do not
 * count. Without a call the environment variable PYMLUOPS_SIM_CHECK says which checkers watch, in the same words. */
MLUSIM_API int mlusimSetChecksByName(const char *names);

/* What happens from now on when rules are broken: "race/on-chip-order=off,init=record,all=fail" and the like. In front of the equals
 * sign stands a rule, a checker for all of its rules, or all; behind it off: nothing is said; record: the finding is kept, and the
 * launch goes on and does not fail for it; or fail. Later words win, and rules that none concerns do what is usual. Blanks do not
 * count; an empty text means what is usual throughout. What no device survives ends a launch whatever is set: the rules of the
 * machine, deadlocks, and operands that an intrinsic cannot work on. Without a call the environment variable PYMLUOPS_SIM_RULES
 * says so, in the same words. */
MLUSIM_API int mlusimSetRules(const char *rules);

/* Copies the rule number `index`, or returns -1 behind the last. */
MLUSIM_API int mlusimGetRule(int index, mlusimRule *rule);

/* What launches do, from now on, where a device promises nothing: "copies=early,cores=random,memory=nan,seed=7" and the like.
 *   copies: asynchronous copies with an end off chip happen late, when they are waited for; early, when they are issued; or at random
 *           moments between.
 *   cores:  take turns in a fixed order, each until it waits; or in random order and after random numbers of instructions.
 *   memory: NRAM, WRAM and SRAM at the start of a task, and device memory that was allocated just now, hold what was there before
 *           (pattern), NaN (all bits are 1), zero, or noise. Of an allocation the first 256 MiB are filled.
 *   seed:   of all that is random. The n-th launch since this call is the same for the same seed.
 * Words that are left out mean copies=late, cores=fixed, memory=pattern and seed=0; an empty text means all of these. Blanks do not
 * count. Without a call the environment variable PYMLUOPS_SIM_SCHEDULE says so, in the same words. */
MLUSIM_API int mlusimSetSchedule(const char *schedule);

typedef struct {
  char copies[16];
  char cores[16];
  char memory[16];
  uint64_t seed;
} mlusimSchedule;
MLUSIM_API int mlusimGetSchedule(mlusimSchedule *schedule);

/* Seconds that one launch may take before it is ended; 0: no limit. */
MLUSIM_API double mlusimGetTimeLimit(void);
MLUSIM_API int mlusimSetTimeLimit(double seconds);

/* ---- Interrupts ---- */

/* Asked by host threads that wait for the device, about every 50 ms and with no lock held, whether to stop waiting: nonzero if so.
 * One for the process; NULL, as at the start: no function is asked. Shorter waits do not ask.
 *
 * A wait that is to stop makes the queues that it waits for give up what they hold at that moment:
 *   - A kernel that one of them runs is ended, wherever it is, and leaves the finding machine/interrupted. A copy that runs is
 *     finished.
 *   - What had not begun never will, as behind a kernel that failed: kernels, copies and functions of the host are dropped,
 *     notifiers are reached, cnrtMemFreeAsync frees. A function of the host that runs goes on.
 * Then the wait returns: cnrtErrorKernelTrap, or whatever error the queue holds, which is taken; cnrtErrorQueue if nothing failed but
 * work was given up; cnrtSuccess if all was done before. Nothing of what was given up touches memory any more, so what it was to
 * use may be freed. The queues can be used again at once; other queues notice nothing.
 *
 * cnrtQueueSync, cnrtQueueDestroy (the queue is gone all the same), cnrtInvokeKernel, cnrtWaitNotifier and the copies and sets that
 * wait do so for one queue; cnrtSyncDevice and cnrtDeviceReset (which resets nothing then) for all. cnrtFree ends nothing: it frees
 * the memory as soon as it is no longer used, and succeeds. */
typedef int (*mlusimInterruptCheck_t)(void);
MLUSIM_API cnrtRet_t mlusimSetInterruptCheck(mlusimInterruptCheck_t check);

/* ---- What they found ---- */

/* Findings of all launches since the last mlusimClearFindings(), oldest first. */
MLUSIM_API uint64_t mlusimGetFindingCount(void);
MLUSIM_API int mlusimGetFinding(uint64_t index, mlusimFinding *finding);
MLUSIM_API void mlusimClearFindings(void);

/* The report about the launch that failed last, for people; empty if none failed. It stays valid until the next call of this
 * thread. */
MLUSIM_API const char *mlusimGetReport(void);

/* Where one core of the job was that the last launch to end early was in: after a deadlock, the end of the time limit, a fault. */
typedef struct {
  int32_t task;    /* taskId; of a memory core that of its cluster's first core */
  int32_t cluster; /* clusterId */
  int32_t core;    /* coreId: 0x80 is the memory core */
  char state
      [16]; /* running: it ended the launch; ready: it could have gone on; waiting: at a barrier or a lock; ended */
  char instruction[64]; /* the barrier or lock that it waits at, else the intrinsic that it called last */
  int32_t lock;         /* the number of the lock that it waits for; else -1 */
  char file[256];       /* where that is in the source; empty if unknown */
  int32_t line;         /* 0 if unknown */
} mlusimCoreState;

/* Copies the state of core number `index` of that job, or returns -1 behind the last. */
MLUSIM_API int mlusimGetCoreState(int index, mlusimCoreState *state);

/* ---- Counters ---- */

/* What the simulator did since the process started. */
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
