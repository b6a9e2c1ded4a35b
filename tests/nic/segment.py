# SPDX-License-Identifier: BSD-3-Clause
# The wire between two NICs, seen from a third station: sends frames and keeps those that pass.
import collections
import threading
import time

import frames


class Segment:
    """`read`: returns the next frame, waiting for it. `write`: sends one."""

    def __init__(self, read, write):
        self.read, self.send = read, write
        self.frames = collections.deque(maxlen=20000)
        self.more = threading.Condition()
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        while True:
            try:
                frame = self.read()
            except OSError:
                return
            with self.more:
                self.frames.append(frame)
                self.more.notify_all()

    def forget(self):
        with self.more:
            self.frames.clear()

    def wait_for(self, wanted, seconds=10):
        """The first packet that `wanted` accepts, taken away with those before it; None: none came in time."""
        end = time.monotonic() + seconds
        with self.more:
            while True:
                while self.frames:
                    packet = frames.parse(self.frames.popleft())
                    if packet is not None and wanted(packet):
                        return packet
                left = end - time.monotonic()
                if left <= 0 or not self.more.wait(left):
                    return None
