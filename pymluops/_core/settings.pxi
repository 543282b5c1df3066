# Descriptors that carry settings, which a library keeps. Included by _core.pyx.

cdef dict SETTINGS_FUNCTIONS = {}


cdef tuple settings_functions(str kind):
    """Return the C type of a kind of settings, and the numbers of the functions that make and destroy them."""
    cdef tuple found = SETTINGS_FUNCTIONS.get(kind)
    if found is None:
        found = (f"mluOp{kind}Descriptor_t", _FUNCTIONS[f"mluOpCreate{kind}Descriptor"][0],
                 _FUNCTIONS[f"mluOpDestroy{kind}Descriptor"][0])
        SETTINGS_FUNCTIONS[kind] = found
    return found


cdef int check_number(Backend backend, int number, int status) except -1:
    """Raise the error for a status of the function with this number."""
    if status != SUCCESS:
        raise failure(backend, function_name(number), status)
    return 0


@cython.no_gc_clear  # __dealloc__ needs the backend
cdef class SettingsDescriptor:
    """A descriptor with settings of an operator; the base of one class for each kind.

    A subclass calls ``_create(kind, backend)`` and sets it, for example with ``_set(function,
    *values)``. Pickles and copies have its settings and its Python attributes.

    Attributes
    ----------
    kind : str
        Its C type.
    backend : Backend
        The library that keeps it.
    """

    cdef FunctionTable *table
    cdef void *descriptor
    cdef bint alive
    cdef int users  # calls that run with it now
    cdef bint changing  # the only one of them changes it
    cdef int destroyer  # number of the C function
    cdef readonly str kind
    cdef readonly Backend backend
    cdef dict settings  # what it was set to last, by function: its values
    cdef object __weakref__

    cdef int create(self, str kind, object backend) except -1:
        cdef Argument argument
        cdef int creator
        self.backend = as_backend(backend)
        self.table = self.backend.table
        self.kind, creator, self.destroyer = settings_functions(kind)
        if table_function(self.table, creator) == NULL:
            raise missing(self.backend, function_name(creator), type(self).__name__)
        if self.alive:
            raise errors.BadParamError(f"{type(self).__name__}: is made already", function=function_name(creator))
        argument.pointer = &self.descriptor
        check_number(self.backend, creator, table_invoke(self.table, creator, &argument))
        self.alive = True
        return 0

    def _create(self, str kind not None, backend=None):
        self.create(kind, backend)

    def _set(self, str function not None, *values):
        """Call the function that sets the descriptor, with integers, numbers, truth values and sequences of int."""
        cdef Argument arguments[16]
        cdef int i
        cdef list arrays = []
        self.ensure_open()
        names = _arguments.Names(type(self).__name__, function)
        number, _, parameters = _FUNCTIONS[function]
        if len(values) != len(parameters) - 1 or len(parameters) > 16:
            raise TypeError(f"{names.name}: expected {len(parameters) - 1} values, got {len(values)}")
        if table_function(self.table, number) == NULL:
            raise missing(self.backend, function, names.name)
        arguments[0].pointer = self.descriptor
        for i in range(1, len(parameters)):
            kind, name = parameters[i]
            if kind in ("float", "double"):
                arguments[i].real = _arguments.real(names, name, values[i - 1])
            elif kind == "bool":
                arguments[i].integer = _arguments.flag(names, name, values[i - 1])
            elif kind == "const int *":
                array = np.array(_arguments.as_numbers(values[i - 1]), np.int32)
                arrays.append(array)  # it lives until the call has ended
                arguments[i].pointer = <void *><uintptr_t>array.ctypes.data
            else:
                least, most = INTEGER_TYPES.get(kind, INTEGER_TYPES["int"])
                arguments[i].integer = _arguments.integer(names, name, values[i - 1], least, min(most, 2**63 - 1))
        self.ensure_open()  # a value may have run code of the caller
        use_object(self, names.name, function, True)
        try:
            check(self.backend, function, table_invoke(self.table, number, arguments))
        finally:
            let_go_object(self)
        if self.settings is None:
            self.settings = {}
        self.settings.pop(function, None)  # the last one counts, so it comes last
        self.settings[function] = tuple([value if np.ndim(value) == 0 else tuple(value) for value in values])

    def __reduce__(self):
        self.ensure_open()
        kind = self.kind.removeprefix("mluOp").removesuffix("Descriptor_t")
        return _make_settings, (type(self), kind, self.backend, self.settings), getattr(self, "__dict__", None)

    def __dealloc__(self):
        self.destroy()

    cdef void destroy(self) noexcept:
        cdef Argument argument
        if self.alive and table_function(self.table, self.destroyer) != NULL:
            argument.pointer = self.descriptor
            table_invoke(self.table, self.destroyer, &argument)
        self.alive = False

    def close(self):
        """Destroy the descriptor; a second call does nothing."""
        if self.users != 0:
            raise errors.BadParamError(f"{type(self).__name__}: cannot be closed while a call uses it")
        self.destroy()

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    cdef int ensure_open(self) except -1:
        if not self.alive:
            raise errors.NotInitializedError(f"{type(self).__name__}: is closed")
        return 0

    @property
    def cdata(self):
        """The C descriptor as a cffi pointer that keeps this object alive."""
        self.ensure_open()
        return owned_cdata(self.backend.ffi, self.kind, <uintptr_t>self.descriptor, self)

    def __enter__(self):
        self.ensure_open()
        return self

    def __exit__(self, *details):
        self.close()


