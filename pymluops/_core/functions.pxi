# Calls of any C function with arguments that Python code has prepared, for pymluops.functions.
# Included by _core.pyx.

from cpython.bytearray cimport PyByteArray_AsString
from cpython.bytes cimport PyBytes_AsString

cdef enum:
    MAX_ARGUMENTS = 48  # of any C function


# ---- Arrays --------------------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class ArrayArgument:
    """An array given to a function of a library: read, held until `release`, and staged if the library is for a device.

    Attributes
    ----------
    shape : tuple of int
    dtype : int
        A `DataType`; INVALID if the element type has no number.
    nbytes : int
        Bytes of all elements.
    on_device : bool
        Whether it lies in the memory of a device.
    address : int
        Where it lies.
    writes : bool
        Whether the function may write to it.
    left : bytearray or None
        What a kernel that failed left in the copy on the device of an array that it may write to.
    """

    cdef View view
    cdef object array
    cdef DeviceArray held
    cdef readonly bint writes
    cdef readonly bint on_device
    cdef char *place  # on the device, for an array in host memory
    cdef readonly object left

    def __cinit__(self, caller, str argument not None, array, bint writes, Backend backend not None):
        cdef View *view = &self.view
        cdef int named = 0
        cdef str problem
        view.source = SOURCE_NONE
        self.writes, self.array = writes, array
        if type(array) is DeviceArray and not (<DeviceArray>array).alive:
            raise errors.NotInitializedError(f"{caller.name}: {argument}: is closed", function=caller.function)
        if isinstance(array, np.ndarray) and array.dtype.kind == "V" and array.dtype.names is None:
            try:  # a type of ml_dtypes, which neither the buffer protocol nor DLPack of NumPy can carry
                named = dtypes.as_data_type(array.dtype)
                self.array = array = array.view(f"u{array.itemsize}")
            except errors.BadParamError:
                named = 0
        problem = acquire(view, array)
        if problem is None:
            problem = self.find_problem(backend, array)
        if problem is not None:
            kind = errors.AllocFailedError if view.no_memory else errors.BadParamError
            raise kind(f"{caller.name}: {argument}: expected {problem}", function=caller.function)
        if named:
            view.dtype = named
        if type(array) is DeviceArray:
            (<DeviceArray>array).users += 1
            self.held = <DeviceArray>array

    cdef str find_problem(self, Backend backend, object array):
        """Return what is wrong with an array that could be read, or None."""
        cdef View *view = &self.view
        cdef bint ours
        if view.foreign_order:
            return f"native byte order, got {array_text(array)}"
        if view.device != DL_CPU and view.device != DL_CUDA_HOST and view.device != DL_ROCM_HOST:
            if type(array) is DeviceArray:
                ours = (<DeviceArray>array).backend is backend
            else:  # a tensor of torch_mlu
                ours = view.device == DL_EXTENSION and backend.kind == "mlu"
            if not ours:
                place = f" or on {backend.name}" if backend.on_device else ""
                return (f"an array in host memory{place}, because the backend is {backend.name}, got "
                        f"{device_text(view, array)}")
            self.on_device = True
        if view.ndim > MAX_DIMS:
            return f"at most {MAX_DIMS} dims, got {view.ndim}"
        if not view.packed:
            return f"a C-contiguous array, got strides {strides_text(view)} for shape {shape_text(view)}"
        if self.writes and (view.readonly or view.copied):
            return "a writable array, got " + ("a read-only one" if view.readonly else "a copy")
        if view.count != 0 and view.data == NULL:
            return "data, got a null pointer"
        if view.count != 0 and view.itemsize > 0 and <uintptr_t>view.data % <uintptr_t>view.itemsize != 0:
            return f"data aligned to {view.itemsize} bytes, got address {<uintptr_t>view.data:#x}"
        return None

    def __dealloc__(self):
        self.release()

    cpdef release(self):
        """Let the array go; it cannot be used any more."""
        cdef DeviceArray held = self.held
        release(&self.view)
        self.held = None
        if held is not None:
            held.release()

    @property
    def shape(self):
        return tuple([self.view.shape[axis] for axis in range(self.view.ndim)])

    @property
    def dtype(self):
        return self.view.dtype

    @property
    def itemsize(self):
        return self.view.itemsize

    @property
    def nbytes(self):
        return <object>self.view.count * self.view.itemsize

    @property
    def address(self):
        return <uintptr_t>self.view.data

    @property
    def dtype_name(self):
        return dtype_text(&self.view, self.array)

    # -- Its place on the device -------------------------------------------------------------------

    cdef bint is_staged(self, Handle handle) noexcept:
        """Whether the call needs a copy on the device. A scalar, which has no dims, is read in host memory."""
        return handle is not None and handle.on_device and not self.on_device and self.view.ndim > 0

    cdef int stage(self, Backend backend) except -1:
        cdef size_t size = self.view.count * self.view.itemsize
        cdef int status
        if size == 0:
            return 0
        with nogil:
            status = backend.table.cnrtMalloc(<void **>&self.place, size)
        if status != 0:
            self.place = NULL
            raise device_failure(backend, "cnrtMalloc", status)
        with nogil:
            status = backend.table.cnrtMemcpy(self.place, self.view.data, size, cnrtMemcpyHostToDev)
        if status != 0:
            raise device_failure(backend, "cnrtMemcpy", status)
        return 0

    cdef int bring_back(self, Backend backend) except -1:
        cdef size_t size = self.view.count * self.view.itemsize
        cdef int status
        if not self.writes or self.place == NULL:
            return 0
        with nogil:
            status = backend.table.cnrtMemcpy(self.view.data, self.place, size, cnrtMemcpyDevToHost)
        if status != 0:
            raise device_failure(backend, "cnrtMemcpy", status)
        return 0

    cdef int save_what_is_left(self, Backend backend) except -1:
        cdef size_t size = self.view.count * self.view.itemsize
        cdef char *target
        cdef int status
        if not self.writes or self.place == NULL:
            return 0
        left = bytearray(size)
        target = PyByteArray_AsString(left)
        with nogil:
            status = backend.table.cnrtMemcpy(target, self.place, size, cnrtMemcpyDevToHost)
        if status == 0:
            self.left = left
        return 0

    cdef void unstage(self, Backend backend) noexcept:
        cdef char *place = self.place
        self.place = NULL
        if place != NULL:
            with nogil:
                backend.table.cnrtFree(place)


