# Libraries, handles, descriptors that a library keeps, and status -> exception. Included by _core.pyx.

cdef extern from *:
    """
    #ifndef _GNU_SOURCE
    #define _GNU_SOURCE
    #endif
    #include <dlfcn.h>

    /* The file that an address was loaded from; NULL if unknown. */
    static const char *file_of_address(void *address) {
      Dl_info info;
      return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
    }
    """
    void *dlopen(const char *file, int flags) nogil
    void *dlsym(void *library, const char *name) nogil
    int dlclose(void *library) nogil
    char *dlerror() nogil
    const char *file_of_address(void *address)
    int RTLD_NOW
    int RTLD_LOCAL


# ---- Libraries -------------------------------------------------------------------------------------------------------


@cython.final
cdef class Backend:
    """A shared library with the C ABI of mlu-ops; made by `pymluops.load`. It stays loaded until the process ends.

    Attributes
    ----------
    name : str
        ``"cpu"``, ``"sim"`` or ``"mlu"`` if it is the library of that name, else the name of the file.
    path : str
        The file, all links followed.
    kind : str
        What it computes on: ``"cpu"``, ``"sim"``, ``"mlu"`` or, if it does not tell, ``"unknown"``.
    """

    # Never freed, so that a handle can be destroyed at any later time.
    cdef FunctionTable *table
    cdef void *library
    cdef readonly str name
    cdef readonly str path
    cdef readonly str kind
    cdef bint on_device  # takes arrays in device memory
    cdef object raw
    cdef object __weakref__

    def __cinit__(self, str file not None, str name=None):
        cdef bytes encoded = os.fsencode(file)
        cdef const char *text = encoded
        with nogil:
            self.library = dlopen(text, RTLD_NOW | RTLD_LOCAL)
        if self.library == NULL:
            raise errors.NotInitializedError(f"{file}: cannot be loaded: {os.fsdecode(dlerror())}")
        self.table = <FunctionTable *>calloc(1, sizeof(FunctionTable))
        if self.table == NULL:
            raise errors.AllocFailedError("out of memory")
        table_load(self.table, self.library)
        if self.table.mluOpCreate == NULL:
            dlclose(self.library)
            free(self.table)
            raise errors.NotInitializedError(f"{file}: is not an mlu-ops library: it does not export mluOpCreate")
        text = file_of_address(<void *>self.table.mluOpCreate)
        self.path = os.path.realpath(file if text == NULL else os.fsdecode(text))
        self.name = os.path.basename(self.path) if name is None else name
        self.kind = self.find_kind()
        self.on_device = self.kind == "mlu"

    cdef str find_kind(self):
        if self.table.mluopsExtGetLibraryKind != NULL:
            return text_of(self.table.mluopsExtGetLibraryKind())
        # dlsym also looks into what the library depends on: only one for the device needs the CNRT runtime.
        return "mlu" if dlsym(self.library, "cnrtGetDeviceCount") != NULL else "unknown"

    @property
    def version(self):
        """Version of the C ABI; None if the library does not tell."""
        cdef int major = -1, minor = -1, patch = -1
        if self.table.mluOpGetLibVersion == NULL:
            return None
        self.table.mluOpGetLibVersion(&major, &minor, &patch)
        return f"{major}.{minor}.{patch}"

    @property
    def library_version(self):
        """Version of the library itself; None if it does not tell."""
        if self.table.mluopsExtGetLibraryVersion == NULL:
            return None
        return text_of(self.table.mluopsExtGetLibraryVersion())

    @property
    def instruction_level(self):
        """Level of CPU instructions that its kernels use; None if it does not tell."""
        if self.table.mluopsExtGetInstructionLevel == NULL:
            return None
        return text_of(self.table.mluopsExtGetInstructionLevel())

    @property
    def ffi(self):
        """The cffi object that knows all types of the ABI."""
        return self.open_raw()[0]

    @property
    def lib(self):
        """The cffi library object with every C function; asking for one that the library lacks is an `ffi.error`."""
        return self.open_raw()[1]

    cdef tuple open_raw(self):
        if self.raw is None:
            from pymluops._abi import ffi

            # By path, which messages of cffi then name; the loader gives back the library that is there already.
            self.raw = (ffi, ffi.dlopen(self.path, ffi.RTLD_NOW | ffi.RTLD_LOCAL))
        return self.raw

    def exports(self, str function not None):
        """Tell whether the library has a function of the ABI."""
        return function in _FUNCTIONS and table_function(self.table, <int>_FUNCTIONS[function][0]) != NULL

    def __repr__(self):
        return f"<pymluops.Backend {self.name}: {self.path}>"

    def __reduce__(self):
        from pymluops import library

        return library.load, (self.name if self.name in library.NAMES else self.path,)


