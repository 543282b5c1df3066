# Arrays in the memory of a device. Included by _core.pyx.

cdef enum:
    MOST_QUEUES = 16  # before those that are done are forgotten

_DEVICE_ARRAY_NAMES = _arguments.Names("DeviceArray", "cnrtMalloc")


@cython.final
@cython.no_gc_clear
cdef class DeviceArray:
    """DeviceArray(shape, dtype, backend=None)
--

    An array in the memory of a device: C-contiguous, contents undefined at first.

    Operators on a device backend take it where they take a NumPy array. If the first array given to
    an operator is a DeviceArray, new results are DeviceArrays too. If all arrays are, the call does
    not wait for the device; else those in host memory are copied there and back, and the call
    returns when that is done.

    Other packages get it through DLPack, as an array of device type 12 (kDLExtDev), which only
    those that know the device can take; ``numpy.from_dlpack(array, device="cpu")`` makes a copy in
    host memory.

    Pickles and copies have its contents, as those of NumPy arrays; `backend` has to be there where
    they are read.

    A DeviceArray records the queues that still work on it. The next use waits for them: by another
    queue, `to_host` or `close`. Work that was started through ``Backend.lib`` is not recorded.

    Parameters
    ----------
    shape : int or sequence of int
        At most 8 dims, each >= 0.
    dtype : DataType, str, numpy.dtype or type
        Element type.
    backend : Backend, str or os.PathLike, optional
        The library, or what `pymluops.load` takes; the default backend if not given.

    Raises
    ------
    AllocFailedError
        If the device has no room.
    BadParamError
        If shape or dtype is not as described.
    NotSupportedError
        If the library has no device memory, as that for the CPU.
    NotInitializedError
        If the library cannot be loaded; also by any use after `close`.

    Attributes
    ----------
    backend : Backend
        The library.

    Examples
    --------
    >>> with pymluops.DeviceArray.from_host(frames, "sim") as array:  # doctest: +SKIP
    ...     array.shape, array.dtype
    ((1, 8, 16, 49), dtype('float32'))
    """

    cdef FunctionTable *table
    cdef char *data  # NULL: empty
    cdef int64_t dims[MAX_DIMS]
    cdef int64_t count
    cdef int64_t itemsize
    cdef int rank
    cdef int data_type
    cdef bint alive
    cdef int users  # calls that run with it now; the last one frees what was closed meanwhile
    # By queue, the latest work that writes it, and the latest that uses it at all: what may not be
    # over yet.
    cdef dict writers
    cdef dict queues
    cdef readonly Backend backend
    cdef object __weakref__

    def __cinit__(self, shape, dtype, backend=None):
        cdef int64_t bytes_needed
        cdef int status
        self.read_shape(shape)
        self.data_type = dtypes.as_data_type(dtype)
        self.itemsize = dtypes.item_size(self.data_type)
        bytes_needed = saturated_product(self.count, self.itemsize)
        self.backend = as_backend(backend)
        require_device(self.backend, "DeviceArray")
        self.backend.tidy()
        self.table, self.writers, self.queues = self.backend.table, {}, {}
        if bytes_needed != 0:
            with nogil:
                status = self.table.cnrtMalloc(<void **>&self.data, bytes_needed)
            if status != 0:
                self.data = NULL
                raise self.no_room(status)
        self.alive = True

    cdef int read_shape(self, object shape) except -1:
        numbers = _arguments.as_numbers(shape if hasattr(type(shape), "__iter__") else (shape,))
        if numbers is None or len(numbers) > MAX_DIMS or not all([0 <= n < 2**63 for n in numbers]):
            raise _arguments.refusal(
                _DEVICE_ARRAY_NAMES, "shape", f"at most {MAX_DIMS} non-negative integers of 64 bits",
                _arguments.shown(shape), wrong_type=numbers is None
            )
        self.rank, self.count = len(numbers), 1
        for axis, number in enumerate(numbers):
            self.dims[axis] = number
            self.count = saturated_product(self.count, self.dims[axis])
        return 0

    cdef object no_room(self, int status):
        error = device_failure(self.backend, "cnrtMalloc", status)
        if not isinstance(error, errors.AllocFailedError):
            return error
        text = f"DeviceArray: no room on {self.backend.name} for shape {list(self.shape)} of {self.dtype_name()}"
        return errors.AllocFailedError(f"{text} ({error.detail})", function="cnrtMalloc")

    def __dealloc__(self):
        self.free_memory()

    cdef void free_memory(self):
        """Free it when no queue works on it any more."""
        cdef void *data = self.data
        cdef Py_ssize_t position = 0
        cdef int status
        cdef PyObject *queue
        cdef PyObject *number
        if data == NULL:
            return
        self.data = NULL
        # PyDict_Next allocates nothing, unlike an iterator. Nothing changes the dict any more.
        while PyDict_Next(self.queues, &position, &queue, &number):
            (<QueueState>queue).wait_quietly(<object>number)
        begin_wait(self.backend)  # the runtime may wait for kernels that use other arrays
        with nogil:
            status = self.table.cnrtFree(data)
        end_wait_quietly()
        if status == cnrtErrorOpsNotPermitted:
            self.backend.leave(<uintptr_t>data)

    cdef void release(self):
        self.users -= 1
        if self.users == 0 and not self.alive:
            self.free_memory()

    # -- Work on it --------------------------------------------------------------------------------

    cdef int before(self, QueueState queue, bint writing) except -1:
        """Wait for other queues (None: for all) that write it, or work on it at all if it is to be written.

        Only for work that is there now; other threads order the work that they start meanwhile.
        """
        for other, number in list((self.queues if writing else self.writers).items()):
            if other is not queue:
                (<QueueState>other).wait(number)
        return 0

    cdef int after(self, QueueState queue, int64_t number, bint writing) except -1:
        """Note that a queue works on it from now on."""
        if writing:
            self.writers = unfinished(self.writers)
            self.writers[queue] = number
            self.queues = unfinished(self.queues)
        self.queues[queue] = number
        if len(self.queues) > MOST_QUEUES:
            self.queues = unfinished(self.queues)
        return 0

    cdef int copy(self, void *host, HostMemory memory, bint to_host, QueueState queue) except -1:
        """Copy between host and device: at once, or in a queue, which then keeps `memory`."""
        cdef cnrtMemTransDir_t direction = cnrtMemcpyDevToHost if to_host else cnrtMemcpyHostToDev
        cdef void *target = host if to_host else self.data
        cdef void *source = self.data if to_host else host
        cdef size_t size = self.count * self.itemsize
        cdef Entry entry
        cdef int64_t number
        cdef int status
        self.before(queue, not to_host)
        if size == 0:
            return 0
        if queue is None:
            begin_wait(self.backend)
            with nogil:
                status = self.table.cnrtMemcpy(target, source, size, direction)
            end_wait()
            if status != 0:
                raise device_failure(self.backend, "cnrtMemcpy", status)
            return 0
        number = queue.issue(&entry)
        try:
            queue.keep(number, memory)
            self.after(queue, number, not to_host)
            with nogil:
                status = self.table.cnrtMemcpyAsync(target, source, size, queue.queue, direction)
        finally:
            queue.entered(&entry)
        if status != 0:
            raise device_failure(self.backend, "cnrtMemcpyAsync", status)
        return 0

    # -- For users ---------------------------------------------------------------------------------

    @staticmethod
    def from_host(array, backend=None, queue=None):
        """Make a copy of an array on the device.

        Parameters
        ----------
        array : array
            A C-contiguous array in host memory.
        backend : Backend, str or os.PathLike, optional
            Where to; if not given, where `queue` is, else the default backend.
        queue : Queue, optional
            Copy in this queue, not at once: `array`, kept alive, must not change until then.

        Returns
        -------
        DeviceArray
        """
        cdef HostMemory memory = host_memory("DeviceArray.from_host", "array", array, False)
        cdef View *view = &memory.view
        if view.dtype == 0:
            raise errors.BadParamError(
                f"DeviceArray.from_host: array: expected an element type of the ABI, got {dtype_text(view, array)}"
            )
        if backend is None and isinstance(queue, Queue):
            backend = queue.backend
        shape = tuple([view.shape[axis] for axis in range(view.ndim)])
        result = DeviceArray(shape, DataType(view.dtype), backend)
        (<DeviceArray>result).transfer("DeviceArray.from_host", memory, False, queue)
        return result

    def copy_from(self, source, queue=None):
        """Take over the contents of an array in host memory.

        Parameters
        ----------
        source : array
            C-contiguous, of the same shape and element type.
        queue : Queue, optional
            Copy in this queue instead of at once: `source` must not change before the queue is
            done. It is kept alive.
        """
        self.ensure_open("DeviceArray.copy_from")
        memory = host_memory("DeviceArray.copy_from", "source", source, False)
        self.require_alike("DeviceArray.copy_from", "source", source, memory)
        self.transfer("DeviceArray.copy_from", memory, False, queue)

    def to_host(self, out=None, queue=None):
        """Copy it into host memory.

        Parameters
        ----------
        out : array, optional
            Where to: C-contiguous, same shape and element type; by default a new NumPy array.
        queue : Queue, optional
            Copy in this queue, not at once: `out`, kept alive, is filled when the queue is done.

        Returns
        -------
        array
            `out`, or the new array.

        Raises
        ------
        ExecutionFailedError
            If the operator that writes it failed.
        """
        self.ensure_open("DeviceArray.to_host")
        if out is None:
            out = self.host_array()
        memory = host_memory("DeviceArray.to_host", "out", out, True)
        self.require_alike("DeviceArray.to_host", "out", out, memory)
        self.transfer("DeviceArray.to_host", memory, True, queue)
        return out

    cdef object host_array(self):
        """Make a NumPy array like this one."""
        dtype = self.numpy_dtype()
        if dtype is None:
            raise errors.BadParamError(
                f"DeviceArray.to_host: out: expected an array, because NumPy has no {self.dtype_name()}, got None"
            )
        try:
            return np_empty(self.shape, dtype)
        except MemoryError:
            raise errors.AllocFailedError(
                f"DeviceArray.to_host: no memory for an array of shape {list(self.shape)}"
            ) from None

    cdef int require_alike(self, str caller, str argument, object array, HostMemory memory) except -1:
        cdef View *view = &memory.view
        cdef bint same = view.ndim == self.rank
        cdef int axis
        if view.dtype != self.data_type:
            raise errors.BadParamError(
                f"{caller}: {argument}: expected dtype {self.dtype_name()}, got {dtype_text(view, array)}"
            )
        for axis in range(self.rank):
            same = same and view.shape[axis] == self.dims[axis]
        if not same:
            raise errors.BadParamError(
                f"{caller}: {argument}: expected shape {list(self.shape)}, got {shape_text(view)}"
            )
        return 0

    cdef int transfer(self, str caller, HostMemory memory, bint to_host, object queue) except -1:
        cdef QueueState state = None if queue is None else queue_argument(self.backend, caller, queue)
        self.ensure_open(caller)  # reading the other array may have run code that closed this one
        self.users += 1
        if state is not None:
            state.enter()
        try:
            self.copy(memory.view.data, memory, to_host, state)
        finally:
            if state is not None:
                state.release()
            self.release()
        return 0

    cdef int ensure_open(self, str caller) except -1:
        if not self.alive:
            raise errors.NotInitializedError(f"{caller}: {'' if caller == 'DeviceArray' else 'the array '}is closed")
        return 0

    cdef object numpy_dtype(self):
        """Return the element type as a NumPy dtype, or None."""
        try:
            # A type of ml_dtypes has a name for NumPy as soon as that package is imported.
            return numpy_dtypes[self.data_type] or np.dtype(self.dtype_name())
        except TypeError:
            return None

    cdef str dtype_name(self):
        return dtypes.data_type_name(self.data_type)

    @property
    def shape(self):
        """The dims."""
        return tuple([self.dims[axis] for axis in range(self.rank)])

    @property
    def dtype(self):
        """The element type as a NumPy dtype; refused for a type that neither NumPy nor an imported ml_dtypes has."""
        dtype = self.numpy_dtype()
        if dtype is None:
            raise errors.NotSupportedError(
                f"DeviceArray.dtype: NumPy has no {self.dtype_name()}; TensorDescriptor.of(array).dtype tells the type"
            )
        return dtype

    @property
    def ndim(self):
        """Number of dims."""
        return self.rank

    @property
    def size(self):
        """Number of elements."""
        return self.count

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.count * self.itemsize

    @property
    def address(self):
        """Where it lies on the device, as an integer for functions of ``Backend.lib``; 0 if it is empty."""
        self.ensure_open("DeviceArray")
        return <uintptr_t>self.data

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    def close(self):
        """Free the memory, when the queues that work on it are done; a second call does nothing."""
        self.users += 1
        self.alive = False
        self.release()

    def __enter__(self):
        self.ensure_open("DeviceArray")
        return self

    def __exit__(self, *details):
        self.close()

    def __array__(self, dtype=None, copy=None):
        raise TypeError("a DeviceArray lies in the memory of a device: to_host() makes a NumPy array of it")

    def __dlpack_device__(self):
        """Return the device type of DLPack, kDLExtDev, and the number of the device."""
        return DL_EXTENSION, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Return a DLPack capsule. It keeps the memory, also if the array is closed meanwhile.

        Parameters
        ----------
        stream : int, optional
            None: wait until everything that writes the array is done; -1: do not wait.
        max_version : (int, int), optional
            The consumer's version; by default a capsule from before DLPack 1.0, which has none.
        dl_device : (int, int), optional
            Where to: the device, or (1, 0) for a copy in host memory.
        copy : bool, optional
            False: never copy. True is only possible into host memory.

        Raises
        ------
        ExportError
            If that cannot be done.
        """
        self.ensure_open("DeviceArray")
        if stream is not None and stream != -1:
            raise errors.ExportError(
                f"DeviceArray.__dlpack__: stream: expected None or -1, got {_arguments.shown(stream)}"
            )
        versioned = max_version is not None and max_version[0] >= 1
        if dl_device is not None and tuple(dl_device) == (DL_CPU, 0):
            if copy is not None and not copy:
                raise errors.ExportError(
                    "DeviceArray.__dlpack__: copy: expected True or None for host memory, got False"
                )
            return self.to_host().__dlpack__(**({"max_version": max_version} if versioned else {}))
        if dl_device is not None and tuple(dl_device) != (DL_EXTENSION, 0):
            raise errors.ExportError(
                f"DeviceArray.__dlpack__: dl_device: expected (12, 0) or (1, 0), got {_arguments.shown(dl_device)}"
            )
        if copy:
            raise errors.ExportError("DeviceArray.__dlpack__: copy: expected None or False on the device, got True")
        if dlpack_codes[self.data_type] == DL_NO_CODE:
            raise errors.ExportError(f"DeviceArray.__dlpack__: expected a type of DLPack, got {self.dtype_name()}")
        if stream is None:
            self.before(None, False)
        self.ensure_open("DeviceArray")  # a signal handler may have run
        return export_device_array(self, versioned)

    def __reduce__(self):
        """Pickle and copy it by value: the bytes, which are put onto the device again where they are read."""
        cdef DeviceArray array = self
        self.ensure_open("DeviceArray")
        contents = bytes_on_host(array)
        return _restore_device_array, (self.backend, self.shape, DataType(self.data_type), contents)

    def __repr__(self):
        closed = "" if self.alive else ", closed"
        return f"<pymluops.DeviceArray {list(self.shape)} {self.dtype_name()} on {self.backend.name}{closed}>"


cdef dict unfinished(dict works):
    """Return those of the works, by queue, that are not over or whose error was not raised yet."""
    return {
        queue: number for queue, number in works.items()
        if (<QueueState>queue).finished < number or (<QueueState>queue).error is not None
    }


def leading_rows(Handle handle not None, DeviceArray array not None, int64_t rows):
    """Return a copy of the first rows, made in the handle's queue."""
    cdef DeviceArray result = DeviceArray((rows, *array.shape[1:]), DataType(array.data_type), array.backend)
    cdef QueueState queue = handle.state
    cdef size_t size = result.count * result.itemsize
    cdef Entry entry
    cdef int64_t number
    cdef int status
    if size == 0:
        return result
    array.before(queue, False)
    number = queue.issue(&entry)
    try:
        array.after(queue, number, False)
        result.after(queue, number, True)
        with nogil:
            status = array.table.cnrtMemcpyAsync(result.data, array.data, size, queue.queue, cnrtMemcpyDevToDev)
    finally:
        queue.entered(&entry)
    if status != 0:
        raise device_failure(array.backend, "cnrtMemcpyAsync", status)
    return result


cdef str acquire_device_array(View *view, DeviceArray array):
    """Fill `view` from an array on a device; there is nothing to release."""
    array.ensure_open("DeviceArray")
    view.data = array.data
    view.shape = array.dims
    view.strides = NULL
    view.stride_unit = view.itemsize = array.itemsize
    view.count = array.count
    view.ndim = array.rank
    view.dtype = array.data_type
    view.device = DL_EXTENSION
    view.packed = True
    view.readonly = view.copied = view.foreign_order = False
    return None
