# SPDX-License-Identifier: BSD-3-Clause
# The oracle: the same flows at an ideal link that serves all open flows at equal rates, egalitarian processor sharing.
import array
import heapq
import itertools


def sojourns(arrivals, capacity):
    """How long each flow stays, in s, in the order given. `arrivals`: (time in s, size in B), times never going back;
    `capacity` in B/s. In virtual time V, which passes at capacity / (open flows), a flow that arrives at V leaves at
    V + size: a heap of those moments, O(n log n)."""
    stay = array.array("d", bytes(8 * len(arrivals)))
    open_flows, virtual, now = [], 0.0, 0.0
    for index, (at, size) in enumerate(itertools.chain(arrivals, [(float("inf"), 0)])):
        while open_flows:
            leaves, first = open_flows[0]
            then = now + (leaves - virtual) * len(open_flows) / capacity
            if then > at:
                break
            heapq.heappop(open_flows)
            stay[first] = then - arrivals[first][0]
            now, virtual = then, leaves
        if index == len(arrivals):
            break
        if open_flows:
            virtual += (at - now) * capacity / len(open_flows)
        now = at
        heapq.heappush(open_flows, (virtual + size, index))
    return stay


def served(arrivals, capacity, begin, end):
    """Share of [begin, end] in which a link that never idles while it has work is busy."""
    busy, free_at = 0.0, float("-inf")
    for at, size in arrivals:
        start = max(at, free_at)
        free_at = start + size / capacity
        busy += max(0.0, min(free_at, end) - max(start, begin))
    return busy / (end - begin)


def last_leaves(arrivals, capacity):
    """When such a link has done all its work, in s."""
    free_at = 0.0
    for at, size in arrivals:
        free_at = max(at, free_at) + size / capacity
    return free_at
