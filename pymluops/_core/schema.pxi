# The schema of an operator, read once: what the checks and the C call need of it. Included by
# _core.pyx.

cdef enum:
    MAX_FACTORS = 3
    MAX_COLUMNS = 4
    MAX_CHOICES = 8

# A dim: coefficient * product of symbols + addend.
cdef struct Term:
    int alone  # the symbol that is all there is to it; -1: it is not that simple
    int64_t coefficient
    int64_t addend
    int factor_count
    int factors[MAX_FACTORS]

cdef enum Relation:
    RELATION_DIVIDES
    RELATION_EQUAL
    RELATION_UNEQUAL
    RELATION_LESS
    RELATION_LESS_EQUAL
    RELATION_GREATER
    RELATION_GREATER_EQUAL
    RELATION_IN

# A condition on symbols.
cdef struct Rule:
    Relation relation
    Term left
    Term right
    int choice_count
    int64_t choices[MAX_CHOICES]

# pymluops.ops._schema.Tensor, ready for use.
cdef struct TensorSpec:
    int ndim
    Term terms[MAX_DIMS]
    uint32_t dtypes  # a bit for every DataType allowed
    int first_dtype  # that a new output has if `like` names no tensor
    int like  # the tensor that says which types are allowed; -1: none
    bint paired  # ... with `pairs`; else it has the same type
    uint32_t *pairs  # by the type of that tensor: a bit for every DataType allowed
    int layout
    bint output
    bint in_place
    bint zeroed
    bint optional
    int given_with  # the tensor with which it is given; -1: none
    bint any_size
    bint any_dims  # `terms` has one symbol alone, for the number of elements
    bint stretched
    bint own_memory
    bint on_host  # it has no descriptor: the C function wants host memory on any device
    int positive_count
    int positive[MAX_DIMS]
    int zero_count
    int zero_if[MAX_DIMS]
    int rule_count
    Rule *rules
    int column_count  # 0: contents are not checked
    int columns[MAX_COLUMNS]
    int at  # the tensor with the numbers of the rows that are looked at; -1: all are
    int counted  # the symbol that the sum does not exceed; -1: no counts
    int lengths  # the tensor with the lengths of what begins here; -1: nothing does
    int span  # ... and the symbol that it ends at, at most
    bint library_looks

cdef enum ScalarKind:
    KIND_INTEGER
    KIND_UNSIGNED  # up to 64 bits
    KIND_CHOICE
    KIND_FLOAT
    KIND_DOUBLE
    KIND_BOOL

cdef struct ScalarSpec:
    ScalarKind kind
    int symbol  # -1: none
    int64_t minimum
    int64_t maximum
    double low
    double high
    bint above
    bint infinite
    bint nan
    int64_t passed  # what C gets instead of an integer; 0: the integer

# Where a C argument comes from.
cdef enum StepKind:
    STEP_HANDLE
    STEP_DESCRIPTOR
    STEP_DATA
    STEP_SCALAR
    STEP_SYMBOL
    STEP_SETTINGS
    STEP_WORKSPACE
    STEP_WORKSPACE_SIZE

cdef struct Step:
    StepKind kind
    int index

# The C arguments of one function.
cdef struct Plan:
    int number
    int count
    Step *steps

# Smallest and largest value of the integer types in the header.
cdef dict INTEGER_TYPES = {
    "int": (-2**31, 2**31 - 1),
    "int32_t": (-2**31, 2**31 - 1),
    "int64_t": (-2**63, 2**63 - 1),
    "uint32_t": (0, 2**32 - 1),
    "uint64_t": (0, 2**64 - 1),
    "size_t": (0, 2**64 - 1),
}
cdef dict RELATIONS = {
    "divides": RELATION_DIVIDES,
    "==": RELATION_EQUAL,
    "!=": RELATION_UNEQUAL,
    "<": RELATION_LESS,
    "<=": RELATION_LESS_EQUAL,
    ">": RELATION_GREATER,
    ">=": RELATION_GREATER_EQUAL,
    "in": RELATION_IN,
}


cdef void *zeroed_memory(size_t count, size_t size) except NULL:
    """Return memory of zeros for the life of an operator."""
    cdef void *memory = calloc(max(count, <size_t>1), size)
    if memory == NULL:
        raise MemoryError()
    return memory


