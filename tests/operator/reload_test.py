# SPDX-License-Identifier: BSD-3-Clause
# A running router takes new configurations: by `turnpike reload`, commit, rollback and SIGHUP, with packets flowing.
# Usage: reload_test.py TURNPIKE ROUTER SENDER
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import control_test  # noqa: E402
from die_with_parent import die_with_parent  # noqa: E402
from tap import Tap  # noqa: E402
from undisturbed import undisturbed  # noqa: E402

RATE = "rate: 100 Mbps, delay: 8 ms"


class Bed(control_test.Bed):
    def __init__(self, tool, router, sender):
        super().__init__(tool, router)
        self.sender_program = sender
        self.state = self.folder / "state"
        self.text = self.file.read_text().replace("duration: 15 s", "duration: 600 s").replace(
            "start: 2 s, stop: 11 s", "start: 0 s").replace("start: 4 s }", "start: 0 s }")
        assert RATE in self.text
        self.file.write_text(self.text)

    def start_router(self):
        return self.start(options=["--state", str(self.state)])

    def start_sender(self):
        self.sender = subprocess.Popen(
            [self.sender_program, str(self.file), "--out", str(self.folder / "sent"), "--live", "off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, preexec_fn=die_with_parent)
        self.routers.append(self.sender)

    def set_rate(self, mbps):
        self.file.write_text(self.text.replace(RATE, f"rate: {mbps} Mbps, delay: 8 ms"))

    def run(self, *words):
        return subprocess.run([self.tool, *words, "--control", str(self.control)], capture_output=True, text=True,
                              timeout=60, check=False)

    def link(self):
        """The bottleneck's row of `show links`."""
        shown = json.loads(self.show("links", "--json").stdout)
        return next(row for row in shown["links"] if row["link"] == "bottleneck")

    def rate(self):
        return round(self.link()["rate_bps"] / 1e6)

    def drops(self):
        """Packets dropped so far, by link and reason."""
        return json.loads(self.show("drops", "--json").stdout)["drops"]

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.1)
        return False


def check_reload(bed, tap):
    tap.check("packets flow", bed.until(lambda: bed.link()["tx_packets"] > 1000), bed.link())
    bed.set_rate(50)
    dry = bed.run("reload", "--dry-run")
    tap.check("--dry-run prints the change and makes none",
              dry.returncode == 0 and "rate" in dry.stdout and bed.rate() == 100, dry)
    before = bed.link()["tx_packets"]
    done = bed.run("reload")
    after = bed.link()
    tap.check("reload changes the rate", done.returncode == 0 and bed.rate() == 50, done)
    tap.check("the link's counters go on", after["tx_packets"] >= before, before, after)
    used = bed.until(lambda: 40 < bed.link()["tx_mbps"] < 55)
    tap.check("the senders follow: at most 50 Mbps", used, bed.link())

    bed.file.write_text(bed.text.replace("law: fcp", "law: fpc"))
    bad = bed.run("reload")
    tap.check("a file with a mistake changes nothing: exit 3, with the place",
              bad.returncode == 3 and bed.file.name in bad.stderr and "did you mean" in bad.stderr and bed.rate() == 50, bad)
    bed.file.write_text(bed.text.replace("ends: [gate, server]", "ends: [gate, alice]"))
    bad = bed.run("reload")
    tap.check("neither does one for another network", bad.returncode in (2, 3) and bed.rate() == 50, bad)
    bed.file.write_text(bed.text.replace("attach: memif }\n  bob", "mtu: 1400, attach: memif }\n  bob"))
    refused = bed.run("reload")
    tap.check("a change that needs a restart is refused, and why",
              refused.returncode == 2 and "alice-gate" in refused.stderr and bed.rate() == 50, refused)


def check_confirm(bed, tap):
    bed.set_rate(80)
    done = bed.run("reload", "--confirm", "2s")
    tap.check("reload --confirm applies", done.returncode == 0 and bed.rate() == 80, done)
    tap.check("without commit the change reverts by itself", bed.until(lambda: bed.rate() == 50, 6), bed.link())
    bed.run("reload", "--confirm", "30s")
    kept = bed.run("commit")
    tap.check("commit keeps it", kept.returncode == 0 and bed.rate() == 80, kept)
    again = bed.run("commit")
    tap.check("there is nothing to commit twice", again.returncode == 2, again)
    back = bed.run("rollback")
    tap.check("rollback goes back to the one before", back.returncode == 0 and bed.rate() == 50, back)


def check_hangup(bed, tap):
    bed.set_rate(70)
    bed.routers[0].send_signal(signal.SIGHUP)
    tap.check("HUP reloads the file", bed.until(lambda: bed.rate() == 70, 5), bed.link())


def check_storm(bed, tap):
    failed, pauses = [], []

    def storm():
        drops = bed.drops()
        for i in range(100):
            bed.set_rate(60 + i % 20)
            done = bed.run("reload", "--json")
            if done.returncode != 0:
                failed.append(done.stderr)
            else:
                pauses.append(json.loads(done.stdout)["pause_us"])
        return int(bed.drops() != drops), drops, bed.drops()

    # A sender that was held catches up, and may overfill the queue without a reload.
    (dropped, *drops), machine, disturbed = undisturbed("100 reloads", storm)
    tap.check("100 reloads in a row", not failed and bed.rate() == 60 + 99 % 20, *failed[:3], bed.link())
    # Sanitizers and other programs on the CPUs make it longer: the short ones show the router's part.
    pauses.sort()
    tenth = len(pauses) // 10
    print(f"# pauses of the lcores: median {pauses[5 * tenth]:.0f} us, 90 % {pauses[9 * tenth]:.0f} us, "
          f"most {pauses[-1]:.0f} us")
    tap.check("a tenth of them held the lcores for less than 1 ms", pauses[0] > 0 and pauses[tenth] < 1000, pauses)
    if dropped and disturbed:
        tap.skip("none of them dropped a packet", machine)
    else:
        tap.check("none of them dropped a packet", not dropped, *drops)
    config = json.loads(bed.show("config", "--json").stdout)
    tap.check("show config has the last pause", config["last_pause_us"] > 0 and config["generation"] > 100, config["generation"])


def check_crash(bed, tap):
    bed.set_rate(90)
    bed.run("reload", "--confirm", "60s")
    at_risk = bed.rate()
    bed.routers[0].kill()
    bed.routers[0].wait()
    bed.start_router()
    tap.check("kill -9 with an unconfirmed change: the committed configuration starts", at_risk == 90 and bed.rate() == 79,
              at_risk, bed.link())
    config = bed.show("config")
    tap.check("show config prints what runs", config.returncode == 0 and "79 Mbps" in config.stdout, config.stdout[-500:])
    router = bed.routers[-1]
    router.send_signal(signal.SIGTERM)
    _, said = router.communicate(timeout=60)
    tap.check("the router ends with exit code 0", router.returncode == 0, router.returncode, said[-1500:])


def main():
    tool, router, sender = (os.path.abspath(p) for p in sys.argv[1:])
    tap = Tap()
    bed = Bed(tool, router, sender)
    try:
        bed.start_router()
        bed.start_sender()
        check_reload(bed, tap)
        check_confirm(bed, tap)
        check_hangup(bed, tap)
        check_storm(bed, tap)
        check_crash(bed, tap)
    finally:
        bed.end()
    tap.finish()


if __name__ == "__main__":
    main()
