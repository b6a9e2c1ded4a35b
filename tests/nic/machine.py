# SPDX-License-Identifier: BSD-3-Clause
# A QEMU process with four NICs in two pairs, and the three ways to it: commands that run in the guest (Machine.run),
# the links of the NICs (Machine.set_link), and frames on the wires between the NICs (segment.py).
#
#   NIC 0 (host alice) -- segment 0 -- NIC 1 (router)     NIC 2 (router) -- segment 1 -- NIC 3 (host bob)
#
# The CPU is emulated, with a thread for each of the guest's CPUs; neither KVM nor root is needed. An emulated IOMMU
# lets vfio-pci work as it does on hardware.
import base64
import json
import pathlib
import re
import shlex
import socket
import subprocess
import time

from die_with_parent import die_with_parent
from segment import Segment

QEMU = "qemu-system-x86_64"
START_S, COMMAND_S = 120, 120  # an emulated CPU beside other work takes long; only a hang takes this long
PIECE = 1500  # B of a file in one command: a serial port's buffer has 4096 B

# QEMU's options of each NIC.
MODELS = {
    "e1000e": "e1000e,romfile=",
    "igb": "igb,romfile=",
    "vmxnet3": "vmxnet3,romfile=",
    "virtio": "virtio-net-pci,romfile=,iommu_platform=on,disable-legacy=on",
}
QUEUES = ",mq=on,vectors=6,rss=on"  # of virtio over a tap interface with two queues
ROUTER_NICS = (1, 2)
MACS = [f"02:00:00:00:0{n}:01" for n in range(4)]
ADDRESSES = [f"0000:00:0{5 + n}.0" for n in range(4)]


def emulates(model):
    """Whether this machine's QEMU has the NIC."""
    known = subprocess.run([QEMU, "-device", "help"], capture_output=True, text=True, check=False).stdout
    return f'name "{MODELS[model].split(",", maxsplit=1)[0]}"' in known


class Died(Exception):
    """The guest or QEMU ended, or does not answer."""


