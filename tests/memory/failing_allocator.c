// Lets one allocation of the Python interpreter fail: the one that `fail_at` counts down to, in any
// of its three domains.
#include <Python.h>

static PyMemAllocatorEx before[3];
static const PyMemAllocatorDomain domains[3] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
static unsigned long thread;  // whose allocations are counted
static long left;             // until the one that fails; below 0: none will
static int failed;

static int fails(void) {
  if (left < 0 || PyThread_get_thread_ident() != thread) return 0;
  if (left-- > 0) return 0;
  failed = 1;
  return 1;
}

static void *hook_malloc(void *domain, size_t size) {
  const PyMemAllocatorEx *real = domain;
  return fails() ? NULL : real->malloc(real->ctx, size);
}

static void *hook_calloc(void *domain, size_t count, size_t size) {
  const PyMemAllocatorEx *real = domain;
  return fails() ? NULL : real->calloc(real->ctx, count, size);
}

static void *hook_realloc(void *domain, void *memory, size_t size) {
  const PyMemAllocatorEx *real = domain;
  return fails() ? NULL : real->realloc(real->ctx, memory, size);
}

static void hook_free(void *domain, void *memory) {
  const PyMemAllocatorEx *real = domain;
  real->free(real->ctx, memory);
}

void install(void) {
  left = -1;
  for (int i = 0; i < 3; i++) {
    PyMem_GetAllocator(domains[i], &before[i]);
    PyMemAllocatorEx hooks = {&before[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
    PyMem_SetAllocator(domains[i], &hooks);
  }
}

void stop(void) { left = -1; }

// Lets the allocation after the next `count` of this thread fail, and no other.
void fail_at(long count) {
  thread = PyThread_get_thread_ident();
  failed = 0;
  left = count;
}

// Whether one has failed.
int has_failed(void) { return failed; }
