"""Filters of system calls by seccomp, on Linux on x86-64, without any library.

A filter stays until the process ends, and whatever it starts has it too. A call that is refused
fails with an error, as on a system that forbids it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable

__all__ = ["COMPILING", "RUNNING", "is_available", "restrict"]

_PR_SET_NO_NEW_PRIVS, _PR_GET_SECCOMP, _PR_SET_SECCOMP, _MODE_FILTER = 38, 21, 22, 2
_AUDIT_ARCH_X86_64 = 0xC000003E
#: From this number on, calls are those of the x32 ABI.
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
#: Flags of ``open`` that let a file be written, made or cut.
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Where the parts of ``struct seccomp_data`` stand; of an argument the lower half.
_AT_NUMBER, _AT_ARCH, _AT_ARGUMENTS = 0, 4, 16

#: The network, and other ways to reach other processes.
_NETWORK = {
    "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "sendmsg": 46, "bind": 49, "listen": 50,
    "socketpair": 53, "accept4": 288, "sendmmsg": 307, "mq_open": 240, "mq_unlink": 241, "msgget": 68, "semget": 64,
    "shmget": 29, "shmat": 30, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
}  # fmt: skip
#: What no compiler and no kernel needs, and what has holes in the kernel of the system more often
#: than other calls.
_PRIVILEGED = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440, "kcmp": 312,
    "pidfd_getfd": 438, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249,
    "keyctl": 250, "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "syslog": 103,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "personality": 135, "uselib": 134, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "fanotify_init": 300, "vmsplice": 278, "mknod": 133, "mknodat": 259,
    "pidfd_send_signal": 424, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
}  # fmt: skip
#: Other programs and processes, and memory that no limit of the process counts.
_PROCESSES = {
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "setsid": 112, "setpgid": 109, "tkill": 200,
    "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setparam": 142, "sched_setattr": 314,
    "setpriority": 141, "memfd_create": 319, "memfd_secret": 447, "pidfd_open": 434,
}  # fmt: skip
#: Changes of files and folders by their names.
_FILES = {
    "creat": 85, "truncate": 76, "rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258,
    "rmdir": 84, "unlink": 87, "unlinkat": 263, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266,
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
    "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
}  # fmt: skip
_CLONE, _CLONE3, _OPEN, _OPENAT, _OPENAT2, _KILL_CALL, _TGKILL, _PRLIMIT, _PRCTL = (
    56,
    435,
    2,
    257,
    437,
    62,
    234,
    302,
    157,
)
_PR_SET_PDEATHSIG = 1

#: What is refused while a source is compiled, and while its kernel runs.
COMPILING = frozenset({*_NETWORK.values(), *_PRIVILEGED.values()})
RUNNING = COMPILING | {*_PROCESSES.values(), *_FILES.values()}


def is_available() -> bool:
    """Tell whether this system has such filters."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64" or sys.maxsize < 2**32:
        return False
    return int(ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def restrict(refused: Iterable[int], *, only_threads: bool) -> bool:
    """Refuse system calls to this process from now on; return whether the system has such filters.

    Parameters
    ----------
    refused : iterable of int
        The numbers of the calls, `COMPILING` or `RUNNING`.
    only_threads : bool
        Whether the process may make nothing but threads, signal only itself, and open files for
        reading only.

    Raises
    ------
    OSError
        If the system has filters, and does not take this one.
    """
    if not is_available():
        return False
    program = _head()
    for number in sorted(refused):
        program += _refusal_of(number, errno.EPERM)
    if only_threads:
        program += _of_running(os.getpid())
    program.append((_RETURN, 0, 0, _ALLOW))
    _install(b"".join(struct.pack("=HBBI", *instruction) for instruction in program), len(program))
    return True


_Instruction = tuple[int, int, int, int]


def _head() -> list[_Instruction]:
    """Return what ends a process that calls the system by another ABI, and loads the number of the call."""
    return [
        (_LOAD, 0, 0, _AT_ARCH),
        (_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _AT_NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]


def _refusal_of(number: int, error: int) -> list[_Instruction]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


def _of_running(process: int) -> list[_Instruction]:
    return [
        *_refusal_of(_CLONE3, errno.ENOSYS),  # its flags lie in memory; the C library then calls clone
        *_refusal_of(_OPENAT2, errno.ENOSYS),
        *_with_argument(_CLONE, 0, (_ANY_BIT, 1, 0, _CLONE_THREAD), errno.EPERM),
        *_with_argument(_OPEN, 1, (_ANY_BIT, 0, 1, _WRITES), errno.EACCES),
        *_with_argument(_OPENAT, 2, (_ANY_BIT, 0, 1, _WRITES), errno.EACCES),
        *_with_argument(_KILL_CALL, 0, (_EQUAL, 1, 0, process), errno.EPERM),
        *_with_argument(_TGKILL, 0, (_EQUAL, 1, 0, process), errno.EPERM),
        *_with_argument(_PRCTL, 0, (_EQUAL, 0, 1, _PR_SET_PDEATHSIG), errno.EPERM),  # it ends with its parent
        *_with_argument(_PRLIMIT, 0, (_EQUAL, 1, 0, 0), errno.EPERM),
    ]


def _with_argument(number: int, argument: int, test: _Instruction, error: int) -> list[_Instruction]:
    """Return the refusal of a call unless `test`, of one argument, jumps over it."""
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _AT_ARGUMENTS + 8 * argument),
        test,
        (_RETURN, 0, 0, _ERRNO | error),
        (_LOAD, 0, 0, _AT_NUMBER),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install(instructions: bytes, count: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    program = _Program(count, instructions)
    if (
        library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        or library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) != 0
    ):
        raise OSError(ctypes.get_errno(), "seccomp refuses a filter")