cdef str text_of(const char *text):
    return "" if text == NULL else text.decode("utf-8", "replace")


cdef object missing(Backend backend, str function, str caller=""):
    """Return the error for a function that a library lacks."""
    prefix = f"{caller}: " if caller else ""
    return errors.NotSupportedError(f"{prefix}{backend.path} does not export {function}", function=function)


cdef object failure(Backend backend, str function, int status):
    """Return the error for a status other than success; call it on the thread that got the status."""
    cdef str detail = ""
    if backend.table.mluopsExtGetLastReason != NULL:
        detail = text_of(backend.table.mluopsExtGetLastReason())
    if not detail:
        name = f"status {status}"
        if backend.table.mluOpGetErrorString != NULL:
            name = f"{text_of(backend.table.mluOpGetErrorString(status))} ({status})"
        detail = f"{function}: {name} from {os.path.basename(backend.path)}"
    return errors.error_from_status(status, function, detail)


def check(Backend backend not None, str function not None, int status):
    """Raise the exception for a status unless it is success."""
    if status != SUCCESS:
        raise failure(backend, function, status)


# ---- The default -----------------------------------------------------------------------------------------------------

cdef Backend default_backend = None


def get_default_backend():
    """Return the default backend; None if none was chosen yet."""
    return default_backend


def set_default_backend(Backend backend):
    """Choose the default backend of the process; None: choose again at the next use."""
    global default_backend
    default_backend = backend


cdef Backend as_backend(object backend):
    """Return the `Backend` that a backend, its name or its path means; the default for None."""
    if isinstance(backend, Backend):
        return backend
    if backend is None and default_backend is not None:
        return default_backend
    from pymluops import library

    return library.current() if backend is None else library.load(backend)


cdef Handle default_handle():
    """Return this thread's handle for the default backend.

    It lies in the dict that Python keeps for the thread, so it goes when the thread goes.
    """
    cdef Backend backend = default_backend if default_backend is not None else as_backend(None)
    cdef PyObject *handles = PyThreadState_GetDict()
    cdef PyObject *found
    cdef Handle handle
    if handles == NULL:
        return Handle(backend)
    found = PyDict_GetItemWithError(<object>handles, backend)
    if found != NULL and (<Handle>found).alive:
        return <Handle>found
    handle = Handle(backend)
    (<dict>handles)[backend] = handle
    return handle


# ---- Handle ----------------------------------------------------------------------------------------------------------

# One descriptor that a handle keeps, and what it was last set to.
cdef struct Slot:
    mluOpTensorDescriptor_t descriptor
    int dtype  # INVALID: never set
    int layout
    int ndim
    int64_t shape[MAX_DIMS]


_HANDLE_NAMES = _arguments.Names("Handle", "mluOpSetQueue")


