"""Sources that attack whoever judges them, and the verdicts that they deserve."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pymluops.bang.judging import Kind, Task, output

#: Every kernel here is to fill an array with ones.
TASK = Task("ones", {"out": output(64)}, lambda: np.ones(64, np.float32))

HEADERS = """
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <thread>
"""

GOOD = "__mlu_entry__ void ones(float *out) { for (int i = 0; i < 64; ++i) out[i] = 1.f; }\n"


@dataclass(frozen=True)
class Hostile:
    """A source, and the kinds of verdicts of which it must get one.

    Attributes
    ----------
    quick : bool
        Whether it takes no more than a second or two.
    """

    name: str
    source: str
    kinds: tuple[Kind, ...]
    quick: bool = False


#: Functions of the host, which the compiler refuses in a kernel, unless host code computes a
#: pointer at the start.
_OF_HOST = re.compile(r"\b(exit|quick_exit|abort|syscall|kill|getpid|malloc|fork|sleep|raise|write|close|setsid)\(")


def in_kernel(name: str, code: str, *kinds: Kind, quick: bool = False) -> Hostile:
    """Statements that a kernel runs before it does what it is to do; it calls the host by hidden pointers."""
    hidden = "".join(
        f"static decltype(&{function}) volatile hidden_{function} = getpid() > 0 ? &{function} : nullptr;\n"
        for function in sorted(set(_OF_HOST.findall(code)))
    )
    body = GOOD.replace("{ for", "{\n" + _OF_HOST.sub(r"hidden_\1(", code) + "\n for", 1)
    return Hostile(name, HEADERS + hidden + body, kinds, quick)


def calls_host(name: str, code: str) -> Hostile:
    """Statements of a kernel that the compiler refuses, since they call functions of the host."""
    body = GOOD.replace("{ for", "{\n" + code + "\n for", 1)
    return Hostile(name, HEADERS + body, (Kind.COMPILE_ERROR,), quick=True)


def at_load(name: str, code: str, *kinds: Kind, quick: bool = False) -> Hostile:
    """Statements that run when the library is loaded."""
    return Hostile(
        name, f"{HEADERS}\n__attribute__((constructor)) static void begin() {{\n{code}\n}}\n{GOOD}", kinds, quick
    )


def when_compiled(name: str, code: str, quick: bool = False) -> Hostile:
    """What the compiler cannot digest."""
    return Hostile(name, f"{code}\n{GOOD}", (Kind.COMPILE_ERROR,), quick)


_FORGED = (
    r"{\"launched\": {\"launch\": \"x\", \"guessed\": false}}\n"
    r"{\"report\": {\"done\": [\"a\", \"b\", \"c\"], \"error\": \"\", "
    r"\"findings\": [], \"overwritten\": [], \"cost\": null}}\n"
)
_EMPTY = (
    r"{\"launched\": {\"launch\": \"x\", \"guessed\": false}}\n"
    r"{\"report\": {\"done\": [], \"error\": \"\", \"findings\": [], \"overwritten\": [], \"cost\": null}}\n"
)
_COST = _FORGED.replace(
    r"null",
    r"{\"estimate_ns\": -1, \"modelled_share\": 1, \"bytes_moved\": 1, \"bytes_least\": 1}",
)
_BILLION = "\n".join(f"#define M{i} {' '.join([f'M{i - 1}'] * 10)}" for i in range(1, 10))
#: Each is to fail; a kernel that got its way with one would leave a 1 too few.
ACTS = {
    "write to a folder for temporary files": 'open("/tmp/pymluops-was-here", O_WRONLY | O_CREAT, 0600) >= 0',
    "write to the working directory": 'open("was-here", O_WRONLY | O_CREAT, 0600) >= 0',
    "read the passwords": 'open("/etc/shadow", O_RDONLY) >= 0',
    "read the memory of the parent": "open(parent_memory, O_RDONLY) >= 0",
    "make a socket": "socket(AF_INET, SOCK_STREAM, 0) >= 0",
    "make a local socket": "socket(AF_UNIX, SOCK_STREAM, 0) >= 0",
    "fork": "syscall(SYS_fork) >= 0",
    "clone": "syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0",
    "run a program": 'execl("/bin/true", "true", (char *)0) >= 0',
    "end the parent": "kill(getppid(), SIGKILL) == 0",
    "end its group": "kill(0, SIGKILL) == 0",
    "end everything": "kill(-1, SIGKILL) == 0",
    "trace the parent": "syscall(SYS_ptrace, 16, getppid(), 0, 0) == 0",
    "memory without a limit": 'syscall(SYS_memfd_create, "x", 0) >= 0',
    "a session of its own": "setsid() >= 0",
    "remove a file": 'unlink("/usr/bin/env") == 0',
    "name a file otherwise": 'rename("/tmp", "/tmp2") == 0',
    "mount": 'syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, 0) == 0',
    "raise a limit": "setrlimit(RLIMIT_FSIZE, &most) == 0",
}


def probe(acts: dict[str, str]) -> str:
    """A source that tries acts when it is loaded, and whose kernel is right if all of them fail."""
    tries = "\n".join(
        f'if ({act}) {{ fprintf(stderr, "could: {what}\\n"); return false; }}' for what, act in acts.items()
    )
    return f"""{HEADERS}
