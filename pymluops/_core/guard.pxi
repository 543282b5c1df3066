# Refuses the arrays that a schema does not allow. Included by _core.pyx.

cdef class Guard(Schema):
    """A schema that checks the arrays of a call; the base of `Operator`. Final methods are called directly."""

    @cython.final
    cdef bint allows(self, Call *call, int i, int dtype) noexcept:
        cdef TensorSpec *spec = &self.specs[i]
        if spec.like < 0:
            return (spec.dtypes >> dtype) & 1
        if spec.paired:
            return (spec.pairs[call.views[spec.like].dtype] >> dtype) & 1
        return dtype == call.views[spec.like].dtype

    @cython.final
    cdef tuple allowed(self, Call *call, int i):
        """Return the types that an array may have in this call, the one of a made output first."""
        cdef TensorSpec *spec = &self.specs[i]
        if spec.like < 0:
            return self.tensors[i].dtype
        if not spec.paired:
            return (call.views[spec.like].dtype,)
        other = call.views[spec.like].dtype
        return tuple([second for first, second in self.tensors[i].dtype.allowed if first == other])

    @cython.final
    cdef int read_array(self, Handle handle, Call *call, int i, object array) except -1:
        """Look at an array and refuse what the schema does not allow."""
        cdef View *view = &call.views[i]
        call.resident[i] = self.specs[i].on_host  # such an array is neither copied to the device nor back
        if type(array) is not ndarray or not acquire_ndarray(view, array):
            self.read_other(handle, call, i, array)
        return self.check_array(call, i, array)

    @cython.final
    cdef int check_array(self, Call *call, int i, object array) except -1:
        """Refuse an array whose view is there, if the schema does not allow it."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        if not self.allows(call, i, view.dtype):
            raise self.dtype_error(call, i, array)
        self.check_shape(call, i, False)
        if not view.packed:
            raise self.problem(i, f"a C-contiguous array, got strides {strides_text(view)} for shape "
                                  f"{shape_text(view)}{self.hint(call, i, array, 'contiguous')}")
        if spec.output and (view.readonly or view.copied):
            raise self.problem(i, "a writable array, got " + ("a read-only one" if view.readonly else "a copy"))
        return 0

    @cython.final
    cdef inline int check_shape(self, Call *call, int i, bint empty) except -1:
        """Refuse a shape that the schema does not allow; dims of 0 pass if `empty`."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef int k
        if not self.match_shape(call, i):
            raise self.problem(i, f"shape {self.expected_shape(call, i)}, got {shape_text(view)}")
        if not empty:
            for k in range(spec.positive_count):
                if call.values[spec.positive[k]] == 0:
                    raise self.problem(i, f"shape {self.expected_shape(call, i)} with "
                                          f"{self.symbols[spec.positive[k]]} > 0, got {shape_text(view)}")
        for k in range(spec.rule_count):
            if not rule_holds(&spec.rules[k], call.values):
                raise self.rule_error(call, i, k)
        if view.count >= COUNT_LIMIT and self.too_large is not None and not spec.any_size:
            raise self.size_error(i, f"{view.count} in shape {shape_text(view)}")
        return 0

    @cython.final
    cdef int read_other(self, Handle handle, Call *call, int i, object array) except -1:
        """Look at an array that `acquire_ndarray` does not read, and refuse the memory of another device."""
        cdef View *view = &call.views[i]
        cdef str problem
        if type(array) is DeviceArray and not (<DeviceArray>array).alive:
            raise errors.NotInitializedError(f"{self.name}: {self.tensors[i].name}: is closed", function=self.function)
        problem = acquire(view, array)
        if problem is None and view.foreign_order:
            problem = f"native byte order, got {array_text(array)}"
        if problem is not None:
            raise self.unreadable(call, i, array, problem)
        if view.device != DL_CPU:
            self.check_device(handle, call, i, array)
        return 0

    @cython.final
    cdef inline bint match_shape(self, Call *call, int i) noexcept:
        """Compare a shape with its terms; a symbol without a value takes it from here."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef const Term *term = spec.terms
        cdef const int64_t *shape = view.shape
        cdef int64_t *values = call.values
        cdef int axis, unknown
        cdef int64_t size, known = 0
        if spec.any_dims:
            return self.match_dims(call, i)
        if view.ndim != spec.ndim:
            return False
        for axis in range(spec.ndim):
            unknown = term[axis].alone
            if unknown >= 0:
                if values[unknown] == shape[axis]:
                    continue
                if values[unknown] >= 0:
                    return False
                values[unknown], call.owners[unknown] = shape[axis], i
                continue
            unknown = term_value(&term[axis], values, &known)
            if unknown < 0:
                if shape[axis] != known:
                    return False
            else:
                size = shape[axis] - term[axis].addend
                if known == 0 or size < 0 or size % known != 0:
                    return False
                values[unknown], call.owners[unknown] = size // known, i
        return True

    @cython.final
    cdef bint match_dims(self, Call *call, int i) noexcept:
        """Compare dims with those of the other tensors with any dims, or stretch these; C gets a scalar as [1]."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef int64_t *common = call.common
        cdef int symbol = spec.terms[0].alone, more, axis
        cdef int64_t size, count = 1
        if view.ndim > MAX_DIMS:
            return False
        if call.common_ndim < 0:
            call.common_ndim = view.ndim
            for axis in range(view.ndim):
                common[axis] = view.shape[axis]
        elif spec.stretched:
            more = view.ndim - call.common_ndim
            if more > 0:
                for axis in range(call.common_ndim - 1, -1, -1):
                    common[axis + more] = common[axis]
                for axis in range(more):
                    common[axis] = 1
                call.common_ndim = view.ndim
            for axis in range(view.ndim):
                size = view.shape[view.ndim - 1 - axis]
                more = call.common_ndim - 1 - axis
                if common[more] == 1:
                    common[more] = size
                elif size != 1 and size != common[more]:
                    return False
        else:
            if view.ndim != call.common_ndim:
                return False
            for axis in range(view.ndim):
                if view.shape[axis] != common[axis]:
                    return False
        for axis in range(call.common_ndim):
            count = saturated_product(count, common[axis])
        call.values[symbol], call.owners[symbol] = count, i
        if view.ndim == 0:
            view.ndim, view.dims[0], view.shape, view.strides = 1, 1, view.dims, NULL
        return True

    @cython.final
    cdef int check_device(self, Handle handle, Call *call, int i, object array) except -1:
        """Refuse the memory of another device."""
        cdef View *view = &call.views[i]
        cdef bint ours = False
        if view.device == DL_CUDA_HOST or view.device == DL_ROCM_HOST:
            return 0
        if type(array) is DeviceArray:
            ours = handle.on_device and (<DeviceArray>array).backend is handle.backend
        elif view.device == DL_EXTENSION:  # a tensor of torch_mlu
            ours = handle.on_device and handle.backend.kind == "mlu"
        if not ours or self.specs[i].on_host:
            place = f" or on {handle.backend.name}" if handle.on_device and not self.specs[i].on_host else ""
            raise self.problem(i, f"an array in host memory{place}, because the backend is {handle.backend.name}, got "
                                  f"{device_text(view, array)}{self.hint(call, i, array, 'host')}")
        call.resident[i] = True
        if type(array) is DeviceArray:
            (<DeviceArray>array).users += 1
            Py_INCREF(array)
            call.arrays[i] = <PyObject *>array
        return 0

    @cython.final
    cdef int check_memory(self, Call *call) except -1:
        """Refuse unaligned data and overlap; the data of an empty tensor is not checked."""
        cdef int i, k, wrong = -1
        cdef View *view
        cdef View *other
        for i in range(self.tensor_count):
            if call.absent[i]:
                continue
            view = &call.views[i]
            if view.count == 0:
                return 0
            # The size of an element is a power of two.
            if wrong < 0 and (view.data == NULL or <uintptr_t>view.data & <uintptr_t>(view.itemsize - 1)):
                wrong = i
        if wrong >= 0:
            raise self.address_error(call, wrong)
        for i in range(self.tensor_count):
            if not self.specs[i].output or call.absent[i]:
                continue
            view = &call.views[i]
            for k in range(self.tensor_count):
                other = &call.views[k]
                # The view of an absent array is empty and lies at NULL.
                if other.data < view.data + view.count * view.itemsize and (
                    view.data < other.data + other.count * other.itemsize
                ) and k != i and call.resident[k] == call.resident[i] and not self.is_in_place(call, i, k):
                    raise self.problem(i, f"memory of its own, got an array that overlaps {self.tensors[k].name}")
        return 0

    @cython.final
    cdef bint is_in_place(self, Call *call, int i, int k) noexcept:
        """Return whether each element of a result lies where the one is that it is computed of."""
        cdef View *view = &call.views[i]
        cdef View *other = &call.views[k]
        return (self.specs[i].any_dims and self.specs[k].any_dims and not self.specs[k].output
                and view.data == other.data and view.dtype == other.dtype and view.count == other.count)

    @cython.final
    cdef int check_contents(self, Call *call, bint library_looks) except -1:
        """Refuse values outside their range, but for those that the library looks at itself.

        The host cannot look at those that lie on the device.
        """
        cdef int i, column
        cdef int64_t found
        cdef int64_t limits[MAX_COLUMNS]
        cdef TensorSpec *spec
        cdef View *view
        for i in range(self.tensor_count):
            spec, view = &self.specs[i], &call.views[i]
            if view.count == 0 or call.resident[i] or (library_looks and spec.library_looks):
                continue
            if spec.counted >= 0:
                self.check_counts(call, i)
            if spec.lengths >= 0:
                self.check_spans(call, i)
            if spec.column_count == 0:
                continue
            for column in range(spec.column_count):
                limits[column] = call.values[spec.columns[column]]
            if spec.at >= 0:
                found = self.outside_at(call, i, limits)
            elif view.count <= FEW_VALUES:
                found = first_outside(<const int32_t *>view.data, view.count, limits, spec.column_count)
            else:
                with nogil:
                    found = first_outside(<const int32_t *>view.data, view.count, limits, spec.column_count)
            if found >= 0:
                raise self.content_error(call, i, found)
        return 0

    cdef int64_t outside_at(self, Call *call, int i, const int64_t *limits) noexcept:
        """Look at the rows whose numbers another array has, as far as the host can."""
        cdef View *view = &call.views[i]
        cdef View *places = &call.views[self.specs[i].at]
        if call.resident[self.specs[i].at]:
            return -1
        with nogil:
            return first_outside_at(
                <const int32_t *>view.data, view.count // self.specs[i].column_count, <const int32_t *>places.data,
                places.count, limits, self.specs[i].column_count
            )

    cdef int check_counts(self, Call *call, int i) except -1:
        """Refuse counts below 0, and those of more rows than there are."""
        cdef View *view = &call.views[i]
        cdef const int32_t *counts = <const int32_t *>view.data
        cdef int64_t total = 0, limit = call.values[self.specs[i].counted]
        cdef int64_t found = first_too_many(counts, view.count, limit, &total)
        if found < 0:
            return 0
        where = f"{self.tensors[i].axes[0]} {found}"
        if counts[found] < 0:
            raise self.problem(i, f"numbers of at least 0, got {counts[found]} at {where}")
        raise self.problem(
            i, f"a sum of at most {self.symbols[self.specs[i].counted]}={limit}, got {total} up to {where}"
        )

    cdef int check_spans(self, Call *call, int i) except -1:
        """Refuse intervals that have negative lengths, or reach beyond the rows."""
        cdef int k = self.specs[i].lengths
        cdef int64_t found, limit = call.values[self.specs[i].span]
        cdef const int32_t *starts = <const int32_t *>call.views[i].data
        cdef const int32_t *lengths = <const int32_t *>call.views[k].data
        if call.resident[k]:
            return 0
        with nogil:
            found = first_beyond(starts, lengths, call.views[i].count, limit)
        if found < 0:
            return 0
        where = f"{self.tensors[i].axes[0]} {found}"
        if lengths[found] < 0:
            raise self.problem(k, f"numbers of at least 0, got {lengths[found]} at {where}")
        rows = f"{self.symbols[self.specs[i].span]}={limit}"
        if starts[found] < 0 or lengths[found] == 0:
            raise self.problem(i, f"0 <= value <= {rows}, got {starts[found]} at {where}")
        end = <int64_t>starts[found] + lengths[found]
        raise self.problem(i, f"an end of at most {rows}, got {starts[found]} + {lengths[found]} = {end} at {where}")

    # -- Messages ----------------------------------------------------------------------------------

    @cython.final
    cdef object problem(self, int i, str text):
        return errors.BadParamError(f"{self.name}: {self.tensors[i].name}: expected {text}", function=self.function)

    @cython.final
    cdef object address_error(self, Call *call, int i):
        cdef View *view = &call.views[i]
        if view.data == NULL:
            return self.problem(i, "data, got a null pointer")
        return self.problem(i, f"data aligned to {view.itemsize} bytes, got address {<uintptr_t>view.data:#x}")

    @cython.final
    cdef object unreadable(self, Call *call, int i, object array, str text):
        """Return the error for an array that could not be read; if its type is to blame, that is the thing to say."""
        if call.views[i].no_memory or call.views[i].no_array:
            text += "" if call.views[i].no_memory else self.hint(call, i, array, "array")
            text = f"{self.name}: {self.tensors[i].name}: expected {text}"
            return unreadable_error(&call.views[i])(text, function=self.function)
        given = dtype_of(array)
        if given is not None and call.views[i].source == SOURCE_NONE:
            try:
                if not self.allows(call, i, dtypes.as_data_type(given)):
                    return self.dtype_error(call, i, array)
            except errors.BadParamError:
                return self.dtype_error(call, i, array)
        return self.problem(i, text + self.hint(call, i, array, "array"))

    @cython.final
    cdef str hint(self, Call *call, int i, object array, str problem):
        """Return what would have worked, for the end of a message; an output must be the caller's own memory."""
        cdef TensorSpec *spec = &self.specs[i]
        if spec.output:
            return ""
        names = tuple([dtypes.data_type_name(data_type) for data_type in self.allowed(call, i)])
        return _hints.hint(array, self.tensors[i].name, problem, names)

    @cython.final
    cdef object size_error(self, int i, str got):
        text = f"{self.name}: {self.tensors[i].name}: expected fewer than {COUNT_LIMIT} elements, got {got}"
        return self.too_large(text, function=self.function)

    @cython.final
    cdef object memory_error(self, str what):
        return errors.AllocFailedError(f"{self.name}: no memory for {what}", function=self.function)

    @cython.final
    cdef object dtype_error(self, Call *call, int i, object array):
        cdef TensorSpec *spec = &self.specs[i]
        expected = " or ".join([dtypes.data_type_name(data_type) for data_type in self.allowed(call, i)])
        if spec.paired:
            like = dtypes.data_type_name(call.views[spec.like].dtype)
            expected += f" beside {like} of {self.tensors[spec.like].name}"
        elif spec.like >= 0:
            expected += f" like {self.tensors[spec.like].name}"
        got = dtype_text(&call.views[i], array) + self.hint(call, i, array, "dtype")
        return self.problem(i, f"dtype {expected}, got {got}")

    @cython.final
    cdef str expected_shape(self, Call *call, int i):
        """Return the terms of a shape, with the values that this tensor did not give itself."""
        cdef int axis, factor, symbol
        cdef int64_t value = 0
        cdef bint known
        cdef TensorSpec *spec = &self.specs[i]
        cdef list texts = []
        if spec.any_dims:
            if call.common_ndim < 0:
                return f"with at most {MAX_DIMS} dims"
            text = str(list(dims_tuple(call.common, call.common_ndim)))
            return f"that goes together with {text}" if spec.stretched else text
        names = self.tensors[i].shape.split()
        for axis in range(spec.ndim):
            term_value(&spec.terms[axis], call.values, &value)
            known = spec.terms[axis].factor_count > 0
            for factor in range(spec.terms[axis].factor_count):
                symbol = spec.terms[axis].factors[factor]
                known = known and call.values[symbol] >= 0
                # What a product must be is worth telling even if its factors come from the same
                # tensor.
                known = known and (call.owners[symbol] != i or spec.terms[axis].factor_count > 1)
            texts.append(f"{names[axis]}={value}" if known else names[axis])
        return f"[{', '.join(texts)}]"

    @cython.final
    cdef object rule_error(self, Call *call, int i, int number):
        """Return the error for a rule between symbols that an array breaks."""
        cdef Rule *rule = &self.specs[i].rules[number]
        cdef int64_t value = 0
        text = self.tensors[i].rules[number]
        if rule.relation == RELATION_IN:
            left, _, *right = text.split()
            text = f"{left} one of {', '.join(right)}"
        elif rule.right.factor_count > 0:
            term_value(&rule.right, call.values, &value)
            text += f"={value}"
        return self.problem(i, f"shape {self.expected_shape(call, i)} with {text}, got {shape_text(&call.views[i])}")

    @cython.final
    cdef object content_error(self, Call *call, int i, int64_t found):
        """Return the error for the value at flat position `found`."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef const int32_t *values = <const int32_t *>view.data
        cdef int axis, symbol = spec.columns[found % spec.column_count]
        cdef list place = []
        cdef int64_t rest = found
        for axis in range(view.ndim - 1, -1, -1):
            place.insert(0, rest % view.shape[axis])
            rest //= view.shape[axis]
        where = ", ".join([f"{name} {number}" for name, number in zip(self.tensors[i].axes, place)])
        limit = f"{call.values[symbol]}"
        if spec.column_count > 1:
            first = found - found % spec.column_count
            where += f" {[values[first + axis] for axis in range(spec.column_count)]}"
            name = self.tensors[i].within[found % spec.column_count]
        else:
            name = "value"
            limit = f"{self.symbols[symbol]}={limit}"
        return self.problem(i, f"0 <= {name} < {limit}, got {values[found]} at {where}")