cdef enum:
    FUNCTION_WORKSPACE_ALIGNMENT = 64


def new_workspace(caller, Handle handle not None, size):
    """Return memory for a function that asked for `size` bytes: a `DeviceArray`, or an aligned NumPy array."""
    try:
        if handle.on_device:
            return DeviceArray((size,), DataType.UINT8, handle.backend)
        block = np.empty(size + FUNCTION_WORKSPACE_ALIGNMENT, np.uint8)
    except (MemoryError, ValueError) as error:
        reason = f" ({error.detail})" if isinstance(error, errors.MluOpError) else ""
        raise errors.AllocFailedError(
            f"{caller.name}: no memory for a workspace of {size} bytes{reason}", function=caller.function
        ) from None
    first = -block.ctypes.data % FUNCTION_WORKSPACE_ALIGNMENT
    return block[first:first + size]


# ---- The call ------------------------------------------------------------------------------------


def require_handle(caller, handle):
    """Return the handle that an argument means, open and with a library that has the function."""
    cdef Handle h
    if handle is None:
        h = default_handle()
    elif isinstance(handle, Handle):
        h = <Handle>handle
    else:
        raise _arguments.refusal(caller, "handle", "a Handle or None", _arguments.shown(handle))
    if not h.alive:
        raise errors.NotInitializedError(f"{caller.name}: handle: is closed", function=caller.function)
    if h.on_device and not h.state.open:
        raise errors.NotInitializedError(f"{caller.name}: handle: its queue is closed", function=caller.function)
    return h


def require_backend(backend):
    """Return the library that an argument means."""
    return as_backend(backend)


def require_function(Backend backend not None, caller):
    """Refuse a library that lacks a function."""
    if table_function(backend.table, <int>_FUNCTIONS[caller.function][0]) == NULL:
        raise missing(backend, caller.function, "")


