# Calls of an operator with plain tensors of torch, which need nothing of torch's dispatcher.
# Included by _core.pyx.

cdef extern from *:
    """
    #include <math.h>

    static void copy_run(char *to, const char *from, int64_t count, int64_t stride, int64_t itemsize) {
      switch (itemsize) {
        case 2:
          for (int64_t i = 0; i < count; i++) ((uint16_t *)to)[i] = ((const uint16_t *)from)[i * stride];
          break;
        case 4:
          for (int64_t i = 0; i < count; i++) ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * stride];
          break;
        default:
          for (int64_t i = 0; i < count; i++) memcpy(to + i * itemsize, from + i * stride * itemsize, itemsize);
      }
    }

    /* Narrow integers of 64 bits to 32, and return whether each has its value still. */
    static int narrow_run(int32_t *to, const int64_t *from, int64_t count, int64_t stride) {
      int64_t lost = 0;
      for (int64_t i = 0; i < count; i++) {
        const int64_t value = from[i * stride];
        to[i] = (int32_t)value;
        lost |= value ^ to[i];
      }
      return lost == 0;
    }

    /* Copy an array of 1 to 8 dims, none of them 0, with strides in elements, packed; integers of 64 bits to ones of 32
     * if `narrow`. Return whether each value was kept. */
    static int copy_packed(char *to, const char *from, int ndim, const int64_t *dims, const int64_t *strides,
                           int64_t itemsize, int narrow) {
      int64_t place[8] = {0};
      const int last = ndim - 1;
      const int64_t run = dims[last], step = strides[last];
      int kept = 1;
      for (;;) {
        if (narrow) {
          kept &= narrow_run((int32_t *)to, (const int64_t *)from, run, step);
          to += run * 4;
        } else {
          copy_run(to, from, run, step, itemsize);
          to += run * itemsize;
        }
        int axis = last - 1;
        for (; axis >= 0; axis--) {
          from += strides[axis] * itemsize;
          if (++place[axis] < dims[axis]) break;
          from -= strides[axis] * dims[axis] * itemsize;
          place[axis] = 0;
        }
        if (axis < 0) return kept;
      }
    }

    static void take_roots(float *values, int64_t count) {
      for (int64_t i = 0; i < count; i++) values[i] = sqrtf(values[i]);
    }
    """
    void take_roots(float *values, int64_t count) noexcept nogil
    bint copy_packed(char *to, const char *frm, int ndim, const int64_t *dims, const int64_t *strides,
                     int64_t itemsize, bint narrow) noexcept nogil

cdef enum:
    MOST_TENSORS = 16  # arguments of one operator
    MOST_COPIED = 1 << 13  # elements of a tensor that are copied here; torch copies more with all its threads
    STACK_BYTES = 512  # for copies of the smallest tensors

# Memory on the stack of a call, from which copies are taken in turn.
cdef struct StackMemory:
    int64_t aligned  # for the alignment of the bytes
    char bytes[STACK_BYTES]
    int64_t used

# What becomes of one argument.
cdef struct Place:
    bint ordered
    int order[MAX_DIMS]  # dim k of the operator's array is dim order[k] of the tensor; for a result the other way round
    bint dropped  # a result that nobody wants
    bint rooted  # a result whose square root is wanted
    int shape_dims  # of a result with a shape of its own; 0: none
    Term shape[MAX_DIMS]


cdef char *take_copy(int64_t size, void **owned, StackMemory *stack) noexcept:
    """Return memory for a copy, of the stack if it is small; NULL if there is none."""
    cdef char *place = &stack.bytes[stack.used]
    if size <= STACK_BYTES - stack.used:
        stack.used += (size + 7) // 8 * 8
        return place
    owned[0] = pool_take(size)
    return <char *>owned[0]


