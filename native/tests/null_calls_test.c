/* A C program links with every function of the ABI, and each answers NULL and 0 with a status and a
 * reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "null_calls.h"

enum {
  kFunctions = 189
};

static int failures = 0;

static void check(int holds, const char *name, const char *what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "%s: expected %s, the last reason is: %s\n", name, what, mluopsExtGetLastReason());
}

static void check_call(const NullCall *function) {
  char unimplemented[256];
  const mluOpStatus_t status = function->call();
  const char *reason = mluopsExtGetLastReason();
  if (mluopsExtImplements(function->name)) {
    check(status != MLUOP_STATUS_SUCCESS && status != MLUOP_STATUS_INTERNAL_ERROR, function->name, "a refusal");
    check(strncmp(reason, function->name, strlen(function->name)) == 0, function->name, "a reason that names it");
  } else {
    snprintf(unimplemented, sizeof unimplemented, "%s: not implemented by the %s library", function->name,
             mluopsExtGetLibraryKind());
    check(status == MLUOP_STATUS_NOT_SUPPORTED, function->name, "NOT_SUPPORTED");
    check(strcmp(reason, unimplemented) == 0, function->name, unimplemented);
  }
}

/* The functions that return no status; returns how many they are. */
static int check_others(void) {
  char *directory = (char *)mluOpGetGenCaseDirectory(NULL, 0, NULL, NULL);
  check(directory != NULL && directory[0] == '/', "mluOpGetGenCaseDirectory", "the working directory");
  free(directory);
  check(strcmp(mluOpGetErrorString((mluOpStatus_t)0), "MLUOP_STATUS_SUCCESS") == 0, "mluOpGetErrorString", "a name");
  check(mluOpGetTensorElementNum(NULL) == 0, "mluOpGetTensorElementNum", "0");
  mluOpGetLibVersion(NULL, NULL, NULL);
  mluOpSetGenCaseMode(0);
  return 5;
}

int main(void) {
  size_t i, implemented = 0;
  const int others = check_others();
  for (i = 0; i < null_call_count; ++i) {
    check_call(&null_calls[i]);
    implemented += mluopsExtImplements(null_calls[i].name) ? 1 : 0;
  }
  check((int)null_call_count + others == kFunctions, "mlu_op.h", "189 functions");
  check(implemented > 0 && !mluopsExtImplements("mluOpNone") && !mluopsExtImplements(NULL), "mluopsExtImplements",
        "to know the functions that the library implements");
  printf("%d functions, %d failed checks\n", (int)null_call_count + others, failures);
  return failures == 0 ? 0 : 1;
}
