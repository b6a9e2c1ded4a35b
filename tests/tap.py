# SPDX-License-Identifier: BSD-3-Clause
# The Test Anything Protocol for tests that are scripts: meson counts one test per line, and shows standard error when
# a script fails.
import sys


class Tap:
    """Reports named checks as they finish."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, passed, *details):
        """One check; `details` are shown when it failed."""
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {_one_line(name)}")
        if not passed:
            print(f"{name}:", *details, sep="\n  ", file=sys.stderr)
        sys.stdout.flush()
        return passed

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {_one_line(name)} # SKIP {_one_line(why)}", flush=True)

    def finish(self):
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed else 0)


def _one_line(text):
    return " ".join(str(text).split()).replace("#", "")