@cython.final
cdef class TensorCall:
    """Calls an operator with plain tensors of torch, if nothing watches, transforms or casts the calls of torch.

    Small tensors are copied in C where the operator's layout is another one, where they are not
    packed, and where their integers have 64 bits.

    Parameters
    ----------
    callee : Operator
        The operator.
    watchers : tuple of callable
        What they return is false if nothing watches.
    follow : callable
        Called before each call.
    validate : bool
        Contents are looked at first.
    orders : mapping of str to tuple of int
        For an input, which dim of the tensor is each dim of its array; for an output, which dim of
        the array is each dim of the tensor.
    shapes : mapping of str to str or None
        For an output, the shape of the tensor that shows the same values in the same order; None
        drops it.
    roots : tuple of str
        Outputs whose square root is the result.
    otherwise : callable, optional
        Gets the arguments of a call that has to go through torch, which also refuses what is wrong.
        Without it the result of such a call is None.
    """

    cdef Operator callee
    cdef tuple watchers
    cdef object follow, otherwise
    cdef bint validate
    cdef int input_count
    cdef int result_count
    cdef Place places[MOST_TENSORS]

    def __cinit__(self, Operator callee not None, tuple watchers not None, follow, bint validate=False, *,
                  orders=None, shapes=None, tuple roots=(), otherwise=None):
        cdef int i, k
        cdef Place *place
        self.callee, self.watchers, self.follow, self.validate = callee, watchers, follow, validate
        self.otherwise = otherwise
        self.input_count = callee.tensor_count - callee.output_count
        assert callee.tensor_count <= MOST_TENSORS and callee.settings_count == 0, callee.name
        for i in range(callee.tensor_count):
            place, tensor = &self.places[i], callee.tensors[i]
            assert callee.specs[i].output == (i >= self.input_count), callee.name
            order = (orders or {}).get(tensor.name)
            if order is not None:
                place.ordered = True
                for k in range(callee.specs[i].ndim):
                    place.order[k] = order[k]
            shape = (shapes or {}).get(tensor.name, "")
            place.dropped, place.rooted = shape is None, tensor.name in roots
            if shape:
                terms = shape.split()
                place.shape_dims = len(terms)
                for k in range(place.shape_dims):
                    callee.read_term(&place.shape[k], terms[k])
            self.result_count += callee.specs[i].output and not place.dropped

    def __call__(self, *arguments):
        """Call it with tensors, then scalars, and return the results."""
        found = self.attempt(arguments)
        return self.otherwise(*arguments) if found is None and self.otherwise is not None else found

    cdef object attempt(self, tuple arguments):
        """Return the results, or None if the call has to go through torch."""
        cdef Operator callee = self.callee
        cdef Call call
        cdef int64_t small[SMALL_CALL]
        cdef void *memory
        cdef void *owned[MOST_TENSORS]  # memory of copies and results, by argument
        cdef StackMemory stack
        cdef Handle handle
        cdef int i
        cdef object watcher
        if len(arguments) != self.input_count + callee.scalar_count:
            return None
        for watcher in self.watchers:
            if watcher():
                return None
        if case_writer is not None:
            return None
        handle = default_handle()
        if handle.on_device or not handle.alive or table_function(handle.table, callee.plan.number) == NULL:
            return None
        self.follow()
        memory = callee.begin(&call, small)
        for i in range(callee.tensor_count):
            owned[i] = NULL
        stack.used = 0
        try:
            return self.run(handle, &call, arguments, owned, &stack)
        except errors.MluOpError:
            return None
        finally:
            for i in range(callee.tensor_count):
                pool_give(owned[i])
            if memory != small:
                free(memory)

    cdef object run(self, Handle handle, Call *call, tuple arguments, void **owned, StackMemory *stack):
        cdef Operator callee = self.callee
        cdef Exchange exchange = None
        cdef int i
        callee.read_scalars(call, arguments[self.input_count:])
        for i in range(self.input_count):
            exchange = exchange_of(type(arguments[i]))
            if exchange is None or not exchange.is_torch or exchange.table.borrow == NULL:
                return None
            if not self.read_input(call, i, exchange, arguments[i], &owned[i], stack):
                return None
        if exchange is None or exchange.table.to_object == NULL:
            return None
        for i in range(self.input_count, callee.tensor_count):
            if not self.make_output(call, i, &owned[i]):
                return None
        callee.check_memory(call)
        if self.validate:
            callee.check_contents(call, True)
        callee.execute(handle, call, self.validate)
        return self.results(call, exchange, owned)

    cdef bint read_input(self, Call *call, int i, Exchange exchange, object tensor, void **owned,
                         StackMemory *stack) except -1:
        """Look at a tensor, and copy it if it is small and not as the operator wants it; False if torch has to."""
        cdef Operator callee = self.callee
        cdef View *view = &call.views[i]
        cdef Place *place = &self.places[i]
        cdef DLTensor borrowed, ordered
        cdef int64_t dims[MAX_DIMS]
        cdef int64_t steps[MAX_DIMS]
        cdef int k
        cdef bint narrow
        cdef char *copy
        call.resident[i], call.absent[i] = callee.specs[i].on_host, False
        if tensor.requires_grad or tensor.is_neg():
            return False
        if exchange.table.borrow(<void *>tensor, &borrowed) != 0:  # a tensor without memory, such as one on meta
            PyErr_Clear()
            return False
        if borrowed.ndim != callee.specs[i].ndim or borrowed.ndim < 1 or borrowed.strides == NULL:
            return False
        ordered = borrowed
        if place.ordered:
            for k in range(borrowed.ndim):
                dims[k], steps[k] = borrowed.shape[place.order[k]], borrowed.strides[place.order[k]]
            ordered.shape, ordered.strides = dims, steps
        if read_tensor(view, &ordered, 0) is not None or view.count == 0 or view.device != DL_CPU:
            return False
        narrow = view.dtype == INT64 and not callee.allows(call, i, INT64)
        if narrow or not view.packed:
            if view.count > MOST_COPIED or view.itemsize < 2:
                return False
            copy = take_copy(view.count * view.itemsize, owned, stack)
            if copy == NULL or not copy_packed(
                copy, view.data, view.ndim, view.shape, view.strides, view.itemsize, narrow
            ):
                return False
            view.data, view.strides, view.packed = copy, NULL, True
            if narrow:
                view.dtype, view.itemsize = INT32, 4
        if not callee.allows(call, i, view.dtype):
            return False
        callee.check_array(call, i, tensor)
        return True

    cdef bint make_output(self, Call *call, int i, void **owned) except -1:
        """Make the memory of an output; False if torch has to copy the result."""
        cdef View *view = &call.views[i]
        call.resident[i], call.absent[i] = self.callee.specs[i].on_host, False
        view.dtype = self.callee.made_array(call, i, view.dims, &view.count)
        if view.count == 0 or self.places[i].ordered and view.count > MOST_COPIED:
            return False
        if self.places[i].rooted and view.dtype != FLOAT:
            return False
        view.itemsize = view.stride_unit = itemsizes[view.dtype]
        owned[0] = pool_take(saturated_product(view.count, view.itemsize))
        if owned[0] == NULL:
            return False
        view.data, view.shape, view.strides = <char *>owned[0], view.dims, NULL
        view.ndim, view.device, view.packed = self.callee.specs[i].ndim, DL_CPU, True
        view.readonly = view.copied = view.foreign_order = False
        if self.callee.specs[i].zeroed:
            memset(view.data, 0, view.count * view.itemsize)
        return True

    cdef object results(self, Call *call, Exchange exchange, void **owned):
        cdef int i, number = 0
        cdef tuple found = PyTuple_New(self.result_count) if self.result_count > 1 else None
        cdef object result = None
        for i in range(self.input_count, self.callee.tensor_count):
            if self.places[i].dropped:
                continue
            result = self.result(call, i, exchange, &owned[i])
            if self.result_count > 1:
                Py_INCREF(result)  # the tuple takes this reference
                PyTuple_SetItem(found, number, result)
                number += 1
        return result if self.result_count == 1 else found

    cdef object result(self, Call *call, int i, Exchange exchange, void **owned):
        """Return the tensor of an output, which takes over its memory."""
        cdef View *view = &call.views[i]
        cdef Place *place = &self.places[i]
        cdef int64_t dims[MAX_DIMS]
        cdef int64_t packed[MAX_DIMS]
        cdef int64_t steps[MAX_DIMS]
        cdef int64_t stride = 1
        cdef int k, ndim = view.ndim
        cdef void *data = owned[0]
        if place.rooted:
            take_roots(<float *>data, view.count)
        if place.ordered:
            for k in range(ndim - 1, -1, -1):
                packed[k] = stride
                stride *= view.dims[k]
            for k in range(ndim):
                dims[k], steps[k] = view.dims[place.order[k]], packed[place.order[k]]
            data = pool_take(view.count * view.itemsize)
            if data == NULL:
                raise self.callee.memory_error("a result")
            copy_packed(<char *>data, view.data, ndim, dims, steps, view.itemsize, False)
            return torch_tensor_around(exchange, data, dims, ndim, view.dtype)
        owned[0] = NULL
        if place.shape_dims == 0:
            return torch_tensor_around(exchange, data, view.dims, ndim, view.dtype)
        for k in range(place.shape_dims):
            term_value(&place.shape[k], call.values, &dims[k])
        return torch_tensor_around(exchange, data, dims, place.shape_dims, view.dtype)