cdef class Schema:
    """What is known of one C function and its arguments; the base of `Operator`."""

    cdef readonly str name
    cdef readonly str function
    cdef readonly str workspace
    cdef readonly tuple tensors
    cdef readonly tuple scalars
    cdef list symbols
    cdef list choices  # for each scalar a dict of what it may be, or None
    cdef list settings  # the types of the settings descriptors, in the order of the C function
    cdef TensorSpec *specs
    cdef ScalarSpec *scalar_specs
    cdef int tensor_count
    cdef int scalar_count
    cdef int symbol_count
    cdef int settings_count
    cdef int output_count
    cdef bint fills_zeros  # an output has `zero_if`
    cdef Plan plan
    cdef Plan workspace_plan
    cdef readonly object too_large

    def __cinit__(self, str function not None, str name not None, tuple tensors not None, tuple scalars=(), *,
                  str workspace=None, too_large=errors.NotSupportedError):
        cdef int i
        self.name, self.function, self.workspace = name, function, workspace
        self.tensors, self.scalars, self.symbols, self.too_large = tensors, scalars, [], too_large
        self.settings = [kind for kind, _ in _FUNCTIONS[function][2] if is_settings(kind)]
        self.settings_count = len(self.settings)
        self.specs = <TensorSpec *>zeroed_memory(len(tensors), sizeof(TensorSpec))
        self.scalar_specs = <ScalarSpec *>zeroed_memory(len(scalars), sizeof(ScalarSpec))
        self.scalar_count, self.choices = len(scalars), []
        for i in range(self.scalar_count):
            self.read_scalar(&self.scalar_specs[i], scalars[i])
        self.tensor_count = len(tensors)
        for i in range(self.tensor_count):
            self.read_tensor(&self.specs[i], i, tensors[i])
            self.output_count += self.specs[i].output
            self.fills_zeros = self.fills_zeros or self.specs[i].zero_count > 0
        for i in range(self.tensor_count):
            self.specs[i].at = [tensor.name for tensor in tensors].index(tensors[i].at) if tensors[i].at else -1
        self.read_parameters(&self.plan, function)
        if workspace is not None:
            self.read_parameters(&self.workspace_plan, workspace)

    def __dealloc__(self):
        cdef int i
        for i in range(self.tensor_count):
            free(self.specs[i].rules)
            free(self.specs[i].pairs)
        free(self.specs)
        free(self.scalar_specs)
        free(self.plan.steps)
        free(self.workspace_plan.steps)

    @property
    def scalar_types(self):
        """What each scalar is to Python: ``"int"``, ``"float"`` or ``"bool"``. One of several choices is an int."""
        names = {KIND_FLOAT: "float", KIND_DOUBLE: "float", KIND_BOOL: "bool"}
        return tuple([names.get(self.scalar_specs[i].kind, "int") for i in range(self.scalar_count)])

    cdef int symbol(self, str name) except -1:
        if name not in self.symbols:
            assert name.isidentifier(), f"{self.name}: {name}"
            self.symbols.append(name)
        self.symbol_count = len(self.symbols)
        return self.symbols.index(name)

    cdef int read_scalar(self, ScalarSpec *spec, object scalar) except -1:
        """Find out what a scalar is by the type of its C parameter."""
        found = [kind for function in (self.function, self.workspace) if function is not None
                 for kind, name in _FUNCTIONS[function][2] if name == scalar.c_name]
        kind = found[0] if found else "int"
        spec.symbol, spec.passed = -1, scalar.passed or 0
        self.choices.append({**scalar.choices, **{number: number for number in scalar.choices.values()}})
        spec.above, spec.infinite, spec.nan = scalar.above, scalar.infinite, scalar.nan
        if scalar.choices:
            spec.kind = KIND_CHOICE
        elif kind == "bool":
            spec.kind = KIND_BOOL
        elif kind in ("float", "double"):
            spec.kind = KIND_FLOAT if kind == "float" else KIND_DOUBLE
            spec.low = float("-inf") if scalar.minimum is None else scalar.minimum
            spec.high = float("inf") if scalar.maximum is None else scalar.maximum
        else:
            assert kind in INTEGER_TYPES, f"{self.name}: {scalar.name}: {kind} needs choices"
            least, most = INTEGER_TYPES[kind]
            minimum = 1 if scalar.minimum is None else scalar.minimum
            maximum = most if scalar.maximum is None else scalar.maximum
            assert least <= minimum <= maximum <= most, f"{self.name}: {scalar.name}"
            if maximum > 2**63 - 1:
                spec.kind, spec.minimum, spec.maximum = KIND_UNSIGNED, minimum, 2**63 - 1
            else:
                spec.kind, spec.minimum, spec.maximum = KIND_INTEGER, minimum, maximum
                if minimum >= 0:
                    spec.symbol = self.symbol(scalar.symbol or scalar.name)
        assert not spec.passed or spec.kind == KIND_INTEGER, f"{self.name}: {scalar.name}"
        return 0

    cdef int read_tensor(self, TensorSpec *spec, int index, object tensor) except -1:
        cdef int i
        terms, positive, zero_if = tensor.shape.split(), tensor.positive.split(), tensor.zero_if.split()
        assert len(terms) <= MAX_DIMS and len(positive) <= MAX_DIMS and len(zero_if) <= MAX_DIMS, self.name
        assert len(tensor.within) in (0, 1, 2, 4), self.name
        spec.ndim, spec.layout, spec.output = len(terms), int(tensor.layout), tensor.output or tensor.in_place
        spec.in_place, spec.zeroed, spec.any_size = tensor.in_place, tensor.zeroed, tensor.any_size
        spec.own_memory, spec.any_dims, spec.stretched = tensor.own_memory, tensor.any_dims, tensor.stretched
        spec.optional = tensor.optional or tensor.given_with != ""
        spec.given_with = self.earlier(index, tensor.given_with) if tensor.given_with else -1
        for i in range(spec.ndim):
            self.read_term(&spec.terms[i], terms[i])
        assert not spec.any_dims or spec.ndim == 1 and spec.terms[0].alone >= 0, self.name
        self.read_dtype(spec, index, tensor.dtype)
        spec.positive_count, spec.column_count = len(positive), len(tensor.within)
        for i in range(spec.positive_count):
            spec.positive[i] = self.symbol(positive[i])
        for i in range(spec.column_count):
            spec.columns[i] = self.symbol(tensor.within[i])
        spec.lengths = -1
        spec.counted = self.symbol(tensor.counts) if tensor.counts else -1
        if tensor.spans:
            lengths, end = tensor.spans.split()
            spec.lengths, spec.span = self.earlier(index, lengths), self.symbol(end)
        spec.zero_count = len(zero_if)
        for i in range(spec.zero_count):
            spec.zero_if[i] = self.symbol(zero_if[i])
        spec.library_looks = tensor.library_looks
        spec.rules = <Rule *>zeroed_memory(len(tensor.rules), sizeof(Rule))
        spec.rule_count = len(tensor.rules)
        for i in range(spec.rule_count):
            self.read_rule(&spec.rules[i], tensor.rules[i])
        return 0

    cdef int earlier(self, int index, str name) except -1:
        """Return the number of an array argument that stands before another one."""
        found = [tensor.name for tensor in self.tensors].index(name)
        assert found < index, f"{self.name}: {name}"
        return found

    cdef int read_dtype(self, TensorSpec *spec, int index, object dtype) except -1:
        spec.like = -1
        if isinstance(dtype, tuple):
            spec.first_dtype = int(dtype[0])
            for data_type in dtype:
                spec.dtypes |= <uint32_t>1 << <int>data_type
            return 0
        spec.paired = not isinstance(dtype, str)
        spec.like = self.earlier(index, dtype.other if spec.paired else dtype)
        assert not self.specs[spec.like].optional or self.specs[index].given_with == spec.like, self.name
        if spec.paired:
            spec.pairs = <uint32_t *>zeroed_memory(32, sizeof(uint32_t))
            for first, second in dtype.allowed:
                spec.pairs[<int>first] |= <uint32_t>1 << <int>second
        return 0

    cdef int read_term(self, Term *term, str text) except -1:
        product, plus, addend = text.partition("+")
        term.coefficient, term.addend = 1, int(addend) if plus else 0
        for factor in product.split("*"):
            if factor.isdigit():
                term.coefficient *= int(factor)
            else:
                assert term.factor_count < MAX_FACTORS, text
                term.factors[term.factor_count] = self.symbol(factor)
                term.factor_count += 1
        simple = term.factor_count == 1 and term.coefficient == 1 and term.addend == 0
        term.alone = term.factors[0] if simple else -1
        return 0

    cdef int read_rule(self, Rule *rule, str text) except -1:
        cdef int i
        left, relation, *right = text.split()
        rule.relation = RELATIONS[relation]
        self.read_term(&rule.left, left)
        if rule.relation == RELATION_IN:
            assert 0 < len(right) <= MAX_CHOICES, text
            rule.choice_count = len(right)
            for i in range(rule.choice_count):
                rule.choices[i] = int(right[i])
        else:
            assert len(right) == 1, text
            self.read_term(&rule.right, right[0])
        return 0

    cdef int read_parameters(self, Plan *plan, str function) except -1:
        """Find out, by the names in the header, which argument goes to which C parameter."""
        cdef int i, index
        cdef bint described
        number, returns, parameters = _FUNCTIONS[function]
        assert returns == "mluOpStatus_t", function
        plan.steps = <Step *>zeroed_memory(len(parameters), sizeof(Step))
        plan.number, plan.count = number, len(parameters)
        tensors = [tensor.parameter or tensor.name for tensor in self.tensors]
        scalars = [scalar.c_name for scalar in self.scalars]
        for i in range(plan.count):
            kind, name = parameters[i]
            if kind == "mluOpHandle_t":
                plan.steps[i].kind = STEP_HANDLE
            elif kind == "mluOpTensorDescriptor_t":
                plan.steps[i] = Step(STEP_DESCRIPTOR, tensors.index(name.removesuffix("_desc")))
            elif is_settings(kind):
                plan.steps[i] = Step(STEP_SETTINGS, self.settings.index(kind))
            elif name == "workspace":
                plan.steps[i].kind = STEP_WORKSPACE
            elif kind == "size_t *" or name == "workspace_size":
                plan.steps[i].kind = STEP_WORKSPACE_SIZE
            elif "*" in kind:
                # The data of a descriptor stands beside it, in some functions with another name; an
                # array without a descriptor may stand there as well.
                described = i > 0 and plan.steps[i - 1].kind == STEP_DESCRIPTOR
                if described and name in tensors:
                    described = tensors.index(name) == plan.steps[i - 1].index
                index = plan.steps[i - 1].index if described else tensors.index(name)
                plan.steps[i] = Step(STEP_DATA, index)
                self.specs[index].on_host = not described
            elif name in scalars:
                plan.steps[i] = Step(STEP_SCALAR, scalars.index(name))
            else:
                assert kind in INTEGER_TYPES, f"{function}: {kind} {name}"
                plan.steps[i] = Step(STEP_SYMBOL, self.symbols.index(name))
        return 0


