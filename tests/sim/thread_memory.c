// Calls the simulator from a thread that cannot allocate: malloc of this program fails for it.
// Prints what the calls return.
//
// The library is loaded at run time, as Python does: thread-local variables that it had in dynamic
// memory would be allocated by the loader in the middle of a call, and the loader ends the process
// if there is none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnrt.h"
#include "mlusim.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread int failing;
static int failed;

static int fails(void) {
  if (failing) __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
  return failing;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return fails() ? NULL : __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }

static void *library;

static void *find(const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return found;
}

// What a thread was told; printed by the main thread, as printing may allocate.
struct Told {
  cnrtRet_t null_pointer, own_queue, last_error;
  char explanation[512], report[64], level[16];
};

static cnrtRet_t (*queue_create)(cnrtQueue_t *);
static cnrtRet_t (*queue_sync)(cnrtQueue_t);
static cnrtRet_t (*get_last_error)(void);
static const char *(*explanation)(void);
static const char *(*report)(void);
static const char *(*level)(void);

static void *use(void *argument) {
  struct Told *told = argument;
  failing = 1;
  told->null_pointer = queue_create(NULL);
  snprintf(told->explanation, sizeof told->explanation, "%s", explanation());
  told->last_error = get_last_error();
  snprintf(told->report, sizeof told->report, "%s", report());
  snprintf(told->level, sizeof told->level, "%s", level());
  failing = 0;
  told->own_queue = queue_sync((cnrtQueue_t)1);  // the queue of this thread: made by this call, gone with the thread
  return NULL;
}

int main(int count, char **arguments) {
  enum {
    kThreads = 40
  };  // more than the library has reserves for
  static struct Told told[kThreads];
  pthread_t threads[kThreads];
  library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  queue_create = (cnrtRet_t (*)(cnrtQueue_t *))find("cnrtQueueCreate");
  queue_sync = (cnrtRet_t (*)(cnrtQueue_t))find("cnrtQueueSync");
  get_last_error = (cnrtRet_t (*)(void))find("cnrtGetLastError");
  explanation = (const char *(*)(void))find("mlusimGetLastError");
  report = (const char *(*)(void))find("mlusimGetReport");
  level = (const char *(*)(void))find("mluopsExtGetInstructionLevel");
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, use, &told[i]) != 0) return 2;
    if (i == 0) pthread_join(threads[0], NULL);  // the first one gives its reserve back
  }
  for (int i = 1; i < kThreads; ++i) pthread_join(threads[i], NULL);
  if (failed == 0) return 3;
  for (int i = 0; i < kThreads; ++i) {
    printf("%d|%s|%d|%d|%s|%s\n", told[i].null_pointer, told[i].explanation, told[i].last_error, told[i].own_queue,
           told[i].report, told[i].level);
  }
  return 0;
}
