/* Profiles of the simulated MLU: the work of launches, and an estimate of its time on a device.
 *
 * Functions that can fail return -1, or 0 where a number is returned; mlusimGetLastError() then
 * gives the reason. */
#ifndef MLUSIM_PROFILE_H_
#define MLUSIM_PROFILE_H_

#include <stdint.h>

#include "mlusim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of a profile's time model. All are greater than 0. */
typedef struct {
  double clock_mhz;
  double bandwidth_gb_s;          /* of device memory, for all cores together */
  double cluster_bandwidth_gb_s;  /* the most for the cores of one cluster */
  double off_chip_latency_ns;     /* from the start of a copy to its first byte */
  double on_chip_latency_cycles;  /* the same between on-chip memories */
  double on_chip_bytes_per_cycle; /* of one core, between on-chip memories */
  double vector_bytes_per_cycle;  /* of one core */
  double vector_startup_cycles;   /* of each vector or matrix instruction */
  double function_passes;         /* time of divisions, roots and the like, in additions */
  double matrix_float_operations; /* additions and multiplications per cycle and core, for elements of 4 bytes */
  double matrix_half_operations;  /* of 2 bytes */
  double matrix_byte_operations;  /* of 1 byte */
  double scalar_on_chip_cycles;   /* of one scalar access to on-chip memory */
  double scalar_off_chip_ns;      /* of one scalar access to device memory */
  double issue_cycles;            /* to pass an instruction to a pipe */
  double barrier_cycles;          /* after the last core has arrived */
} mlusimTimeModel;

/* One launch of a profile. */
typedef struct {
  char kernel[128]; /* as written at the launch */
  char unit[256];   /* the file of the launch; empty if unknown */
  char card[32];    /* the device */
  int32_t arch;
  uint32_t dim_x, dim_y, dim_z;
  int32_t type;              /* cnrtFunctionType_t */
  int32_t clusters;          /* of the device */
  int32_t cores_per_cluster; /* without the memory core */
  int32_t failed;            /* 1 if the launch failed: counts and times end there */
  uint64_t instructions;     /* calls of intrinsics that copy, compute or wait */
  uint64_t modelled;         /* those of them with figures in the time model, which the estimate is based on */
  uint64_t argument_bytes;   /* of the allocations that its arguments point to */
  double estimate_ns;        /* by the time model */
  uint64_t sites, tallies, cores, events,
      arrays; /* numbers of entries for mlusimGetProfileSites() and the other functions */
} mlusimProfileLaunch;

/* An instruction at one place of the source. */
typedef struct {
  char name[48];
  char file[256]; /* empty if unknown */
  int32_t line;
  int32_t unit;    /* the busy unit: 0 the scalar unit, 1 compute, 2 io (copies off chip), 3 move (copies on chip) */
  int32_t waits;   /* 1 for a sync, a barrier or a lock */
  int32_t holds;   /* 1 for a synchronous copy, which blocks the core */
  int32_t element; /* bytes of an element; 0 if not known */
  int32_t known;   /* 1 if the time model has a figure for it */
  char source[8];  /* of a copy: GDRAM, LDRAM, NRAM, WRAM or SRAM; empty for a fill */
  char target[8];
} mlusimProfileSite;

/* The work of one core at one site. Cores are numbered over the device; the memory core is the last
 * of its cluster. */
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

/* One core over the whole launch. Times come from the time model. */
typedef struct {
  int32_t cluster;
  int32_t core;  /* 0x80 for a memory core */
  uint64_t runs; /* tasks, or passes of the memory core */
  uint64_t syncs, barriers;
  uint64_t on_chip_loads, on_chip_stores, off_chip_loads, off_chip_stores; /* scalar */
  double sync_wait_ns, barrier_wait_ns, scalar_ns, end_ns;
} mlusimProfileCore;

/* The work of one unit of a core, by the time model. */
typedef struct {
  double begin_ns, end_ns;
  uint64_t bytes;
  int32_t core;
  int32_t site;
} mlusimProfileEvent;

/* An array that a kernel declares in NRAM, WRAM or SRAM. */
typedef struct {
  char name[64];
  char file[256];    /* the source file; includes count as part of it */
  char library[512]; /* the library that the source is compiled into */
  char space[8];
  int32_t of_function; /* not declared at file scope: it counts in launches that run its function */
  uint64_t bytes;
  uint64_t used; /* in a profile: up to the last byte touched; else 0 */
} mlusimArray;

/* Starts a profile of the launches that are queued until it is stopped: counts their work and
 * estimates their time on the device. It keeps at most `most_events` instructions for its
 * timelines, and counts the others. Returns its number, from 1 on; 0 if another profile runs or a
 * figure of the model is not greater than 0. */
MLUSIM_API uint64_t mlusimStartProfile(const mlusimTimeModel *model, uint64_t most_events);
MLUSIM_API int mlusimStopProfile(uint64_t profile);

/* Deletes a stopped profile. */
MLUSIM_API int mlusimFreeProfile(uint64_t profile);

/* The numbers of the profile's launches that have ended and that have not. */
MLUSIM_API uint64_t mlusimGetProfileLaunchCount(uint64_t profile);
MLUSIM_API uint64_t mlusimGetProfilePendingCount(uint64_t profile);

/* Copies entries of the profile's launch number `launch`: of each kind at most `count`, from number
 * `first` on. Returns the number of entries copied; -1 if there is no such launch. */
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

/* Copies array number `index` of all declared in loaded libraries; returns -1 behind the last. */
MLUSIM_API int mlusimGetArray(uint64_t index, mlusimArray *array);

#ifdef __cplusplus
}
#endif

#endif /* MLUSIM_PROFILE_H_ */