class Machine:
    """`folder`: for sockets and logs. `tap_pairs`: the NICs have tap interfaces, see tap_pairs.py; None: the pairs are
    joined inside QEMU."""

    def __init__(self, model, kernel, disk, folder, tap_pairs=None):
        self.folder = pathlib.Path(folder)
        self.model = model
        self.sockets = []
        self.console = self.folder / "console.log"
        # Without no_timer_check the kernel counts timer interrupts for a while, and panics where a busy host runs the
        # guest too slowly.
        command = [QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                   "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G",
                   "-device", "intel-iommu,intremap=on,caching-mode=on",
                   "-kernel", str(kernel), "-initrd", str(disk), "-append",
                   "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check intel_iommu=on iommu=nopt",
                   "-serial", f"file:{self.console}",
                   "-chardev", f"socket,id=agent,path={self.folder}/agent,server=on,wait=off",
                   "-serial", "chardev:agent", "-qmp", f"unix:{self.folder}/qmp,server=on,wait=off"]
        for n in range(4):
            command += self.nic(n, tap_pairs)
        self.segments = [] if tap_pairs else [self.hub(n, command) for n in range(2)]
        with open(self.folder / "qemu.log", "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            preexec_fn=die_with_parent)
        self.agent = self.connect("agent").makefile("rwb", buffering=0)
        self.monitor = self.connect("qmp").makefile("rw")
        self.monitor.readline()
        self.ask("qmp_capabilities")
        self.answer(START_S)  # of the guest's first process: it is up
        if tap_pairs:
            self.segments = tap_pairs.join()

    def nic(self, n, tap_pairs):
        """Options of NIC n and its side of the wire."""
        device = MODELS[self.model]
        if tap_pairs:
            queues = 2 if n in ROUTER_NICS else 1
            back = f"tap,id=net{n},ifname={tap_pairs.interface(n)},script=no,downscript=no,queues={queues}"
            device += QUEUES if queues > 1 else ""
        else:
            back = f"hubport,id=net{n},hubid={n // 2}"
        # igb is a PCI Express device, which has interrupts for each queue only behind a port of its own.
        port = ["-device", f"pcie-root-port,id=port{n},chassis={n},addr={10 + n}.0"] if self.model == "igb" else []
        place = f"bus=port{n}" if self.model == "igb" else f"addr={5 + n}.0"
        return [*port, "-netdev", back, "-device", f"{device},id=nic{n},netdev=net{n},mac={MACS[n]},{place}"]

    def hub(self, n, command):
        """A station on hub n; frames are datagrams of a Unix socket."""
        ours, theirs = (str(self.folder / f"wire{n}.{side}") for side in ("test", "qemu"))
        endpoint = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        endpoint.bind(ours)
        sockets = f"local.type=unix,local.path={theirs},remote.type=unix,remote.path={ours}"
        command += ["-netdev", f"dgram,id=wire{n},{sockets}",
                    "-netdev", f"hubport,id=station{n},hubid={n},netdev=wire{n}"]
        return Segment(lambda: endpoint.recv(70000), lambda frame: endpoint.sendto(frame, theirs))

    def connect(self, name):
        end = time.monotonic() + START_S
        while True:
            if self.process.poll() is not None:
                raise Died(f"QEMU ended: {(self.folder / 'qemu.log').read_text()[-2000:]}")
            client = socket.socket(socket.AF_UNIX)
            try:
                client.connect(str(self.folder / name))
                client.settimeout(START_S)
                self.sockets.append(client)
                return client
            except OSError as e:
                client.close()
                if time.monotonic() > end:
                    raise Died(f"QEMU does not listen on {name}") from e
                time.sleep(0.1)

    # The guest's commands.

    def answer(self, seconds):
        for each in self.sockets:
            each.settimeout(seconds)
        try:
            head = self.agent.readline()
            code, length = (int(field) for field in head.split())
            output = b""
            while len(output) < length:
                piece = self.agent.read(length - len(output))
                if not piece:
                    raise Died("the guest ended")
                output += piece
        except (TimeoutError, ValueError) as e:
            raise Died(f"the guest does not answer: {self.console.read_text(errors='replace')[-2000:]}") from e
        return code, output.decode(errors="replace")

    def run(self, command, seconds=COMMAND_S):
        """(exit code, output) of a shell command, a line, in the guest."""
        self.agent.write(command.encode() + b"\n")
        return self.answer(seconds)

    def must(self, command, seconds=COMMAND_S):
        code, output = self.run(command, seconds)
        if code != 0:
            raise Died(f"{command}: exit code {code}: {output[-1000:]}")
        return output

    def write(self, path, text):
        data = base64.b64encode(text.encode()).decode()
        self.must(f": >{path}")
        for at in range(0, len(data), PIECE // 4 * 4):
            self.must(f"echo {data[at:at + PIECE // 4 * 4]} | base64 -d >>{path}")

    def bind(self, nics=range(4), driver="vfio-pci"):
        """Gives NICs to a driver of the guest's kernel."""
        for n in nics:
            address = self.addresses()[n]
            device = f"/sys/bus/pci/devices/{address}"
            self.must(f"[ -e {device}/driver ] && echo {address} >{device}/driver/unbind; "
                      f"echo {driver} >{device}/driver_override; echo {address} >/sys/bus/pci/drivers_probe; "
                      f"[ \"$(basename $(readlink {device}/driver))\" = {driver} ]")

    def unbind(self, n):
        """Takes NIC n from its driver, in the background: the kernel waits for programs that use it."""
        address = self.addresses()[n]
        self.must(f"echo {address} >/sys/bus/pci/devices/{address}/driver/unbind &")

    def is_unbound(self, n):
        """Waits until NIC n has no driver."""
        driver = f"/sys/bus/pci/devices/{self.addresses()[n]}/driver"
        return self.run(f"for i in $(seq 100); do [ -e {driver} ] || exit 0; sleep 0.2; done; exit 1")[0] == 0

    def addresses(self):
        """PCI addresses of the NICs."""
        return ADDRESSES if self.model != "igb" else [f"0000:0{n + 1}:00.0" for n in range(4)]

    # The monitor.

    def ask(self, command, **arguments):
        self.monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.monitor.flush()
        while True:
            reply = json.loads(self.monitor.readline())
            if "return" in reply or "error" in reply:
                return reply

    def set_link(self, n, up):
        """Plugs the cable of NIC n in or out."""
        reply = self.ask("set_link", name=f"nic{n}", up=up)
        if "error" in reply:
            raise Died(f"set_link: {reply}")

    def stop(self):
        """Ends QEMU."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Program:
    """A program that runs in the guest."""

    def __init__(self, machine, name, command):
        self.machine, self.name = machine, name
        quoted = shlex.quote(f"{command} >/run/{name}.log 2>&1 & echo $! >/run/{name}.pid; wait $!; "
                             f"echo $? >/run/{name}.code")
        machine.must(f"rm -f /run/{name}.code /run/{name}.pid; sh -c {quoted} >/dev/null 2>&1 & "
                     f"until [ -s /run/{name}.pid ]; do sleep 0.1; done")

    def output(self):
        return self.machine.run(f"cat /run/{self.name}.log")[1]

    def code(self):
        """Its exit code; None while it runs."""
        text = self.machine.run(f"cat /run/{self.name}.code 2>/dev/null")[1]
        return int(text) if text.strip() else None

    def running(self):
        return self.code() is None

    def says(self, pattern, seconds=60):
        """Whether its output matches; waits for it while the program runs."""
        end = time.monotonic() + seconds
        while True:
            ended = not self.running()
            if re.search(pattern, self.output()):
                return True
            if ended or time.monotonic() > end:
                return False
            time.sleep(0.3)

    def signal(self, name):
        self.machine.run(f"kill -{name} $(cat /run/{self.name}.pid)")

    def wait(self, seconds=60):
        """Its exit code; None: it does not end."""
        end = time.monotonic() + seconds
        while (code := self.code()) is None and time.monotonic() < end:
            time.sleep(0.3)
        return code

    def stop(self, seconds=60):
        self.signal("INT")
        return self.wait(seconds)