@cython.final
cdef class Handle:
    """What operators run with: a library and its queue.

    One handle serves one thread at a time; a second thread that calls with it waits. Operators that are not given a
    handle use one that belongs to the thread.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library, or what `pymluops.load` takes; the default backend if not given.
    queue : int, optional
        Address of a ``cnrtQueue_t``, which must outlive the handle; the default queue if not given.

    Raises
    ------
    NotInitializedError
        If the library cannot be loaded; also by any use after `close`.

    Attributes
    ----------
    backend : Backend
        The library.

    Examples
    --------
    >>> import pymluops
    >>> with pymluops.Handle("cpu") as handle:
    ...     handle.backend.name
    'cpu'
    >>> handle.closed
    True
    """

    cdef FunctionTable *table
    cdef mluOpHandle_t handle
    cdef bint alive
    # Held during a call: a second thread that uses the same handle waits.
    cdef PyThread_type_lock lock
    cdef Slot slots[MAX_TENSORS]
    cdef readonly Backend backend
    cdef object __weakref__

    def __cinit__(self, backend=None, queue=None):
        cdef int status
        cdef void *pointer = NULL
        if queue is not None:
            pointer = <void *><uintptr_t>_arguments.integer(_HANDLE_NAMES, "queue", queue, 0, 2**64 - 1)
        self.backend = as_backend(backend)
        self.table = self.backend.table
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise errors.AllocFailedError("out of memory")
        with nogil:
            status = self.table.mluOpCreate(&self.handle)
        if status != SUCCESS:
            raise failure(self.backend, "mluOpCreate", status)
        self.alive = True
        if pointer != NULL:
            if self.table.mluOpSetQueue == NULL:
                raise missing(self.backend, "mluOpSetQueue", "Handle")
            check(self.backend, "mluOpSetQueue", self.table.mluOpSetQueue(self.handle, pointer))

    def __dealloc__(self):
        self.destroy()
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef void destroy(self) noexcept:
        cdef int i
        for i in range(MAX_TENSORS):
            if self.slots[i].descriptor != NULL and self.table.mluOpDestroyTensorDescriptor != NULL:
                self.table.mluOpDestroyTensorDescriptor(self.slots[i].descriptor)
            self.slots[i].descriptor = NULL
            self.slots[i].dtype = 0
        if self.alive and self.table.mluOpDestroy != NULL:
            self.table.mluOpDestroy(self.handle)
        self.alive = False

    cdef void acquire_lock(self) noexcept:
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            with nogil:
                PyThread_acquire_lock(self.lock, WAIT_LOCK)

    def close(self):
        """Destroy the handle; a second call does nothing. A call that another thread runs with it is waited for."""
        self.acquire_lock()
        self.destroy()
        PyThread_release_lock(self.lock)

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    cdef int ensure_open(self) except -1:
        if not self.alive:
            raise errors.NotInitializedError("Handle: is closed")
        return 0

    @property
    def queue(self):
        """Address of the queue; None for the default queue."""
        cdef cnrtQueue_t queue = NULL
        self.ensure_open()
        if self.table.mluOpGetQueue == NULL:
            raise missing(self.backend, "mluOpGetQueue", "Handle")
        check(self.backend, "mluOpGetQueue", self.table.mluOpGetQueue(self.handle, &queue))
        return None if queue == NULL else <uintptr_t>queue

    @property
    def cdata(self):
        """The ``mluOpHandle_t`` for functions of ``Backend.lib``, as a cffi pointer that keeps this object alive."""
        self.ensure_open()
        return owned_cdata(self.backend.ffi, "mluOpHandle_t", <uintptr_t>self.handle, self)

    def __enter__(self):
        self.ensure_open()
        return self

    def __exit__(self, *details):
        self.close()

    def __repr__(self):
        return f"<pymluops.Handle on {self.backend.name}{'' if self.alive else ', closed'}>"

    def __reduce__(self):
        if self.queue is not None:
            raise TypeError("a Handle with a queue cannot be pickled: the queue belongs to this process")
        return Handle, (self.backend,)


cdef object owned_cdata(object ffi, str type_name, uintptr_t address, object owner):
    """Return a cffi pointer that keeps `owner` alive as long as it lives itself."""
    return ffi.gc(ffi.cast(type_name, address), _Keep(owner))


class _Keep:
    """A destructor that does nothing but hold an object."""

    def __init__(self, owner):
        self.owner = owner

    def __call__(self, pointer):
        pass


# ---- SparseConvolutionDescriptor -------------------------------------------------------------------------------------


_SPARSE_NAMES = _arguments.Names("SparseConvolutionDescriptor", "mluOpSetSparseConvolutionDescriptor")


