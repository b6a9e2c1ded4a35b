# SPDX-License-Identifier: BSD-3-Clause
# The guest of the NIC tests: a kernel of Debian and an initial RAM disk with the programs, all in build/nic/.
#
# The kernel's package is unpacked, not installed. The RAM disk has busybox, the programs, the libraries that they need,
# the drivers of the emulated NICs and the kernel's modules for vfio. It is built again when one of its files changes.
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KERNEL_PACKAGE = "linux-image-cloud-amd64"
# In the order of their dependencies. Kernels before 6.2 have no iommufd, later ones no vfio_virqfd.
MODULES = ["virt/lib/irqbypass", "drivers/iommu/iommufd/iommufd", "drivers/vfio/vfio", "drivers/vfio/vfio_virqfd",
           "drivers/vfio/vfio_iommu_type1", "drivers/vfio/pci/vfio-pci-core", "drivers/vfio/pci/vfio-pci"]
DRIVERS = ["bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_memif", "net_vmxnet3", "net_virtio"]


class Missing(Exception):
    """Something that the guest is made of cannot be had on this machine."""


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def missing_programs():
    """Programs that are not installed; packages.txt has their packages under `emulation`."""
    return [p for p in ("qemu-system-x86_64", "busybox", "cpio", "ldd", "strip", "dpkg") if not shutil.which(p)]


def unpack_kernel(folder):
    """The folder of the unpacked kernel package; downloads it once."""
    unpacked = folder / "kernel"
    if (unpacked / "complete").exists():
        return unpacked
    depends = run("apt-cache", "depends", KERNEL_PACKAGE)
    names = re.findall(r"Depends: (linux-image-\d\S*)", depends)
    if not names:
        raise Missing(f"apt knows no {KERNEL_PACKAGE}; run apt-get update")
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir(parents=True)
    run("apt-get", "-q", "download", names[0], cwd=unpacked)
    package = next(unpacked.glob("*.deb"))
    run("dpkg", "-x", package, unpacked)
    package.unlink()
    (unpacked / "complete").touch()
    return unpacked


def kernel_of(unpacked):
    return next((unpacked / "boot").glob("vmlinuz-*"))


def modules_of(unpacked):
    """Files of the modules that this kernel has, in the order in which to load them."""
    folder = next((unpacked / "lib" / "modules").iterdir()) / "kernel"
    found = [next(folder.parent.glob(f"kernel/{name}.ko*"), None) for name in MODULES]
    return [path for path in found if path is not None]


def driver_folder():
    """DPDK's folder of drivers, from which every program loads all files."""
    return pathlib.Path(next(pathlib.Path("/usr/lib").glob("*/dpdk/pmds-*"), ""))


def libraries_of(binaries):
    """The shared libraries and the loader that binaries need, by the paths at which they are sought."""
    text = "".join(run("ldd", path) for path in binaries)
    found = re.findall(r"(?:=> )?(/\S+) \(0x", text)
    return sorted(set(found))


class Image:
    """The initial RAM disk."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, [pathlib.Path(p).resolve() for p in programs]

    def build(self):
        """Returns (kernel, RAM disk)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        unpacked = unpack_kernel(self.folder)
        kernel, disk = kernel_of(unpacked), self.folder / "initramfs.gz"
        drivers = driver_folder()
        plugins = [path for name in DRIVERS for path in drivers.glob(f"librte_{name}.so.*") if not path.is_symlink()]
        if len(plugins) < len(DRIVERS):
            raise Missing(f"DPDK's drivers {', '.join(DRIVERS)} are not all in {drivers}")
        modules = modules_of(unpacked)
        inputs = [kernel, HERE / "guest_init", HERE / "guest_image.py", *modules, *plugins, *self.programs]
        stamp, key = self.folder / "initramfs.key", self.key(inputs)
        if not disk.exists() or not stamp.exists() or stamp.read_text() != key:
            stamp.unlink(missing_ok=True)
            self.pack(disk, modules, plugins)
            stamp.write_text(key)
        return kernel, disk

    @staticmethod
    def key(inputs):
        """Changes whenever an input does."""
        facts = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in inputs]
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()

    def pack(self, disk, modules, plugins):
        tree = self.folder / "root"
        shutil.rmtree(tree, ignore_errors=True)
        for name in ("bin", "proc", "sys", "dev", "run", "tmp", "modules.d"):
            (tree / name).mkdir(parents=True)
        self.install(shutil.which("busybox"), tree / "bin" / "busybox")
        self.install(HERE / "guest_init", tree / "init", mode=0o755)
        for program in self.programs:
            self.install(program, tree / "bin" / program.name, strip=True)
        # EAL loads every driver's file in its folder, and drivers load one another by links elsewhere. Both must lead
        # to the same file, or a driver would be loaded twice.
        for library in [*libraries_of([*self.programs, *plugins]), *plugins]:
            path = pathlib.Path(os.path.realpath(library))
            self.install(path, tree / path.relative_to("/"), strip=True)
            link = tree / str(library).lstrip("/")
            if link != tree / path.relative_to("/"):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
        for module in modules:
            data = lzma.open(module).read() if module.suffix == ".xz" else module.read_bytes()
            (tree / "modules.d" / module.name.removesuffix(".xz")).write_bytes(data)
        (tree / "modules").write_text("".join(f"/modules.d/{m.name.removesuffix('.xz')}\n" for m in modules))
        with open(disk, "wb") as out:
            names = subprocess.Popen(["find", "."], cwd=tree, stdout=subprocess.PIPE)
            archive = subprocess.Popen(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree,
                                       stdin=names.stdout, stdout=subprocess.PIPE)
            compress = subprocess.run(["gzip", "-1"], stdin=archive.stdout, stdout=out, check=False)
            if archive.wait() != 0 or names.wait() != 0 or compress.returncode != 0:
                raise Missing("cpio or gzip failed")
        shutil.rmtree(tree)

    @staticmethod
    def install(source, target, strip=False, mode=None):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(os.path.realpath(source), target)
        if strip:
            subprocess.run(["strip", "--strip-unneeded", target], capture_output=True, check=False)
        target.chmod(mode or os.stat(source).st_mode | 0o200)
