# The progress of a queue's work, and the users of the queue. Included by _core.pyx.

cdef extern from "<unistd.h>" nogil:
    int usleep(unsigned int microseconds)

cdef enum:
    ENTRY_INTERVAL = 100  # microseconds between two looks whether another thread has put its work into a queue


# Work that a thread is about to put into a queue. It lies on the stack of that thread, so that
# noting it cannot fail.
cdef struct Entry:
    int64_t number
    unsigned long thread
    Entry *next


@cython.final
@cython.no_gc_clear
cdef class QueueState:
    """A ``cnrtQueue_t`` and the progress of its work.

    Work that this package queues is numbered, from 1: `issue` gives the number, the work is put
    into the queue without the GIL, and `entered` records that it is in the queue. Code that needs
    the end of some work keeps this object and the number; a queue that was destroyed has finished
    all of its work.

    The queue lives as long as it has users. The last user destroys it, and nothing can enter it
    after that.
    """

    cdef Backend backend
    cdef FunctionTable *table
    cdef cnrtQueue_t queue
    cdef bint owned  # by this object, which destroys it
    cdef bint open  # for new work
    cdef int users  # the Queue, handles, and waits under way; 0: its end has begun
    cdef int64_t issued  # number of the latest work
    cdef int64_t finished  # all work up to this number is over
    cdef Entry *entering  # issued, but not in the queue yet
    cdef int forks  # when `entering` was last read
    cdef list kept  # (number, object): what must live as long as the work
    cdef object error  # found by a wait and not raised yet,
    cdef int64_t suspect  # of work from this number on
    cdef Lock ending  # held while the queue is destroyed

    def __dealloc__(self):
        free_lock(&self.ending)

    # -- Work --------------------------------------------------------------------------------------

    cdef int64_t issue(self, Entry *entry) noexcept:
        """Number work that this thread is about to put into the queue; `entered` must follow, whatever happens."""
        self.forget_lost_threads()
        self.issued += 1
        entry.number, entry.thread, entry.next = self.issued, PyThread_get_thread_ident(), self.entering
        self.entering = entry
        return entry.number

    cdef void entered(self, Entry *entry) noexcept:
        cdef Entry **link = &self.entering
        while link[0] != entry:
            link = &link[0].next
        link[0] = entry.next

    cdef void forget_lost_threads(self) noexcept:
        """Forget what threads were about to do that the child of a fork does not have: all but the one that runs."""
        cdef Entry **link = &self.entering
        if self.forks == forks_so_far:
            return
        self.forks = forks_so_far
        while link[0] != NULL:
            if link[0].thread == PyThread_get_thread_ident():
                link = &link[0].next
            else:
                link[0] = link[0].next

    cdef int64_t reached(self) noexcept:
        """Return the number up to which all work is in the queue or over."""
        cdef int64_t number = self.issued
        cdef Entry *entry
        self.forget_lost_threads()
        entry = self.entering
        while entry != NULL:
            number = min(number, entry.number - 1)
            entry = entry.next
        return number

    cdef int keep(self, int64_t number, object thing) except -1:
        self.kept.append((number, thing))
        return 0

    cdef int finish(self, int64_t number) except -1:
        if number > self.finished:
            self.finished = number
            if self.kept:
                self.kept = [entry for entry in self.kept if entry[0] > number]
        return 0

    # -- Waiting -----------------------------------------------------------------------------------

    cdef object settle(self, int64_t number):
        """Wait for all that is in the queue, and for all work up to `number`; return the error found, or None."""
        cdef object error = None
        cdef object found
        while True:
            if not self.enter():
                self.wait_for_end()
                break
            try:
                found = self.sync()
            finally:
                self.release()
            error = found if error is None else error
            if number <= self.finished or error is not None:
                break
            self.wait_for_entry(number)
        if self.error is not None:
            error, self.error = self.error, error
        return error

    cdef object sync(self):
        cdef int64_t number = self.reached()
        cdef object error = None
        cdef int status
        begin_wait(self.backend)
        with nogil:
            status = self.table.cnrtQueueSync(self.queue)
        try:
            if status != 0:
                error = device_failure(self.backend, "cnrtQueueSync", status)
                self.suspect = self.finished + 1
            # Also after an error, when the rest of the queue's work was dropped, and after an
            # interrupted wait. But a function that a queue runs may not wait.
            if status != cnrtErrorOpsNotPermitted:
                self.finish(number)
        finally:
            end_wait()
        return error

    cdef int wait_for_entry(self, int64_t number) except -1:
        """Let the thread go on that is about to put work up to this number into the queue."""
        cdef Entry *entry
        if self.reached() >= number:
            return 0
        entry = self.entering
        while entry != NULL:
            if entry.thread == PyThread_get_thread_ident():
                raise errors.NotSupportedError(
                    "cnrtQueueSync: a signal handler cannot wait for the call during which it runs"
                )
            entry = entry.next
        with nogil:
            usleep(ENTRY_INTERVAL)
        return PyErr_CheckSignals()

    cdef int wait(self, int64_t number) except -1:
        """Wait until the work of this number is over, and raise the error that it may have ended with."""
        error = None
        if number > self.finished:
            error = self.settle(number)
        elif self.error is not None and number >= self.suspect:
            error, self.error = self.error, None
        if error is not None:
            raise error
        return 0

    cdef void wait_quietly(self, int64_t number) noexcept:
        """Wait in a destructor: the next wait raises the error."""
        if number <= self.finished:
            return
        try:
            self.error = self.settle(number)
        except KeyboardInterrupt:
            PyErr_SetInterruptEx(SIGINT)
        except MemoryError:
            if self.users != 0:
                with nogil:
                    self.table.cnrtQueueSync(self.queue)

    cdef bint query(self) except -1:
        """Tell whether all work is over; raise its error."""
        cdef int64_t number = self.reached()
        cdef bint all_entered = number == self.issued
        cdef int status
        if not self.enter():
            self.wait_for_end()
            return True
        try:
            with nogil:
                status = self.table.cnrtQueueQuery(self.queue)
        finally:
            self.release()
        if status == cnrtErrorNotReady or status == cnrtErrorBusy:
            return False
        self.finish(number)
        if status != 0:
            raise device_failure(self.backend, "cnrtQueueQuery", status)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return all_entered

    # -- Users -------------------------------------------------------------------------------------

    cdef bint enter(self) noexcept:
        """Become a user; False if the queue's end has begun."""
        if self.users == 0:
            return False
        self.users += 1
        return True

    cdef void release(self) noexcept:
        self.users -= 1
        if self.users == 0:
            self.end()

    cdef int end(self) except -1:
        """Wait for the work that is left and release the queue; an error that was not raised is lost."""
        cdef int status = 0
        self.open = False
        take(&self.ending)
        begin_wait(self.backend)
        with nogil:
            if self.issued > self.finished:
                status = self.table.cnrtQueueSync(self.queue)
            if self.owned and status != cnrtErrorOpsNotPermitted:
                status = self.table.cnrtQueueDestroy(self.queue)
        end_wait_quietly()
        if status == cnrtErrorOpsNotPermitted:
            self.users = 1
            self.backend.leave(self)
            give_back(&self.ending)
            return 0
        kept, self.kept = self.kept, None
        self.owned = False
        self.finished = self.issued
        give_back(&self.ending)
        del kept  # what goes with it may need this queue
        return 0

    cdef int wait_for_end(self) except -1:
        """Wait for the thread that ends the queue."""
        if not holds(&self.ending):
            take(&self.ending)
            give_back(&self.ending)
        return 0


cdef QueueState new_queue_state(Backend backend, void *queue):
    """Return the state of a queue with one user, the caller."""
    cdef QueueState state = QueueState.__new__(QueueState)
    make_lock(&state.ending)
    state.backend, state.table, state.queue, state.open, state.kept = backend, backend.table, queue, True, []
    state.forks, state.users = forks_so_far, 1
    return state


cdef QueueState default_queue(Backend backend):
    """Return the state of a library's default queue, one for all, which the library itself uses for ever."""
    cdef QueueState state
    if backend.default_queue is None:
        state = new_queue_state(backend, NULL)
        if backend.default_queue is None:  # no other thread was quicker
            backend.default_queue = state
    return <QueueState>backend.default_queue