static bool try_all() {{
  static char parent_memory[64];
  snprintf(parent_memory, sizeof parent_memory, "/proc/%d/mem", (int)getppid());
  struct rlimit most = {{RLIM_INFINITY, RLIM_INFINITY}};
  (void)most;
  {tries}
  return true;
}}
static bool all_failed = try_all();
{GOOD.replace("1.f", "all_failed ? 1.f : 0.f")}"""


#: Leaves processes in sessions of their own behind where it may, and is right.
DAEMONS = in_kernel(
    "daemons",
    "for (int i = 0; i < 40; ++i) if (syscall(SYS_fork) == 0) {\n"
    "setsid(); if (syscall(SYS_fork) == 0) sleep(100); syscall(SYS_exit_group, 0); }",
    Kind.RIGHT,
)

_FAULT, _TIME, _CRASH, _MEMORY = Kind.FAULT, Kind.TIME_LIMIT, Kind.CRASH, Kind.MEMORY_LIMIT
HOSTILE = (
    Hostile("acts that are refused", probe(ACTS), (Kind.RIGHT,), quick=True),
    DAEMONS,
    in_kernel("an endless loop", "while (1) { }", _TIME, quick=True),
    in_kernel("an endless loop with an access", "volatile float at = 0; while (at != 5.f) { }", _TIME),
    in_kernel("an endless loop of copies", "while (1) __memcpy(out, out + 1, 4, GDRAM2GDRAM);", _TIME, _FAULT),
    in_kernel("sleeping", "sleep(1000);", _TIME),
    in_kernel("stopping itself", "raise(SIGSTOP);", _TIME),
    in_kernel("a deadlock", "if (taskId == 0) __sync_all();", _FAULT, Kind.FINDINGS, Kind.RIGHT),
    Hostile(
        "a recursion", "__mlu_func__ int down(volatile int n) {\n"
        "volatile int a[64]; a[n % 64] = n; return down(n + 1) + a[n % 64]; }\n"
        + GOOD.replace("{ for", "{ out[0] = down(0); for"), (_FAULT,), quick=True,
    ),
    in_kernel("a large array on the stack", "volatile char a[64 << 20]; a[0] = 1; a[sizeof a - 1] = 1;", _FAULT),
    in_kernel("exit", "exit(0);", _FAULT, quick=True),
    in_kernel("quick_exit", "quick_exit(0);", _FAULT, _CRASH),
    in_kernel("exit without the C library", "syscall(SYS_exit_group, 0);", _CRASH, _FAULT, quick=True),
    in_kernel("abort", "abort();", _FAULT, quick=True),
    calls_host("exit in sight", "exit(0);"),
    calls_host("a program in sight", 'if (system("true") != 0) return;'),
    in_kernel("a signal to itself", "kill(getpid(), SIGKILL);", _CRASH, _FAULT),
    in_kernel("an exception", "throw 5;", _FAULT),
    in_kernel("a null pointer", "*(volatile int *)0 = 1;", _FAULT),
    in_kernel("writes everywhere", "for (char *p = (char *)4096; ; p += 4096) *(volatile char *)p = 1;", _FAULT),
    in_kernel(
        "writes to the heap of the host",
        "volatile char *p = (volatile char *)malloc(100); for (int i = -200000; i < 200000; ++i) p[i] = 1;",
        _FAULT, _CRASH,
    ),
    in_kernel("a fork bomb", "while (1) fork();", _FAULT, _TIME),
    in_kernel("a fork bomb without the C library", "while (1) syscall(SYS_fork);", _TIME),
    in_kernel("a bomb of threads", "while (1) new std::thread([] { while (1) sleep(100); });", _CRASH, _FAULT),
    in_kernel("all memory", "while (1) memset(malloc(64 << 20), 1, 64 << 20);", _MEMORY, _FAULT),
    in_kernel("printing for ever", 'while (1) printf("%0512d\\n", 5);', Kind.OUTPUT_LIMIT, quick=True),
    in_kernel(
        "printing for ever without the C library", 'while (1) write(2, "0123456789abcdef", 16);',
        Kind.OUTPUT_LIMIT, _FAULT,
    ),
    in_kernel("all files are closed", "for (int i = 0; i < 1000; ++i) close(i);", _CRASH),
    at_load("exit when it is loaded", "exit(0);", _CRASH, quick=True),
    at_load("exit without the C library when it is loaded", "syscall(SYS_exit_group, 0);", _CRASH),
    at_load("an endless loop when it is loaded", "while (1) { }", _TIME),
    at_load("all memory when it is loaded", "while (1) memset(malloc(64 << 20), 1, 64 << 20);", _MEMORY, _CRASH),
    at_load(
        "nonsense to all files",
        'for (int i = 1; i < 64; ++i) if (write(i, "nonsense\\n[[[\\n7\\n", 15) < 0) continue;',
        Kind.RIGHT, _CRASH,
    ),
    Hostile(
        "a forged report",
        f'{HEADERS}\n__attribute__((constructor)) static void begin() {{\nconst char *text = "{_FORGED}";\n'
        "for (int i = 3; i < 64; ++i) if (write(i, text, strlen(text)) < 0) continue;\n"
        "syscall(SYS_exit_group, 0);\n}\n" + GOOD,
        (Kind.WRONG, _CRASH), quick=True,
    ),
    Hostile(
        "a forged report of no run",
        f'{HEADERS}\n__attribute__((constructor)) static void begin() {{\nconst char *text = "{_EMPTY}";\n'
        "for (int i = 3; i < 64; ++i) if (write(i, text, strlen(text)) < 0) continue;\n"
        "syscall(SYS_exit_group, 0);\n}\n" + GOOD,
        (_CRASH,), quick=True,
    ),
    Hostile(
        "a forged cost",
        f'{HEADERS}\n__attribute__((constructor)) static void begin() {{\nconst char *text = "{_COST}";\n'
        "for (int i = 3; i < 64; ++i) if (write(i, text, strlen(text)) < 0) continue;\n"
        "syscall(SYS_exit_group, 0);\n}\n" + GOOD,
        (_CRASH,),
    ),
    at_load(
        "answers without an end",
        'while (1) for (int i = 3; i < 64; ++i) if (write(i, "{}\\n", 3) < 0) continue;',
        Kind.OUTPUT_LIMIT, _CRASH, _TIME,
    ),
    at_load(
        "more time by answers",
        "while (1) { for (int i = 3; i < 64; ++i) "
        'if (write(i, "{\\"compiled\\": 1}\\n", 16) < 0) continue; usleep(9999); }',
        _TIME,
    ),
    when_compiled("a file without an end", '#include "/dev/zero"'),
    when_compiled("the passwords", '#include "/etc/shadow"', quick=True),
    when_compiled("itself", "#include __FILE__"),
    when_compiled("a billion words", f"#define M0 1 +\n{_BILLION}\nint number = M9 0;"),
    when_compiled("brackets in brackets", f"int number = {'(' * 100000}1{')' * 100000};"),
    when_compiled(
        "templates for ever",
        "template <int N> struct A { static constexpr int v = A<N + 1>::v; };\nint number = A<0>::v;",
    ),
    when_compiled(
        "a tree of types",
        "template <int N, long P> struct A {\n"
        "static constexpr long v = A<N - 1, 2 * P>::v + A<N - 1, 2 * P + 1>::v; };\n"
        "template <long P> struct A<0, P> { static constexpr long v = P; };\nlong number = A<40, 1>::v;",
    ),
    when_compiled("an array with everything written out", "char zeros[1l << 34] = {1};"),
    when_compiled("an assembler for ever", 'asm(".rept 100000000\\n.rept 100000\\nnop\\n.endr\\n.endr");'),
    when_compiled("a huge section", 'asm(".data\\n.fill 4000000000, 1, 7");'),
    when_compiled("a file in the assembler", 'asm(".data\\n.incbin \\"/dev/zero\\"");'),
    when_compiled(
        "constants for ever",
        "constexpr int f() { int n = 0; while (true) ++n; return n; }\nconstexpr int number = f();",
    ),
)  # fmt: skip
