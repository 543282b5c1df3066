# Signals during a long C call. Included by _core.pyx.
#
# Python's own signal handler only sets a flag; what the program registered with the module signal
# runs when the main thread executes Python code again. A library asks `check_interrupt` every 50 ms
# or so of a long call; the main thread runs the handlers then, and the call ends if one of them
# raises.

cdef extern from "Python.h":
    int PyErr_SetInterruptEx(int signal) noexcept

cdef int waits = 0  # calls of the main thread that may be interrupted, nested if a handler makes one
cdef object interruption = None  # what a handler raised in the innermost of them


cdef int check_interrupt() noexcept nogil:
    """Tell a library whether the call that this thread is in is to end."""
    if waits == 0 or PyThread_get_thread_ident() != main_thread_ident:
        return 0
    return run_handlers()


cdef int run_handlers() noexcept with gil:
    global waits, interruption
    cdef int outer = waits
    waits = 0
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        interruption = error
    finally:
        waits = outer
    return interruption is not None


cdef void begin_wait(Backend backend) noexcept:
    """Let the C call that follows be interrupted; `end_wait` or `end_wait_quietly` comes after it."""
    begin_wait_of(backend, PyThread_get_thread_ident())


cdef inline void begin_wait_of(Backend backend, unsigned long thread) noexcept:
    """The same for a caller that knows the number of its thread; `end_wait_of` comes after it."""
    global waits
    if thread == main_thread_ident:
        waits += 1
        backend.allow_interrupts()


cdef int end_wait() except -1:
    """Raise what a signal handler raised during the call."""
    return end_wait_of(PyThread_get_thread_ident())


cdef inline int end_wait_of(unsigned long thread) except -1:
    """The same for a caller that knows the number of its thread."""
    global waits, interruption
    if thread == main_thread_ident:
        waits -= 1
        if interruption is not None:
            error, interruption = interruption, None
            raise error
    return 0


cdef void end_wait_quietly() noexcept:
    """End a wait in a destructor, which cannot raise: a KeyboardInterrupt comes again when Python code goes on."""
    try:
        end_wait()
    except KeyboardInterrupt:
        PyErr_SetInterruptEx(SIGINT)
