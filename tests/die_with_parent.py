# SPDX-License-Identifier: BSD-3-Clause
# Processes that must not outlive the script that starts them, however that ends.
import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_parent():
    """For a `preexec_fn`: the kernel kills the new process when the thread that started it ends. A script that ended
    before this call has left it to another parent."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != _parent:
        os.kill(os.getpid(), signal.SIGKILL)


_parent = os.getpid()
