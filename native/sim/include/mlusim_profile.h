/* Profiles of the simulated MLU: what launches do, and an estimate of the time that it takes on a device.
 *
 * Functions that can fail return -1, or 0 where a number is returned; mlusimGetLastError() then says why. */
#ifndef MLUSIM_PROFILE_H_
#define MLUSIM_PROFILE_H_

#include <stdint.h>

#include "mlusim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a profile takes for known about the time that instructions take. All are greater than 0. */
typedef struct {
  double clock_mhz;
  double bandwidth_gb_s;          /* of device memory, for all cores together */
  double cluster_bandwidth_gb_s;  /* what the cores of one cluster get of it at most */
  double off_chip_latency_ns;     /* from the start of a copy until its bytes flow */
  double on_chip_latency_cycles;  /* the same between memories on chip */
  double on_chip_bytes_per_cycle; /* of one core, between memories on chip */
  double vector_bytes_per_cycle;  /* of one core */
  double vector_startup_cycles;   /* of each vector or matrix instruction */
  double function_passes;         /* divisions, roots and the like take so many times as long as an addition */
  double matrix_float_operations; /* additions and multiplications of one core in a cycle, elements of 4 bytes */
  double matrix_half_operations;  /* of 2 bytes */
  double matrix_byte_operations;  /* of 1 byte */
  double scalar_on_chip_cycles;   /* of one scalar access to a memory on chip */
  double scalar_off_chip_ns;      /* and to device memory */
  double issue_cycles;            /* of an instruction that a pipe takes over */
  double barrier_cycles;          /* after the last core has come */
} mlusimTimeModel;

/* One launch of a profile. */
typedef struct {
  char kernel[128]; /* as written at the launch */
  char unit[256];   /* the file that the launch stands in; empty if unknown */
  char card[32];    /* the device */
  int32_t arch;
  uint32_t dim_x, dim_y, dim_z;
  int32_t type;              /* cnrtFunctionType_t */
  int32_t clusters;          /* of the device */
  int32_t cores_per_cluster; /* without the memory core */
  int32_t failed;            /* 1 if the launch failed: counts and times are those until then */
  uint64_t instructions;     /* calls of intrinsics that copy, compute or wait */
  uint64_t modelled;         /* those among them that the estimate is made of with figures for them */
  uint64_t argument_bytes;   /* of the allocations that its arguments point to */
  double estimate_ns;        /* by the time model */
  uint64_t sites, tallies, cores, events, arrays; /* what mlusimGetProfileSites() and the others have of it */
} mlusimProfileLaunch;

/* An instruction at one place of the source. */
typedef struct {
  char name[48];
  char file[256]; /* empty if unknown */
  int32_t line;
  int32_t unit;    /* what it keeps busy: 0 the scalar unit, 1 compute, 2 io: copies off chip, 3 move: copies on chip */
  int32_t waits;   /* 1 for a sync, a barrier or a lock */
  int32_t holds;   /* 1 for a synchronous copy, which holds up the core */
  int32_t element; /* bytes of an element; 0 if not known */
  int32_t known;   /* 1 if the time model has figures for it */
  char source[8];  /* of a copy: GDRAM, LDRAM, NRAM, WRAM or SRAM; empty for a fill */
  char target[8];
} mlusimProfileSite;

/* What one core did at one site. Cores are numbered through the device, the memory core as the last of its cluster. */
typedef struct {
  int32_t core;
  int32_t site;
  uint64_t calls;
  uint64_t elements;    /* of compute instructions */
  uint64_t operations;  /* additions, multiplications and the like */
  uint64_t bytes;       /* moved; of compute instructions: of all operands */
  uint64_t charged;     /* of device memory: in whole lines */
  uint64_t pieces;      /* of strided copies, gathers and scatters */
  uint64_t least, most; /* bytes of one call */
  double busy_ns;       /* by the time model */
} mlusimProfileTally;

/* One core, over the whole launch. Times are those of the model. */
typedef struct {
  int32_t cluster;
  int32_t core;  /* 0x80 for a memory core */
  uint64_t runs; /* tasks, or passes of the memory core */
  uint64_t syncs, barriers;
  uint64_t on_chip_loads, on_chip_stores, off_chip_loads, off_chip_stores; /* scalar */
  double sync_wait_ns, barrier_wait_ns, scalar_ns, end_ns;
} mlusimProfileCore;

/* What a unit of a core did, by the time model. */
typedef struct {
  double begin_ns, end_ns;
  uint64_t bytes;
  int32_t core;
  int32_t site;
} mlusimProfileEvent;

/* An array that a kernel declares in NRAM, WRAM or SRAM. */
typedef struct {
  char name[64];
  char file[256];    /* the source that declares it, with what it includes */
  char library[512]; /* that the source is compiled into */
  char space[8];
  uint64_t bytes;
  uint64_t used; /* of a profile: up to the last byte that was touched; else 0 */
} mlusimArray;

/* Starts a profile: what launches do that are put into a queue until it is stopped is counted, and the time that they take on the device
 * is estimated. It keeps at most `most_events` instructions for its timelines, and counts those beyond. Its number, from 1 on; 0 if
 * another profile runs or a figure of the model is not greater than 0. */
MLUSIM_API uint64_t mlusimStartProfile(const mlusimTimeModel *model, uint64_t most_events);
MLUSIM_API int mlusimStopProfile(uint64_t profile);

/* Forgets a stopped profile. */
MLUSIM_API int mlusimFreeProfile(uint64_t profile);

/* How many launches of the profile have ended, and how many have not. */
MLUSIM_API uint64_t mlusimGetProfileLaunchCount(uint64_t profile);
MLUSIM_API uint64_t mlusimGetProfilePendingCount(uint64_t profile);

/* Copies what the profile has of its launch number `launch`: of each kind from number `first` on at most `count`. The number that was
 * copied; -1 if there is no such launch. */
MLUSIM_API int mlusimGetProfileLaunch(uint64_t profile, uint64_t launch, mlusimProfileLaunch *described);
MLUSIM_API int64_t mlusimGetProfileSites(uint64_t profile, uint64_t launch, uint64_t first, uint64_t count,
                                         mlusimProfileSite *sites);
MLUSIM_API int64_t mlusimGetProfileTallies(uint64_t profile, uint64_t launch, uint64_t first, uint64_t count,
                                           mlusimProfileTally *tallies);
MLUSIM_API int64_t mlusimGetProfileCores(uint64_t profile, uint64_t launch, uint64_t first, uint64_t count,
                                         mlusimProfileCore *cores);
MLUSIM_API int64_t mlusimGetProfileEvents(uint64_t profile, uint64_t launch, uint64_t first, uint64_t count,
                                          mlusimProfileEvent *events);
MLUSIM_API int64_t mlusimGetProfileArrays(uint64_t profile, uint64_t launch, uint64_t first, uint64_t count,
                                          mlusimArray *arrays);

/* Copies the array number `index` of all that loaded libraries declare, or returns -1 behind the last. */
MLUSIM_API int mlusimGetArray(uint64_t index, mlusimArray *array);

#ifdef __cplusplus
}
#endif

#endif /* MLUSIM_PROFILE_H_ */