@cython.final
cdef class SparseConvolutionDescriptor:
    """Geometry of a 3-D sparse convolution, for ``mluOpGetIndicePairs`` through ``Backend.lib``.

    `pymluops.get_indice_pairs` makes its own. Each space and each of `stride`, `padding` and `dilation` is (depth,
    height, width) or one integer for all three.

    Parameters
    ----------
    batch : int
        Number of batches, > 0.
    input_space, filter_space, output_space : int or (int, int, int)
        Sizes, in voxels. The output space is taken as given.
    stride, padding, dilation : int or (int, int, int)
        As in any convolution.
    subm : bool
        Sub-manifold mode.
    backend : Backend, str or os.PathLike, optional
        The library that keeps it; the default backend if not given.

    Raises
    ------
    BadParamError
        If a number is out of range.
    NotInitializedError
        By any use after `close`.

    Examples
    --------
    >>> import pymluops
    >>> geometry = pymluops.SparseConvolutionDescriptor(1, (8, 8, 8), 3, (4, 4, 4), stride=2, padding=1)
    >>> geometry.filter_space, geometry.num_act_out
    ((3, 3, 3), 0)
    """

    cdef FunctionTable *table
    cdef mluOpSparseConvolutionDescriptor_t descriptor
    cdef bint alive
    cdef int users  # calls that run with it now
    cdef readonly Backend backend
    cdef readonly int batch
    cdef readonly tuple input_space, filter_space, output_space, stride, padding, dilation
    cdef readonly bint subm
    cdef object __weakref__

    def __cinit__(self, batch, input_space, filter_space, output_space, stride=1, padding=0, dilation=1, subm=False, *,
                  backend=None):
        self.batch = _arguments.integer(_SPARSE_NAMES, "batch", batch, 1)
        self.input_space = _arguments.integers(_SPARSE_NAMES, "input_space", input_space, 3, 1)
        self.filter_space = _arguments.integers(_SPARSE_NAMES, "filter_space", filter_space, 3, 1)
        self.output_space = _arguments.integers(_SPARSE_NAMES, "output_space", output_space, 3, 1)
        self.stride = _arguments.integers(_SPARSE_NAMES, "stride", stride, 3, 1)
        self.padding = _arguments.integers(_SPARSE_NAMES, "padding", padding, 3, 0)
        self.dilation = _arguments.integers(_SPARSE_NAMES, "dilation", dilation, 3, 1)
        self.subm = _arguments.flag(_SPARSE_NAMES, "subm", subm)
        self.backend = as_backend(backend)
        self.table = self.backend.table
        for function in ("mluOpCreateSparseConvolutionDescriptor", "mluOpSetSparseConvolutionDescriptor"):
            if not self.backend.exports(function):
                raise missing(self.backend, function, _SPARSE_NAMES.name)
        check(self.backend, "mluOpCreateSparseConvolutionDescriptor",
              self.table.mluOpCreateSparseConvolutionDescriptor(&self.descriptor))
        self.alive = True
        self.set()

    cdef int set(self) except -1:
        cdef int values[6][3]
        cdef int row, column
        spaces = (self.padding, self.stride, self.dilation, self.input_space, self.filter_space, self.output_space)
        for row in range(6):
            for column in range(3):
                values[row][column] = spaces[row][column]
        check(self.backend, "mluOpSetSparseConvolutionDescriptor", self.table.mluOpSetSparseConvolutionDescriptor(
            self.descriptor, 5, self.batch, values[0], values[1], values[2], values[3], values[4], values[5], self.subm,
            0, 0))
        return 0

    def __dealloc__(self):
        self.destroy()

    cdef void destroy(self) noexcept:
        if self.alive and self.table.mluOpDestroySparseConvolutionDescriptor != NULL:
            self.table.mluOpDestroySparseConvolutionDescriptor(self.descriptor)
        self.alive = False

    def close(self):
        """Destroy the descriptor; a second call does nothing."""
        if self.users != 0:
            raise errors.BadParamError("SparseConvolutionDescriptor: cannot be closed while a call uses it")
        self.destroy()

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    cdef int ensure_open(self) except -1:
        if not self.alive:
            raise errors.NotInitializedError("SparseConvolutionDescriptor: is closed")
        return 0

    @property
    def num_act_out(self):
        """Number of output rows that the last call found."""
        cdef int number = 0
        self.ensure_open()
        if self.table.mluOpGetSparseConvolutionNumActOut == NULL:
            raise missing(self.backend, "mluOpGetSparseConvolutionNumActOut", _SPARSE_NAMES.name)
        check(self.backend, "mluOpGetSparseConvolutionNumActOut",
              self.table.mluOpGetSparseConvolutionNumActOut(self.descriptor, &number))
        return number

    @property
    def cdata(self):
        """The ``mluOpSparseConvolutionDescriptor_t`` as a cffi pointer that keeps this object alive."""
        self.ensure_open()
        return owned_cdata(self.backend.ffi, "mluOpSparseConvolutionDescriptor_t", <uintptr_t>self.descriptor, self)

    def __enter__(self):
        self.ensure_open()
        return self

    def __exit__(self, *details):
        self.close()

    def __repr__(self):
        return (f"SparseConvolutionDescriptor(batch={self.batch}, input_space={self.input_space}, "
                f"filter_space={self.filter_space}, output_space={self.output_space}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, subm={self.subm})")

    def __reduce__(self):
        self.ensure_open()
        return _make_sparse, (self.backend, self.batch, self.input_space, self.filter_space, self.output_space,
        self.stride,
                              self.padding, self.dilation, self.subm)


def _make_sparse(backend, *geometry):
    return SparseConvolutionDescriptor(*geometry, backend=backend)