def call_function(caller, Backend backend not None, Handle handle, tuple values not None, bint waiting=False,
                  tuple also_used=(), bint changing=False):
    """Call a function that returns a status, and raise the exception for it.

    A function without a handle only reads or sets objects. It runs with the interpreter's lock, so
    that no thread sees an object that is half set.

    Parameters
    ----------
    caller : Caller
        Whose arguments these are.
    backend : Backend
        The library.
    handle : Handle or None
        The handle of the call, whose lock is held meanwhile.
    values : tuple
        A value for each C parameter: an int (also an address), a float, None for NULL, bytes or a
        bytearray for a pointer to them, an `ArrayArgument`, a `NativeObject`, a
        `SparseConvolutionDescriptor` or a `Handle`.
    waiting : bool
        Whether the call is to be over when this returns, also on a device.
    also_used : tuple of DeviceArray and NativeObject
        What the function works on besides its arguments.
    changing : bool
        Whether a function without a handle changes its objects, which no other call may use then.
        With a handle, the caller of this holds them.
    """
    cdef Argument arguments[MAX_ARGUMENTS]
    cdef list arrays = []
    cdef list objects = []
    cdef int number = _FUNCTIONS[caller.function][0]
    require_function(backend, caller)
    assert len(values) == len(_FUNCTIONS[caller.function][2]) <= MAX_ARGUMENTS
    for value in (*values, *also_used):
        if isinstance(value, ArrayArgument):
            arrays.append(value)
        elif isinstance(value, NativeObject):
            (<NativeObject>value).ensure_open(f"{caller.name}: {type(value).__name__}")
            objects.append(value)
        elif isinstance(value, SparseConvolutionDescriptor):
            (<SparseConvolutionDescriptor>value).ensure_open()
            objects.append(value)
    if handle is None:
        call_at_once(caller, backend, number, arguments, values, objects, changing)
        return
    use_objects(objects, 1)
    try:
        handle.acquire(caller.name, caller.function)
    except BaseException:
        use_objects(objects, -1)
        raise
    try:
        if not handle.alive:  # another thread closed it while this one waited
            raise errors.NotInitializedError(f"{caller.name}: handle: is closed", function=caller.function)
        if handle.on_device:
            held = [thing for thing in also_used if isinstance(thing, DeviceArray)]
            call_on_device(handle, number, arguments, values, arrays, waiting, held)
        else:
            fill(arguments, values)
            call_on_host(backend, number, arguments)
    finally:
        give_back(&handle.lock)
        use_objects(objects, -1)


cdef int call_at_once(caller, Backend backend, int number, Argument *arguments, tuple values, list objects,
                      bint changing) except -1:
    """Make a call without a handle, during which no other thread runs."""
    cdef int status, used = 0
    fill(arguments, values)
    try:
        for thing in objects:
            use_object(thing, caller.name, caller.function, changing)
            used += 1
        status = table_invoke(backend.table, number, arguments)
    finally:
        for thing in objects[:used]:
            let_go_object(thing)
    return check_number(backend, number, status)


cdef int use_objects(list objects, int step) except -1:
    """Count a call with objects, which the caller of `call_function` holds if it changes them."""
    for thing in objects:
        if isinstance(thing, NativeObject):
            (<NativeObject>thing).users += step
        else:
            (<SparseConvolutionDescriptor>thing).users += step
    return 0


cdef int fill(Argument *arguments, tuple values) except -1:
    """Write the C arguments."""
    cdef int i
    for i, value in enumerate(values):
        if value is None:
            arguments[i].pointer = NULL
        elif isinstance(value, float):
            arguments[i].real = value
        elif isinstance(value, int):
            arguments[i].integer = <int64_t><uint64_t>(value & 0xffffffffffffffff)
        elif isinstance(value, bytearray):
            arguments[i].pointer = PyByteArray_AsString(value)
        elif isinstance(value, bytes):
            arguments[i].pointer = PyBytes_AsString(value)
        elif isinstance(value, ArrayArgument):
            arguments[i].pointer = (<ArrayArgument>value).view.data
            if (<ArrayArgument>value).place != NULL:
                arguments[i].pointer = (<ArrayArgument>value).place
        elif isinstance(value, NativeObject):
            arguments[i].pointer = (<NativeObject>value).address
        elif isinstance(value, SparseConvolutionDescriptor):
            arguments[i].pointer = (<SparseConvolutionDescriptor>value).descriptor
        elif isinstance(value, Handle):
            arguments[i].pointer = (<Handle>value).handle
        else:
            raise TypeError(f"no C argument can be made of a {type(value).__name__}")
    return 0


