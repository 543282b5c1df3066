/* The functions of the ABI by their names; C, as the generated calls are. */
#ifndef MLUOPS_TESTS_CALLS_H_
#define MLUOPS_TESTS_CALLS_H_

#include "mluops_ext.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef union {
  void *pointer;
  int64_t integer;
  double real;
} CallArgument;

typedef struct {
  const char *name;
  int count;
  const char *const *parameters;
  mluOpStatus_t (*call)(const CallArgument *arguments);
} CallByName;

extern const CallByName calls_by_name[];
extern const size_t call_by_name_count;

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_TESTS_CALLS_H_ */
