"""Confining: run a program that cannot read any other process, not even the one that started it.

Run as a script, `python -I -S confining.py PROGRAM ARGUMENT…`, it gives up its rights and then becomes the program, so
the program's first code (`sitecustomize`, a `.pth` file) is already confined. On Linux it uses

- Landlock, with a domain of its own: no /proc/PID/environ, no /proc/PID/mem and no ptrace of any process outside the
  domain, whatever its user; from Linux 6.12 on, no signals to such a process either;
- no capabilities, and no way to gain any by executing a program, because capabilities bypass the other limits;
- a filter of system calls (seccomp): no child can leave the process group, so killing the group kills all of them.
  Unlike a PID namespace, this works for every user in a container;
- limits of memory and of core files.

The starting process protects itself with `keep_private`, which also works without Landlock, but for that process only.
Files are not protected: the program may read and write whatever its user may. Root's files give access to everything,
so a worker that runs as root is protected against prying and accidents, not against an attacker.
"""

import contextlib
import os
import resource
import struct
import sys
from typing import Any

MEMORY = 2 << 30  #: bytes of address space; a function that eats more gets a MemoryError, and not the machine

# linux/prctl.h, linux/capability.h, linux/landlock.h; the numbers of Landlock's calls are the same on all machines.
_SET_DUMPABLE, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 4, 24, 38, 47, 4
_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION_QUESTION = 1
_SCOPES_SINCE = 6  #: Landlock's version that knows scopes
_MAKE_BLOCK_DEVICE, _SCOPE_SIGNAL = 1 << 11, 1 << 1
# linux/seccomp.h, linux/filter.h, linux/audit.h
_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050001
_NUMBER_OF_CALL, _MACHINE = 0, 4  #: where they stand in what a filter sees
_OTHER_NUMBERS = 0x40000000  #: from here on x86-64 has all calls a second time
_FIRST_ARGUMENT = 16  #: where the lower half of it stands: all of these machines are little-endian
#: Machine → its number, and those of setsid, setpgid and prlimit there.
_CALLS = {
    "x86_64": (0xC000003E, 112, 109, 302),
    "aarch64": (0xC00000B7, 157, 154, 261),
    "riscv64": (0xC00000F3, 157, 154, 261),
}


def keep_private() -> bool:
    """Forbid other processes of this user to read our environment or memory; return whether the system supports it.

    It also disables core files, and debuggers that do not run as root. Root and CAP_SYS_PTRACE can still read.
    """
    libc = _libc()
    return libc is not None and libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0


def confine() -> None:
    """Give up, for good, every right to read another process, as far as the system supports it."""
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):  # not every system has both, or lets them be lowered
            resource.setrlimit(kind, (most, most))  # for good: a hard limit is not raised again
    libc = _libc()
    if libc is not None:
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _stay_in_group(libc)
        _enter_domain(libc)
        _drop_capabilities(libc)


def landlock_version() -> int:
    """Return the system's Landlock version, 0 or less without Landlock."""
    libc = _libc()
    if libc is None:
        return 0
    import ctypes

    return int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUESTION)))


def _libc() -> Any:
    """Return the C library on Linux; None if it cannot be called."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes
    except ImportError:  # some Pythons are built without
        return None
    return ctypes.CDLL(None)


def _stay_in_group(libc: Any) -> None:
    """Forbid this process and its children to begin a session, to change their process group, or another's limits.

    A limit of CPU time, set for the worker by whoever runs as its user, would end it.
    """
    import ctypes

    known = _CALLS.get(os.uname().machine)
    if known is None or sys.maxsize < 1 << 32:  # a 32-bit Python has the numbers of another machine
        return
    machine, *calls, prlimit = known
    deny = len(calls) + 4  # where that is, counted from the first comparison's next instruction
    rules = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER_OF_CALL)]
    rules.append((_AT_LEAST, deny, 0, _OTHER_NUMBERS))
    rules += [(_EQUAL, deny - 1 - at, 0, call) for at, call in enumerate(calls)]
    rules += [(_EQUAL, 0, 2, prlimit), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 1, 0)]  # of nobody but itself
    rules += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOT_PERMITTED)]
    code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
    program = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HP", len(rules), ctypes.addressof(program))
    libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.create_string_buffer(header, len(header)), 0, 0)


def _drop_capabilities(libc: Any) -> None:
    import ctypes

    for number in range(_CAPABILITIES):
        libc.prctl(_DROP_BOUNDING, number, 0, 0, 0)
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    libc.capset(header, none)


def _enter_domain(libc: Any) -> None:
    import ctypes

    version = landlock_version()
    if version < 1:
        return
    # A domain must forbid something: signals to other processes, or else making block devices, which no check needs.
    handled = [0, 0, _SCOPE_SIGNAL] if version >= _SCOPES_SINCE else [_MAKE_BLOCK_DEVICE]
    rules = (ctypes.c_uint64 * len(handled))(*handled)
    ruleset = libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(ctypes.sizeof(rules)), ctypes.c_uint32(0))
    if ruleset >= 0:
        libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
        os.close(ruleset)


if __name__ == "__main__":
    confine()
    os.execv(sys.argv[1], sys.argv[1:])
