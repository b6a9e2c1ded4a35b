# SPDX-License-Identifier: BSD-3-Clause
# The plan of the house as data: the rooms, what each may include, and who may read a clock.
COMMON = [
    "common/units", "common/time", "common/wire", "common/protocols",
    "common/config", "common/dpdk", "common/metrics", "common/report", "common/program",
]

# Room -> rooms whose headers it may include, besides its own.
MAY_INCLUDE = {
    "common/units": [],
    "common/time": ["common/units"],
    "common/wire": ["common/units"],
    "common/protocols": ["common/units", "common/time", "common/wire"],
    "common/config": ["common/units", "common/protocols"],
    "common/dpdk": ["common/units"],
    "common/metrics": ["common/units"],
    "common/report": ["common/units", "common/metrics"],
    "common/program": ["common/units", "common/config", "common/dpdk", "common/metrics"],
    "router": COMMON,
    "sender": COMMON,
    "lab": COMMON + ["router", "sender"],
    "bench": COMMON + ["router", "sender", "lab"],
    "tests": COMMON + ["router", "sender", "lab", "bench"],
}

# Rooms that must build without DPDK: the laws, and what the sanitizers and fuzzers can build alone.
WITHOUT_DPDK = ["common/units", "common/time", "common/wire", "common/protocols",
                "common/config", "common/metrics", "common/report"]

# Time and chance come in as arguments; these few files are where they come from.
MAINS = "/program/"  # folders of what mains are made of
MAY_READ_CLOCK = {
    "common/time/clock.h": "the real clock itself",
    "common/time/clock_test.cpp": "holds it against the system's",
    "bench/scaling_bench.cpp": "has lcores forward for so long",
    "bench/measure.h": "counts the cycles that anything takes",
    "bench/expiring_sum_bench.cpp": "fills a window of real time, for rte_timer knows no other",
    "bench/rte_timer_bench.cpp": "tells polls that fire from those that do not",
    "bench/sender_bench.cpp": "paces by the real clock",
    "common/dpdk/port_test.cpp": "waits for two ends of a memif to find each other",
}

MEDIAN_LINES = 150  # of all source files, at most
LONG_FILE = 350     # lines; few files may be longer
FEW = 0.03          # of all source files
