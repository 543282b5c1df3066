# The memory pool: recycles the memory of released results and workspaces. Included by _core.pyx.

cdef extern from *:
    """
    #include <pthread.h>
    #include <stdlib.h>
    #include <sys/mman.h>

    enum { POOL_ALIGNMENT = 64, POOL_PAGE = 4096, POOL_HUGE = 4 << 20 };

    /* Stands in front of the data of every block, in POOL_ALIGNMENT bytes. The links are for idle blocks. */
    typedef struct PoolBlock {
      size_t capacity;
      struct PoolBlock *older, *newer;
    } PoolBlock;

    static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
    static PoolBlock *pool_oldest = NULL, *pool_newest = NULL;
    static size_t pool_idle = 0, pool_limit = 0, pool_least = 0, pool_most = 0;

    /* A fork waits until no other thread is inside, so the child finds the list whole and the mutex free. */
    static void pool_lock(void) { pthread_mutex_lock(&pool_mutex); }
    static void pool_unlock(void) { pthread_mutex_unlock(&pool_mutex); }

    static void pool_unlink(PoolBlock *block) {
      if (block->older != NULL) block->older->newer = block->newer; else pool_oldest = block->newer;
      if (block->newer != NULL) block->newer->older = block->older; else pool_newest = block->older;
      pool_idle -= block->capacity;
    }

    static PoolBlock *pool_best_fit(size_t size) {
      PoolBlock *best = NULL;
      for (PoolBlock *block = pool_newest; block != NULL; block = block->older) {
        const int fits = block->capacity >= size && block->capacity / 2 <= size;
        if (fits && (best == NULL || block->capacity < best->capacity)) best = block;
      }
      if (best != NULL) pool_unlink(best);
      return best;
    }

    /* Unlink the oldest blocks until `limit` holds, and return them, linked by `newer`. The lock is held. */
    static PoolBlock *pool_evict(size_t limit) {
      PoolBlock *evicted = NULL;
      while (pool_idle > limit) {
        PoolBlock *block = pool_oldest;
        pool_unlink(block);
        block->newer = evicted;
        evicted = block;
      }
      return evicted;
    }

    static void pool_free_all(PoolBlock *block) {
      while (block != NULL) {
        PoolBlock *next = block->newer;
        free(block);
        block = next;
      }
    }

    static void *pool_new_block(size_t size) {
      if (size > SIZE_MAX - 2 * POOL_ALIGNMENT) return NULL;
      const size_t capacity = (size + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
      PoolBlock *block = (PoolBlock *)aligned_alloc(POOL_ALIGNMENT, capacity + POOL_ALIGNMENT);
      if (block == NULL) return NULL;
    #ifdef MADV_HUGEPAGE
      if (capacity >= POOL_HUGE) { /* fewer page faults; the kernel may have none, which is no error */
        char *begin = (char *)block + (POOL_PAGE - (uintptr_t)block % POOL_PAGE);
        madvise(begin, ((char *)block + capacity - begin) / POOL_PAGE * POOL_PAGE, MADV_HUGEPAGE);
      }
    #endif
      block->capacity = capacity;
      return (char *)block + POOL_ALIGNMENT;
    }

    /* Return memory of at least `size` bytes, aligned to POOL_ALIGNMENT, contents undefined; NULL if there is none. */
    static void *pool_take(size_t size) {
      if (size >= pool_least && size <= pool_most) {
        pool_lock();
        PoolBlock *block = pool_best_fit(size);
        pool_unlock();
        if (block != NULL) return (char *)block + POOL_ALIGNMENT;
      }
      return pool_new_block(size);
    }

    /* Release what `pool_take` returned; any thread may, with or without the GIL. */
    static void pool_give(void *data) {
      if (data == NULL) return;
      PoolBlock *block = (PoolBlock *)((char *)data - POOL_ALIGNMENT);
      block->newer = NULL;
      PoolBlock *evicted = block;
      if (block->capacity >= pool_least && block->capacity <= pool_most) {
        pool_lock();
        if (block->capacity <= pool_limit) {
          evicted = pool_evict(pool_limit - block->capacity);
          block->older = pool_newest;
          block->newer = NULL;
          if (pool_newest != NULL) pool_newest->newer = block; else pool_oldest = block;
          pool_newest = block;
          pool_idle += block->capacity;
        }
        pool_unlock();
      }
      pool_free_all(evicted);
    }

    static void pool_set_limit(size_t limit) {
      pool_lock();
      pool_limit = limit;
      PoolBlock *evicted = pool_evict(limit);
      pool_unlock();
      pool_free_all(evicted);
    }

    static size_t pool_idle_bytes(void) {
      pool_lock();
      const size_t idle = pool_idle;
      pool_unlock();
      return idle;
    }

    static int pool_begin(size_t limit, size_t least, size_t most) {
      pool_limit = limit, pool_least = least, pool_most = most;
      return pthread_atfork(pool_lock, pool_unlock, pool_unlock);
    }
    """
    void *pool_take(size_t size) noexcept nogil
    void pool_give(void *data) noexcept nogil
    void pool_set_limit(size_t limit) noexcept nogil
    size_t pool_idle_bytes() noexcept nogil
    int pool_begin(size_t limit, size_t least, size_t most)

if pool_begin(min(_pool.limit_from_environment(), 2**63), _pool.LEAST_BYTES, _pool.MOST_BYTES) != 0:
    raise MemoryError("no memory to watch forks")

cdef object np_empty = np.empty
cdef object ndarray = np.ndarray
cdef int64_t LEAST_POOLED = _pool.LEAST_BYTES
cdef int64_t LEAST_POOLED_COUNT = _pool.LEAST_BYTES // 16  # elements; no type is larger
cdef int64_t MOST_POOLED = _pool.MOST_BYTES


@cython.final
cdef class PooledMemory:
    """Owns a block of memory, which goes back to the pool when this object is deallocated.

    It is the base of the arrays that show the block: each of them, each view of one and each buffer
    keeps it alive.
    """

    cdef void *data
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t size):
        if size < 0:
            raise ValueError(f"PooledMemory: size: expected an integer >= 0, got {size}")
        self.data, self.size = pool_take(size), size
        if self.data == NULL:
            raise MemoryError(f"no memory for {size} bytes")

    def __dealloc__(self):
        pool_give(self.data)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.size, 0, flags)

    def __len__(self):
        return self.size


cdef object new_ndarray(tuple shape, object dtype, int64_t size):
    """Return a new NumPy array of `size` bytes whose values are not set, from the pool if that size is pooled."""
    if LEAST_POOLED <= size <= MOST_POOLED:
        return ndarray(shape, dtype, PooledMemory(size))
    return np_empty(shape, dtype)


def set_pool_limit(limit):
    """Change how many bytes of idle memory the pool keeps, and free what is over that."""
    cdef size_t number = limit
    with nogil:
        pool_set_limit(number)


def pool_idle():
    """Return how many bytes of idle memory the pool keeps."""
    return pool_idle_bytes()
