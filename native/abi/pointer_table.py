"""The table of function pointers behind Backend, which _core.pyx includes, and calls by function number."""

from __future__ import annotations

from header import Function, Header


def cython_table(header: Header) -> str:
    """Return the function pointer table, its loader and the call by number.

    The bodies are C, so the compiler checks every argument against the headers; Cython sees only
    their types.
    """
    pointers = "\n".join(f"      __typeof__(&{function.name}) {function.name};" for function in header.functions)
    names = "\n".join(f'      "{function.name}",' for function in header.functions)
    cases = "\n".join(
        f"        case {number}: return table->{function.name}({cast_arguments(header, function)});"
        for number, function in enumerate(header.functions)
        if function.returns == "mluOpStatus_t"
    )
    types = "\n".join(
        [f"    ctypedef int {enum.name}" for enum in header.enums]
        + [f"    ctypedef void *{name}" for name in header.opaque]
        + [f"    ctypedef struct {name}:\n        pass" for name in header.structs]
        + [f"    ctypedef {name} {alias}" for name, alias in header.aliases]
    )
    enumerators = "\n".join(f"        {member}" for enum in header.enums for member, _ in enum.members)
    includes = "\n".join(f'    #include "{path.name}"' for path in header.paths)
    members = "\n".join(f"        {_cython_pointer(function)}" for function in header.functions)
    listing = "\n".join(
        f'    "{function.name}": ({number}, "{function.returns}", ('
        + "".join(f'("{parameter.type}", "{parameter.name}"), ' for parameter in function.parameters)
        + ")),"
        for number, function in enumerate(header.functions)
    )
    return f'''# {header.banner}

cdef extern from *:
    """
    #include <dlfcn.h>
{includes}

    /* One pointer for every function of the headers, NULL where a library lacks it. */
    typedef struct {{
{pointers}
    }} FunctionTable;

    static const char *const mluops_names[] = {{
{names}
    }};

    /* One argument of a call by number. */
    typedef union {{
      void *pointer;
      int64_t integer;
      double real;
    }} Argument;

    /* Fills the table from a library that dlopen returned. */
    static void table_load(FunctionTable *table, void *library) {{
      void **slots = (void **)table;
      for (size_t i = 0; i < sizeof(mluops_names) / sizeof(mluops_names[0]); i++) {{
        slots[i] = dlsym(library, mluops_names[i]);
      }}
    }}

    /* The pointer with this number, NULL if the library lacks the function. */
    static void *table_function(const FunctionTable *table, int number) {{
      return ((void *const *)table)[number];
    }}

    /* Calls the function with this number, which must not be NULL and must return a status. */
    static mluOpStatus_t table_invoke(const FunctionTable *table, int number, const Argument *a) {{
      switch (number) {{
{cases}
        default: return MLUOP_STATUS_INTERNAL_ERROR;
      }}
    }}
    """
{types}

    enum:
{enumerators}

    ctypedef struct FunctionTable:
{members}

    ctypedef union Argument:
        void *pointer
        int64_t integer
        double real

    void table_load(FunctionTable *table, void *library) noexcept nogil
    void *table_function(const FunctionTable *table, int number) noexcept nogil
    int table_invoke(const FunctionTable *table, int number, const Argument *arguments) noexcept nogil

# Number, type returned and (type, name) of the parameters of every function.
_FUNCTIONS = {{
{listing}
}}
'''


def cast_arguments(header: Header, function: Function) -> str:
    """Return the arguments of a call, each taken out of the field of `a` that holds its kind."""
    casts = []
    for number, parameter in enumerate(function.parameters):
        if "*" in parameter.type or parameter.type in header.opaque:
            field = "pointer"
        else:
            field = "real" if parameter.type in ("float", "double") else "integer"
        casts.append(f"({parameter.type})a[{number}].{field}")
    return ", ".join(casts)


def _cython_pointer(function: Function) -> str:
    types = ", ".join(parameter.type for parameter in function.parameters)
    return f"{function.returns} (*{function.name})({types}) noexcept nogil"
