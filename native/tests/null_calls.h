/* Every function that returns a status, called with NULL and 0; the table is generated from the
 * header. */
#ifndef MLUOPS_TESTS_NULL_CALLS_H_
#define MLUOPS_TESTS_NULL_CALLS_H_

#include "mluops_ext.h"

typedef struct {
  const char *name;
  mluOpStatus_t (*call)(void);
} NullCall;

extern const NullCall null_calls[];
extern const size_t null_call_count;

#endif /* MLUOPS_TESTS_NULL_CALLS_H_ */
