/* What generated entry points of functions that a library does not implement call; C, as they
 * are. */
#ifndef MLUOPS_CORE_UNIMPLEMENTED_H_
#define MLUOPS_CORE_UNIMPLEMENTED_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the ABI and the entry point that stands for it unless another object file defines
 * the function; NULL for a function that returns no status, which every library defines. */
typedef struct {
  const char *name;
  void (*function)(void);
  void (*placeholder)(void);
} mluopsEntry;

extern const mluopsEntry mluops_entries[];
extern const size_t mluops_entry_count;

/* Stores the reason and returns NOT_SUPPORTED. */
mluOpStatus_t mluops_not_implemented(const char *function);

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_CORE_UNIMPLEMENTED_H_ */