cdef int call_on_host(Backend backend, int number, Argument *arguments) except -1:
    cdef FunctionTable *table = backend.table
    cdef int status
    begin_wait(backend)
    try:
        with nogil:
            status = table_invoke(table, number, arguments)
    finally:
        end_wait()
    if status != SUCCESS:
        raise failure(backend, function_name(number), status)
    return 0


cdef int call_on_device(Handle handle, int number, Argument *arguments, tuple values, list arrays, bint waiting,
                        list also_used) except -1:
    """Put the call into the handle's queue; wait for it if anything has to come back or be freed."""
    cdef QueueState queue = handle.state
    cdef FunctionTable *table = handle.table
    cdef Backend backend = handle.backend
    cdef ArrayArgument array
    cdef DeviceArray held
    cdef Entry entry
    cdef list staged = []
    cdef int status
    cdef int64_t issued
    for array in arrays:
        if array.is_staged(handle):
            staged.append(array)
    waiting = waiting or len(staged) > 0
    if waiting:  # what failed before shall not pass for this call
        queue.wait(queue.issued)
    for array in arrays:
        if array.held is not None:
            array.held.before(queue, array.writes)
    for held in also_used:
        held.before(queue, True)
    issued = queue.issue(&entry)
    begin_wait(backend)
    try:
        for array in arrays:
            if array.held is not None:
                array.held.after(queue, issued, array.writes)
        for held in also_used:
            held.after(queue, issued, True)
        call_staged(handle, number, arguments, values, staged, waiting)
    finally:
        queue.entered(&entry)
        if waiting:
            queue.finish(min(issued, queue.reached()))
        end_wait()
    return 0


cdef int call_staged(Handle handle, int number, Argument *arguments, tuple values, list staged, bint waiting) except -1:
    """Make the call, with device memory for what lies in host memory."""
    cdef FunctionTable *table = handle.table
    cdef Backend backend = handle.backend
    cdef cnrtQueue_t queue = handle.state.queue
    cdef ArrayArgument array
    cdef int status, synced = 0
    try:
        for array in staged:
            array.stage(backend)
        fill(arguments, values)
        for i, value in enumerate(values):
            if isinstance(value, ArrayArgument) and value in staged and (<ArrayArgument>value).place == NULL:
                arguments[i].pointer = NULL  # empty
        with nogil:
            status = table_invoke(table, number, arguments)
            if waiting:  # also after a failure: what it had begun works on memory that is freed below
                synced = table.cnrtQueueSync(queue)
        if status != SUCCESS:
            raise failure(backend, function_name(number), status)
        if synced != 0:
            raise device_failure(backend, "cnrtQueueSync", synced)
        for array in staged:
            array.bring_back(backend)
    finally:
        for array in staged:
            array.unstage(backend)
    return 0


def set_handle_queue(Handle handle not None, caller, queue):
    """Let later calls of a handle go into another queue; None: the default one."""
    cdef QueueState before
    cdef void *pointer = NULL
    if isinstance(queue, Queue):
        queue_argument(handle.backend, caller.name, queue)
    elif queue is not None:
        pointer = <void *><uintptr_t>_arguments.integer(caller, "queue", queue, 0, 2**64 - 1)
    require_function(handle.backend, caller)
    handle.acquire(caller.name, caller.function)
    try:
        if not handle.alive:
            raise errors.NotInitializedError(f"{caller.name}: handle: is closed", function=caller.function)
        if isinstance(queue, Queue):  # another thread may have closed it while this one waited
            pointer = queue_argument(handle.backend, caller.name, queue).queue
        check(handle.backend, caller.function, handle.table.mluOpSetQueue(handle.handle, pointer))
        if handle.on_device:
            before = handle.state
            handle.take_queue(queue, pointer)
            before.release()
    finally:
        give_back(&handle.lock)


def address_of(bytearray memory not None):
    """Return where the bytes lie; they must not be resized as long as that is used."""
    return <uintptr_t>PyByteArray_AsString(memory)
