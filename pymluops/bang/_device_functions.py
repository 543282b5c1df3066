"""Functions that kernels may call: those of the simulator, of mathematics, and of the language itself.

The lists name what is allowed. A function of the libraries of the host that stands in none of them
is refused, whichever it is.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pymluops.bang._elf import CHOSEN, DYNSYM, FUNCTION, SYMTAB, Elf, is_elf

__all__ = ["COPIES", "Functions", "is_mathematics", "name_in_source", "reads_text"]

#: The names that mlusim/process.h gives functions that would end, copy or leave the process.
_RENAMED = re.compile(r"mlusim_(_?exit|_Exit|quick_exit|abort|fork|longjmp|pthread_exit)")
#: Functions for the host in the library of the simulator.
_OF_RUNTIME = re.compile(r"cnrt[A-Z]\w*|cn[A-Z]\w*|cnnl[A-Z]\w*|mlusim[A-Z]\w*|__bangRegisterFunction")
#: Copies, fills and comparisons, which compilers call of their own accord, with the number of their
#: pointers.
COPIES = {"memcpy": 2, "memmove": 2, "memset": 1, "memcmp": 2, "bcmp": 2}

#: Mathematical functions of numbers alone; those that store a second result have names of the
#: simulator.
_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim
    floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum fminimum_mag
    fminimum_mag_num fminimum_num fminmag fmod fromfp fromfpx gamma hypot ilogb ldexp lgamma llogb llrint llround log
    log10 log1p log2 logb lrint lround nearbyint nextafter nextdown nexttoward nextup pow pow10 powi remainder rint
    round roundeven scalb scalbln scalbn significand sin sinh sqrt tan tanh tgamma trunc ufromfp ufromfpx j0 j1 jn y0
    y1 yn iceil ifloor irint iround lceil lfloor llceil llfloor cabs cacos cacosh carg casin casinh catan catanh ccos
    ccosh cexp cexpi cimag clog clog10 conj cpow cproj creal csin csinh csqrt ctan ctanh isnan isinf finite isfinite
    isnormal isgreater isgreaterequal isless islessequal islessgreater isunordered iseqsig issignaling isinf_sign
    signbit fpclassify inf huge_val
"""
_MATH_SUFFIX = r"(?:[fl]|f16x?|f32x?|f64x?|f128x?|bf16|d32|d64|d128)?"
_MATHEMATICS = re.compile(rf"(?:__)?(?:{'|'.join(_MATH.split())}){_MATH_SUFFIX}|(?:l|ll|imax)?abs|(?:l|ll)?div")
#: Functions that compilers call for operations of the language: libgcc and the C++ runtime.
_OF_COMPILER = re.compile(
    r"__(?:add|sub|mul|u?div|u?mod|u?divmod|neg|ash[lr]|lshr|c[tl]z|ffs|parity|popcount|bswap|clrsb|u?cmp|eq|ne|lt|le"
    r"|gt|ge|unord|abs|float|floatun|floatbit\w*|fix|fixuns|extend|trunc|pow)[a-z]*v?[hsdtqxoe][a-z]*\d?"
    r"|_Unwind_\w+|__gxx_personality_v0|DW\.ref\.\w+|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__tls_get_addr"
    r"|__dso_handle|__gcov\w+"
    r"|__cxa_(?:allocate_exception|free_exception|throw|rethrow|begin_catch|end_catch|get_exception_ptr|guard_\w+"
    r"|current_exception_type|call_unexpected|call_terminate|bad_cast|bad_typeid|throw_bad_array_new_length"
    r"|pure_virtual|deleted_virtual|get_globals)"
    r"|__dynamic_cast|__clang_call_terminate|_ZT[IS]\w+|_ZTV\w+"
    # Memory, and exceptions.
    r"|_Zn[wa][jm]\w*|_Zd[la]Pv\w*|_ZSt9terminatev|_ZSt\d+__throw_\w+"
    r"|_ZNS[ta]?t?\d+(?:exception|bad_\w+|\w+_error|nested_exception)[CD]\d\w*|_ZNKSt\d+\w+4whatEv"
    r"|_ZNSt15__exception_ptr13exception_ptr\w+|_ZSt17(?:current|rethrow)_exception\w*|_ZSt18uncaught_exceptionv"
    r"|_ZNSt16nested_exceptionD\dEv"
    # The same of libc++.
    r"|_ZNSt13exception_ptr\w+|_ZNKSt16nested_exception14rethrow_nestedEv"
)
#: Constructors of exceptions, which read the text that they are given.
_READS_TEXT = re.compile(r"_ZNSt\d+\w+C\dEPKc")
#: Names that belong to the compiler and to libraries.
_RESERVED = re.compile(r"_[_A-Z].*")
#: C++ names of libraries: of `std`, of `__gnu_cxx` and of the runtime.
_OF_LIBRARY = re.compile(r"_Z(?:T[VTIS]|GV)?N?K?(?:S[tabsiod]|9__gnu_cxx|10__cxxabiv1|10__cxxabi)\w*")
#: Parts of the C library that are linked into every program and library.
_ARCHIVES = ("libc_nonshared.a", "libpthread_nonshared.a", "libstdc++_nonshared.a")
#: What they hold with the C library of GNU.
_IN_ARCHIVES = frozenset({"atexit", "at_quick_exit", "pthread_atfork"})
_LIBRARIES = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1")
_BUILTIN = "__builtin_"


