# A lock that works after a fork and records its holder. Included by _core.pyx.

cdef extern from *:
    """
    #include <pthread.h>

    /* Number of forks between this process and the first one: objects compare it to see that a fork happened. */
    static int forks_so_far = 0;
    static unsigned long main_thread_ident = 0;

    static void note_fork(void) {
      forks_so_far++;
      main_thread_ident = PyThread_get_thread_ident(); /* the thread that forked is the only one of the child */
    }

    static int watch_forks(unsigned long main_thread) {
      main_thread_ident = main_thread;
      return pthread_atfork(NULL, NULL, note_fork);
    }
    """
    int forks_so_far
    unsigned long main_thread_ident
    int watch_forks(unsigned long main_thread)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    unsigned long PyThread_get_thread_ident() noexcept nogil
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long microseconds, int interruptible) noexcept nogil

cdef enum:
    SIGNAL_INTERVAL = 50000  # microseconds between two looks for signals while a thread waits

if watch_forks(threading.main_thread().ident) != 0:
    raise MemoryError("no memory to watch forks")

# `owner` and `forks` are read and written with the GIL held.
cdef struct Lock:
    PyThread_type_lock lock
    unsigned long owner  # the thread that holds it; 0: none
    int forks


cdef int make_lock(Lock *lock) except -1:
    lock.lock, lock.owner, lock.forks = PyThread_allocate_lock(), 0, forks_so_far
    if lock.lock == NULL:
        raise errors.AllocFailedError("no memory for a lock")
    return 0


cdef void free_lock(Lock *lock) noexcept:
    if lock.lock != NULL:
        PyThread_free_lock(lock.lock)
    lock.lock = NULL


cdef bint holds(Lock *lock) noexcept:
    """Tell whether this thread holds the lock."""
    return lock.owner != 0 and lock.owner == PyThread_get_thread_ident()


cdef bint take_at_once(Lock *lock) except -1:
    """Take the lock if it is free."""
    if lock.forks != forks_so_far:
        if not holds(lock):
            # A thread that the child of a fork does not have may hold it, and may not have said so
            # yet.
            free_lock(lock)
            make_lock(lock)
        lock.forks = forks_so_far
    if not PyThread_acquire_lock(lock.lock, NOWAIT_LOCK):
        return False
    lock.owner = PyThread_get_thread_ident()
    return True


cdef int take(Lock *lock) except -1:
    """Wait for the lock, which this thread must not hold; signals are handled meanwhile."""
    cdef bint taken = take_at_once(lock)
    while not taken:
        with nogil:
            taken = PyThread_acquire_lock_timed(lock.lock, SIGNAL_INTERVAL, 0) == 1
        if taken:
            lock.owner = PyThread_get_thread_ident()
        else:
            PyErr_CheckSignals()
    return 0


cdef void give_back(Lock *lock) noexcept:
    lock.owner = 0
    PyThread_release_lock(lock.lock)