cdef bint is_settings(str kind):
    """Tell whether a type is that of a descriptor that carries settings."""
    return kind.startswith("mluOp") and kind.endswith("Descriptor_t") and kind != "mluOpTensorDescriptor_t"


cdef int term_value(const Term *term, const int64_t *values, int64_t *known) noexcept nogil:
    """Multiply what is known of a term, and return the symbol that is not; -1 if all is known."""
    cdef int i, unknown = -1
    known[0] = term.coefficient
    for i in range(term.factor_count):
        if values[term.factors[i]] < 0:
            unknown = term.factors[i]
        else:
            known[0] = saturated_product(known[0], values[term.factors[i]])
    if unknown < 0 and known[0] <= COUNT_LIMIT:
        known[0] += term.addend
    return unknown


cdef bint rule_holds(const Rule *rule, const int64_t *values) noexcept nogil:
    cdef int64_t left = 0, right = 0
    cdef int i
    term_value(&rule.left, values, &left)
    if rule.relation == RELATION_IN:
        for i in range(rule.choice_count):
            if left == rule.choices[i]:
                return True
        return False
    term_value(&rule.right, values, &right)
    if rule.relation == RELATION_DIVIDES:
        return left != 0 and right % left == 0
    if rule.relation == RELATION_EQUAL:
        return left == right
    if rule.relation == RELATION_UNEQUAL:
        return left != right
    if rule.relation == RELATION_LESS:
        return left < right
    if rule.relation == RELATION_LESS_EQUAL:
        return left <= right
    if rule.relation == RELATION_GREATER:
        return left > right
    return left >= right