def _make_settings(type kind_of, str kind, Backend backend, settings):
    """Make a descriptor of a subclass with these settings; what a pickle of one calls."""
    descriptor = kind_of.__new__(kind_of)
    descriptor._create(kind, backend)
    for function, values in (settings or {}).items():
        descriptor._set(function, *values)
    return descriptor


_SPARSE_NAMES = _arguments.Names("SparseConvolutionDescriptor", "mluOpSetSparseConvolutionDescriptor")


@cython.final
cdef class SparseConvolutionDescriptor(SettingsDescriptor):
    """SparseConvolutionDescriptor(batch, input_space, filter_space, output_space, stride=1, padding=0, dilation=1, \
subm=False, *, backend=None)
--

    Geometry of a 3-D sparse convolution, for the C functions that take one, through
    ``Backend.lib``.

    The functions for arrays make their own. Each space and each of `stride`, `padding` and
    `dilation` is (depth, height, width) or one integer for all three. Pickles and copies have the
    geometry, as if no call had used it yet.

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

    cdef readonly int batch
    cdef readonly tuple input_space, filter_space, output_space, stride, padding, dilation
    cdef readonly bint subm

    def __cinit__(self, batch, input_space, filter_space, output_space, stride=1, padding=0, dilation=1, subm=False, *,
                  backend=None):
        self.batch = integer(_SPARSE_NAMES, "batch", batch, 1)
        self.input_space = integers(_SPARSE_NAMES, "input_space", input_space, 3, 1)
        self.filter_space = integers(_SPARSE_NAMES, "filter_space", filter_space, 3, 1)
        self.output_space = integers(_SPARSE_NAMES, "output_space", output_space, 3, 1)
        self.stride = integers(_SPARSE_NAMES, "stride", stride, 3, 1)
        self.padding = integers(_SPARSE_NAMES, "padding", padding, 3, 0)
        self.dilation = integers(_SPARSE_NAMES, "dilation", dilation, 3, 1)
        self.subm = _arguments.flag(_SPARSE_NAMES, "subm", subm)
        self.create("SparseConvolution", backend)
        if self.table.mluOpSetSparseConvolutionDescriptor == NULL:
            raise missing(self.backend, "mluOpSetSparseConvolutionDescriptor", _SPARSE_NAMES.name)
        self.set()

    cdef int set(self) except -1:
        cdef int values[6][3]
        cdef int row, column
        spaces = (self.padding, self.stride, self.dilation, self.input_space, self.filter_space, self.output_space)
        for row in range(6):
            for column in range(3):
                values[row][column] = spaces[row][column]
        check(self.backend, "mluOpSetSparseConvolutionDescriptor", self.table.mluOpSetSparseConvolutionDescriptor(
            <mluOpSparseConvolutionDescriptor_t>self.descriptor, 5, self.batch, values[0], values[1], values[2],
            values[3], values[4], values[5], self.subm, 0, 0))
        return 0

    @property
    def num_act_out(self):
        """Number of output rows that the last call found."""
        cdef int number = 0
        self.ensure_open()
        if self.table.mluOpGetSparseConvolutionNumActOut == NULL:
            raise missing(self.backend, "mluOpGetSparseConvolutionNumActOut", _SPARSE_NAMES.name)
        check(self.backend, "mluOpGetSparseConvolutionNumActOut",
              self.table.mluOpGetSparseConvolutionNumActOut(
                  <mluOpSparseConvolutionDescriptor_t>self.descriptor, &number))
        return number

    def __repr__(self):
        return (f"SparseConvolutionDescriptor(batch={self.batch}, input_space={self.input_space}, "
                f"filter_space={self.filter_space}, output_space={self.output_space}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, subm={self.subm})")

    def __reduce__(self):
        self.ensure_open()
        return _make_sparse, (self.backend, self.batch, self.input_space, self.filter_space, self.output_space,
                              self.stride, self.padding, self.dilation, self.subm)


def _make_sparse(backend, *geometry):
    return SparseConvolutionDescriptor(*geometry, backend=backend)
