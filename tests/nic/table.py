# SPDX-License-Identifier: BSD-3-Clause
# The table of drivers in docs/nics.md.
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "nics.md"
BEGIN, END = "<!-- drivers: made by tests/nic/nic_test.py --write -->", "<!-- /drivers -->"
LCORES, MTU = (1, 2), (1500, 9000)
NOTES = ("RSS", "received by lcore", "flow control set")  # results that do not fail a configuration


def verdict(results, names):
    """Of these cases of one configuration."""
    tried = [results[name] for name in names if name in results]
    return "-" if not tried else "ok" if all(tried) else "**fails**"


def configuration(results):
    if results is None:
        return "-"
    if results.get("queues") == "refused":
        return "refused"
    passed = all(value for name, value in results.items() if name not in NOTES)
    if not passed:
        return "**fails**"
    if "RSS" in results:
        spread = " and ".join(map(str, results["received by lcore"]))
        return f"ok; packets by lcore: {spread}" if results["RSS"] else "ok, one lcore receives all packets"
    return "ok"


def lacks(rows):
    found = []
    if any(r.get("queues") == "refused" for r in rows.values()):
        found.append("a second queue")
    elif any(r.get("RSS") is False for r in rows.values()):
        found.append("RSS")
    if any(r.get("flow control set") is False for r in rows.values()):
        found.append("flow control")
    return ", ".join(found) or "-"


def markdown(rows):
    """`rows`: by driver, results by (lcores, MTU), or why the driver was not tried."""
    configurations = [f"{n} lcore{'s' if n > 1 else ''}, MTU {mtu}" for mtu in MTU for n in LCORES]
    head = ["driver", *configurations, "limits", "flow control", "link down and up", "kill -9, unbind", "lacks"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for driver, results in rows.items():
        if isinstance(results, str):
            lines.append(f"| {driver} | not tried: {results} |" + " |" * (len(head) - 2))
            continue
        cells = [configuration(results.get((n, mtu))) for mtu in MTU for n in LCORES]
        one = results.get((1, 1500), {})
        cells += [verdict(one, names) for names in (["limits"], ["flow control"], ["link down"], ["restart", "unbind"])]
        cells.append(lacks(results))
        lines.append("| " + " | ".join([driver, *cells]) + " |")
    return "\n".join(lines)


def write(text):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
