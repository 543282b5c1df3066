# Libraries, status -> exception, and the default library. Included by _core.pyx.

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


# ---- Libraries -----------------------------------------------------------------------------------


@cython.final
cdef class Backend:
    """A shared library with the C ABI of mlu-ops; made by `pymluops.load`. It stays loaded until the process ends.

    Attributes
    ----------
    name : str
        ``"cpu"``, ``"sim"`` or ``"mlu"`` if it is the library of that name, else the name of the
        file.
    path : str
        The file, all links followed.
    kind : str
        What it computes on: ``"cpu"``, ``"sim"``, ``"mlu"`` or, if the library does not report it,
        ``"unknown"``.
    on_device : bool
        Whether it computes in device memory, so that it has a `Queue` and a `DeviceArray`.
    """

    # Never freed, so that a handle can be destroyed at any later time.
    cdef FunctionTable *table
    cdef void *library
    cdef readonly str name
    cdef readonly str path
    cdef readonly str kind
    cdef readonly bint on_device
    cdef bint is_cpu
    cdef object default_queue  # a QueueState, from its first use on
    cdef list left  # what could not be freed where it was dropped: addresses, and a QueueState each
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
        if self.table.mlusimSetTelling != NULL:
            self.table.mlusimSetTelling(0)  # errors have the findings
        text = file_of_address(<void *>self.table.mluOpCreate)
        self.path = os.path.realpath(file if text == NULL else os.fsdecode(text))
        self.name = os.path.basename(self.path) if name is None else name
        self.kind = self.find_kind()
        self.on_device = self.kind == "sim" or self.kind == "mlu"
        self.is_cpu = self.kind == "cpu"

    cdef int leave(self, thing) except -1:
        """Take over what was dropped in a function that a queue runs, which must not wait; see `tidy`."""
        if self.left is None:
            self.left = []
        self.left.append(thing)
        return 0

    cdef int tidy(self) except -1:
        """Free what was left, on a thread that may wait."""
        cdef void *data
        if not self.left:
            return 0
        left, self.left = self.left, None
        for thing in left:
            if isinstance(thing, QueueState):
                (<QueueState>thing).release()
                continue
            data = <void *><uintptr_t>thing
            with nogil:
                self.table.cnrtFree(data)
        return 0

    cdef void allow_interrupts(self) noexcept:
        """Let signals interrupt long calls; see `check_interrupt`. Code that uses `lib` may have set another check."""
        if self.table.mluopsExtSetInterruptCheck != NULL:
            self.table.mluopsExtSetInterruptCheck(<void *>check_interrupt)
        if self.table.mlusimSetInterruptCheck != NULL:
            self.table.mlusimSetInterruptCheck(<void *>check_interrupt)

    cdef str find_kind(self):
        if self.table.mluopsExtGetLibraryKind != NULL:
            return text_of(self.table.mluopsExtGetLibraryKind())
        # dlsym also looks into what the library depends on: only one for the device needs CNRT,
        # which may be that of the simulator.
        if dlsym(self.library, "mlusimGetDevice") != NULL:
            return "sim"
        return "mlu" if dlsym(self.library, "cnrtGetDeviceCount") != NULL else "unknown"

    @property
    def version(self):
        """Version of the C ABI; None if the library does not report it."""
        cdef int major = -1, minor = -1, patch = -1
        if self.table.mluOpGetLibVersion == NULL:
            return None
        self.table.mluOpGetLibVersion(&major, &minor, &patch)
        return f"{major}.{minor}.{patch}"

    @property
    def library_version(self):
        """Version of the library itself; None if it does not report it."""
        if self.table.mluopsExtGetLibraryVersion == NULL:
            return None
        return text_of(self.table.mluopsExtGetLibraryVersion())

    @property
    def instruction_level(self):
        """Level of CPU instructions that its kernels use; None if it does not report it."""
        if self.table.mluopsExtGetInstructionLevel == NULL:
            return None
        return text_of(self.table.mluopsExtGetInstructionLevel())

    @property
    def ffi(self):
        """The cffi object with the types of these functions."""
        return self.open_raw()[0]

    @property
    def lib(self):
        """The cffi library object with every C function, of mlu-ops and, on a device, of CNRT and the simulator.

        Asking for one that the library lacks is an `ffi.error`.
        """
        return self.open_raw()[1]

    cdef tuple open_raw(self):
        if self.raw is None:
            self.raw = finder.open_raw(self.path)
        return self.raw

    def exports(self, str function not None):
        """Tell whether the library has a function; `lib` lists all that it may have."""
        return function in _FUNCTIONS and table_function(self.table, <int>_FUNCTIONS[function][0]) != NULL

    def implements(self, str function not None):
        """Tell whether the library computes what a function of the C ABI promises.

        Libraries of this package export every function; one that they do not implement returns
        NOT_SUPPORTED. Of another library it is only known which functions it exports.

        Parameters
        ----------
        function : str
            Name of a C function, such as ``"mluOpCreate"``.

        Returns
        -------
        bool
            True if the library exports the function and, where `mluopsExtImplements` exists,
            implements it.

        Raises
        ------
        BadParamError
            If no header declares a function of this name.
        TypeError
            If `function` is not a str.

        Examples
        --------
        >>> import pymluops
        >>> pymluops.load("cpu").implements("mluOpTinShiftForward")
        True
        """
        if function not in _FUNCTIONS:
            expected = "expected the name of a C function"
            raise errors.BadParamError(f"Backend.implements: function: {expected}, got {_arguments.shown(function)}")
        if table_function(self.table, <int>_FUNCTIONS[function][0]) == NULL:
            return False
        # Functions of ours that take no handle are in every library that exports them.
        takes_handle = ("mluOpHandle_t", "handle") in _FUNCTIONS[function][2]
        if self.table.mluopsExtImplements == NULL or not (takes_handle or function.startswith("mluOp")):
            return True
        return self.table.mluopsExtImplements(function.encode()) != 0

    def __repr__(self):
        return f"<pymluops.Backend {self.name}: {self.path}>"

    def __reduce__(self):
        return finder.load, (self.name if self.name in finder.NAMES else self.path,)


def function_names():
    """Return the names of all functions of the C ABI, in the order of the header."""
    return tuple([name for name in _FUNCTIONS if name.startswith("mluOp")])


def set_threads(Backend backend not None, int number):
    """Set the number of threads of the library for the CPU, and return the status."""
    return int(backend.table.mluopsExtSetNumThreads(number))


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
    if status == EXECUTION_FAILED:
        return execution_failure(backend, function, detail)
    return errors.error_from_status(status, function, detail)


def check(Backend backend not None, str function not None, int status):
    """Raise the exception for a status unless it is success."""
    if status != SUCCESS:
        raise failure(backend, function, status)


# ---- The default ---------------------------------------------------------------------------------

cdef Backend default_backend = None
cdef object finder = None  # the module pymluops.library, which needs this one


def register_finder(module):
    """Take the module that finds libraries: an import inside a call would hang in the child of a fork."""
    global finder
    finder = module


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
    return finder.current() if backend is None else finder.load(backend)


def find_backend(backend):
    """Return the `Backend` that a backend, its name or its path means; the default for None."""
    return as_backend(backend)
