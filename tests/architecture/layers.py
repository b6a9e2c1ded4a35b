# SPDX-License-Identifier: BSD-3-Clause
# The architecture as data: the modules, the headers each may include, the files that may read a clock.
COMMON = [
    "common/units", "common/parallel", "common/time", "common/wire", "common/protocols",
    "common/config", "common/dpdk", "common/metrics", "common/report", "common/program",
]

# Module -> modules whose headers it may include, besides its own.
MAY_INCLUDE = {
    "common/units": [],
    "common/parallel": [],
    "common/time": ["common/units"],
    "common/wire": ["common/units"],
    "common/protocols": ["common/units", "common/time", "common/wire"],
    "common/config": ["common/units", "common/parallel", "common/protocols"],
    "common/dpdk": ["common/units"],
    "common/metrics": ["common/units"],
    "common/report": ["common/units", "common/parallel", "common/metrics"],
    "common/program": ["common/units", "common/config", "common/dpdk", "common/metrics"],
    "router": COMMON,
    "sender": COMMON,
    "router/gateway": COMMON + ["router", "sender"],
    "router/program": COMMON + ["router", "sender", "router/gateway"],
    "operator": COMMON,
    "lab": COMMON + ["router", "sender", "router/gateway", "operator"],
    "bench": COMMON + ["router", "sender", "router/gateway", "operator", "lab"],
    "tests": COMMON + ["router", "sender", "router/gateway", "operator", "lab", "bench"],
}

# Folders of C++ code at the root, and those of them that users get.
FOLDERS = list(dict.fromkeys(module.split("/")[0] for module in MAY_INCLUDE))
PRODUCT = [folder for folder in FOLDERS if folder not in ("bench", "tests")]

# The header with which to begin to read a module: it has an example, which tests/docs compiles.
MAIN_HEADERS = [
    "common/units/units.h", "common/parallel/threads.h", "common/time/timer_wheel.h", "common/wire/turnpike_header.h",
    "common/protocols/registry.h", "common/config/load.h", "common/dpdk/port.h", "common/metrics/prometheus.h",
    "common/report/chart.h", "common/program/idle_sleeper.h", "router/router.h",
    "router/linux/kernel_reader.h", "sender/sender.h", "router/gateway/gateway.h", "operator/client.h",
    "lab/simulator/world.h",
]

# Unit tests (*_test.cpp) of every module may also include this.
TEST_SUPPORT = "tests/support"

# Modules that build without DPDK: laws, and all that a build without DPDK runs under sanitizers and fuzzers.
WITHOUT_DPDK = ["common/units", "common/parallel", "common/time", "common/wire", "common/protocols",
                "common/config", "common/metrics", "common/report"]

# Time and random seeds are arguments; only these files may read a clock.
MAINS = "/program/"  # folders of code that only mains use
MAY_READ_CLOCK = {
    "common/time/clock.h": "the real clock itself",
    "common/time/clock_test.cpp": "compares it with the system's",
    "bench/scaling_bench.cpp": "lets lcores forward for a given time",
    "bench/measure.h": "counts cycles",
    "bench/expiring_sum_bench.cpp": "fills a window of real time: rte_timer has no other clock",
    "bench/rte_timer_bench.cpp": "separates polls that fire a timer from those that do not",
    "bench/route_changes.h": "measures changes a second, and CPU time",
    "bench/sender_bench.cpp": "paces by the real clock",
    "router/reload/history_test.cpp": "kills a process at a random moment",
    "common/dpdk/port_test.cpp": "waits for two ends of a memif to find each other",
    "router/linux/punt_thread.cpp": "sleeps while frames have no room; no lcore, and not on a virtual clock",
    "router/linux/punt_thread_test.cpp": "waits for the punt thread and for the kernel",
}

MEDIAN_LINES = 150  # of all source files, at most
LONG_FILE = 350     # lines; few files may be longer
FEW = 0.03          # of all source files
