#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The left kernel reaches the router through an AF_XDP socket on veth (net_af_xdp).
# Usage: xdp_test.py ROUTER
import ctypes
import platform
import socket
import sys

import cases
import gate

AF_XDP = 44


def kernel_refuses():
    """The reason why this kernel or these privileges allow no AF_XDP, or None."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        return f"no AF_XDP socket here: {error.strerror}"
    # Only the machine's own root may load a program: creating a map shows whether this is one.
    bpf = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    array_map = (ctypes.c_uint32 * 16)(2, 4, 4, 1)  # type array, key 4 B, value 4 B, one entry
    if libc.syscall(bpf, 0, ctypes.byref(array_map), ctypes.sizeof(array_map)) < 0:
        return f"no BPF here: errno {ctypes.get_errno()}"
    return None


def main():
    tap = gate.enter("ping", "iperf3")
    if why := kernel_refuses():
        tap.skip("AF_XDP", why)
        tap.finish()
    gate.build_kernels()
    topology = gate.TOPOLOGY.replace("af_packet: left", "af_xdp: left")
    router = gate.start_router(tap, sys.argv[1], topology)
    if router:
        for v in (4, 6):
            cases.ping(tap, f"ping the router through AF_XDP, IPv{v}", "left", gate.NEAR[v])
            cases.ping(tap, f"ping through the router, IPv{v}", "left", gate.RIGHT[v], 63)
        cases.tcp(tap, "TCP through AF_XDP", "left", "right", gate.RIGHT[4], cases.BESIDE_OTHERS, 50)
        gate.stop_router(tap, router)
    tap.finish()


if __name__ == "__main__":
    main()
