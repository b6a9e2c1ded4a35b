# SPDX-License-Identifier: BSD-3-Clause
# Makes a thread of a running process execute a system call of ours, as code that an attacker brought in would: stops
# the thread by ptrace(2), points it at a `syscall` instruction of its libc, steps once and puts everything back.
import ctypes
import errno
import os
import signal

ATTACH, DETACH, STEP, GETREGS, SETREGS = 16, 17, 9, 12, 13
REGISTERS = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base "
             "ds es fs gs").split()
ARGUMENTS = ["rdi", "rsi", "rdx", "r10", "r8", "r9"]
WALL = 0x40000000  # waitpid() for threads
SYSCALL = b"\x0f\x05"


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in REGISTERS]


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread, data=None):
    if LIBC.ptrace(request, thread, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request} of {thread}")


def syscall_instruction(pid):
    """Address of a `syscall` instruction in the process's libc."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            if " r-xp " in line and "libc.so" in line:
                begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(begin)
                return begin + memory.read(end - begin).index(SYSCALL)
    raise RuntimeError("no libc")


class Thread:
    """A thread of `pid`, stopped while the object is entered."""

    def __init__(self, pid, thread):
        self.pid, self.thread = pid, thread
        self.at = syscall_instruction(pid)

    def __enter__(self):
        ptrace(ATTACH, self.thread)
        os.waitpid(self.thread, WALL)
        self.saved = Registers()
        ptrace(GETREGS, self.thread, ctypes.byref(self.saved))
        return self

    def __exit__(self, *_):
        try:
            ptrace(SETREGS, self.thread, ctypes.byref(self.saved))
            ptrace(DETACH, self.thread)
        except OSError:  # it was killed meanwhile, and stays as a zombie, with its process, until its end has been read
            os.waitpid(self.thread, WALL)
            raise

    def call(self, number, *arguments):
        """The result, or -errno."""
        regs = Registers.from_buffer_copy(self.saved)
        place = (self.saved.rsp - 65536) & ~0xfff  # below the stack in use
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            for name, value in zip(ARGUMENTS, [*arguments, *[0] * (6 - len(arguments))]):
                if isinstance(value, bytes):
                    memory.seek(place)
                    memory.write(value + bytes(8))
                    value, place = place, place + (len(value) + 23) // 8 * 8
                setattr(regs, name, value % 2**64)
        regs.rax, regs.orig_rax, regs.rip = number, 2**64 - 1, self.at
        ptrace(SETREGS, self.thread, ctypes.byref(regs))
        # Where a filter raises SIGSYS, its handler runs, step by step, and returns behind the instruction.
        deliver = 0
        for _ in range(10000):
            ptrace(STEP, self.thread, deliver)
            deliver = signal.SIGSYS if os.WSTOPSIG(os.waitpid(self.thread, WALL)[1]) == signal.SIGSYS else 0
            ptrace(GETREGS, self.thread, ctypes.byref(regs))
            if deliver == 0 and regs.rip == self.at + len(SYSCALL):
                return ctypes.c_longlong(regs.rax).value
        raise RuntimeError(f"system call {number} did not return")