def is_mathematics(name: str) -> bool:
    """Whether a function computes numbers from numbers."""
    return _MATHEMATICS.fullmatch(name.removeprefix(_BUILTIN)) is not None


def reads_text(name: str) -> bool:
    """Whether an allowed function reads a text behind a pointer, its last argument."""
    return _READS_TEXT.fullmatch(name) is not None


def name_in_source(name: str) -> str:
    """Return the name that a source calls a function by."""
    renamed = _RENAMED.fullmatch(name)
    return renamed[1] if renamed else name


@cache
def _exports(library: Path) -> frozenset[str]:
    """Return the symbols that a shared library defines."""
    data = library.read_bytes()
    if not is_elf(data):
        return frozenset()
    return frozenset(symbol.name for symbol in Elf(data).symbols(DYNSYM) if symbol.section)


@cache
def _c_library(compiler: tuple[str, ...]) -> frozenset[str]:
    """Return the functions of the C library of a compiler, or of this process if it has one of its own."""
    found = set[str]()
    for name in (*_LIBRARIES, *_ARCHIVES):
        asked = [*compiler, f"-print-file-name={name}"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
        path = Path(said)
        if path.is_absolute() and path.exists():
            found |= _functions(path.resolve())
    return _IN_ARCHIVES | (found or _of_process())


def _of_process() -> set[str]:
    maps = Path("/proc/self/maps")
    text = maps.read_text(errors="replace") if maps.exists() else ""
    paths = set(re.findall(r" (/\S*/(?:libc|libm|libpthread|libdl|ld-musl)[-.]\S*)$", text, re.MULTILINE))
    return {name for path in paths for name in _functions(Path(path))}


@cache
def _functions(library: Path) -> frozenset[str]:
    """Return the functions of a shared library, or of an archive of objects."""
    data = library.read_bytes()
    kind = DYNSYM if is_elf(data) else SYMTAB
    symbols = [symbol for part in _objects_in(data) for symbol in Elf(part).symbols(kind)]
    return frozenset(each.name for each in symbols if each.section and each.kind in (FUNCTION, CHOSEN))


def _objects_in(data: bytes) -> Iterator[bytes]:
    """Yield a file in ELF, or those of an archive."""
    if is_elf(data):
        yield data
    at = 8 if data.startswith(b"!<arch>\n") else len(data)
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        part = data[at + 60 : at + 60 + size]
        if is_elf(part):
            yield part
        at += 60 + size + size % 2


class Functions:
    """What is known of functions that a kernel calls and its source does not define.

    Parameters
    ----------
    simulator : Path
        The library of the simulator.
    compiler : sequence of str
        The command of the compiler.
    """

    def __init__(self, simulator: Path, compiler: Sequence[str]) -> None:
        self._of_simulator = _exports(simulator)
        self._compiler = tuple(compiler)

    def are_allowed(self, name: str) -> bool:
        """Whether kernels may call a function."""
        if name in self._of_simulator:
            return not _RENAMED.fullmatch(name) and not _OF_RUNTIME.fullmatch(name)
        return bool(is_mathematics(name) or _OF_COMPILER.fullmatch(name))

    def are_of_host(self, name: str) -> bool:
        """Whether a function belongs to a library of the host; one that is not known belongs to another source."""
        if self.are_allowed(name) or name in COPIES:
            return False
        if name in self._of_simulator or _RESERVED.fullmatch(name):
            return not name.startswith("_Z") or _OF_LIBRARY.fullmatch(name) is not None
        return bool(_OF_RUNTIME.fullmatch(name)) or name in _c_library(self._compiler)
