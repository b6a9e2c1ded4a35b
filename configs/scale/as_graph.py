#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Writes a list of links between autonomous systems (AS) as CAIDA's "AS Relationships" (serial 1), of a random graph
# that grows by preferential attachment (Barabasi and Albert, Science 286, 1999): the numbers of neighbours follow a power
# law, as those of the Internet do (Faloutsos et al., SIGCOMM 1999).
# Usage: as_graph.py AS SEED > FILE
import random
import sys

CORE = 8  # AS without a provider: each peers with all others
PROVIDERS = (1, 2, 3)
SHARES = (0.4, 0.4, 0.2)  # of AS with so many providers
PEERS = 0.3  # links between peers beyond the core, for each AS


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(seed)
    edges = {(a, b): 0 for a in range(1, CORE + 1) for b in range(a + 1, CORE + 1)}
    ends = [end for edge in edges for end in edge]  # an AS as often as it has neighbours
    for new in range(CORE + 1, count + 1):
        providers = set()
        wanted = draw.choices(PROVIDERS, SHARES)[0]
        while len(providers) < wanted:
            providers.add(draw.choice(ends))
        for provider in sorted(providers):
            edges[provider, new] = -1
            ends += [provider, new]
    for _ in range(int(PEERS * count)):
        a, b = sorted(draw.choice(ends) for _ in range(2))
        if a != b and (a, b) not in edges:
            edges[a, b] = 0
    print(f"# {count} AS, drawn by configs/scale/as_graph.py {count} {seed}: provider|customer|-1 or peer|peer|0")
    for (a, b), kind in sorted(edges.items()):
        print(f"{a}|{b}|{kind}")


main()
