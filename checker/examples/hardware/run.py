#!/usr/bin/env python3
"""Runs the kernels beside this file on a GPU, and prints a table of what is expected and what is seen.

It needs Python 3 and a CUDA driver, which is loaded when it runs, and nothing to build. Each kernel runs in a
process of its own, which ends whatever becomes of the kernel: one that hangs is given up after some seconds.

    run.py [--seconds N] [KERNEL...]

Exit status: 0 if all kernels were run, 2 if there is no driver or no GPU.
"""

import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent / "kernels"
MARKS = 4
NO_GPU = 2

# Of the driver's interface (CUDA Driver API).
NOT_READY = 600
MAPPED = 0x02
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
COMPUTE_MAJOR, COMPUTE_MINOR = 75, 76


class NoGpu(Exception):
    """There is nothing to run on."""


class Driver:
    """The functions of the driver, each of which fails with a message."""

    def __init__(self):
        for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
            try:
                self.driver = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise NoGpu("no CUDA driver")
        if self.driver.cuInit(0) != 0:
            raise NoGpu("the CUDA driver finds no GPU")
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)

    def call(self, name, *arguments):
        """Calls a function."""
        code = getattr(self.driver, name)(*arguments)
        if code != 0:
            message = ctypes.c_char_p()
            self.driver.cuGetErrorString(code, ctypes.byref(message))
            raise RuntimeError(f"{name}: {(message.value or b'?').decode()} ({code})")

    def attribute(self, which):
        """A number that the device has."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, self.device)
        return value.value

    def chip(self):
        """Name, compute capability and the driver's version."""
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, self.device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        chip = f"{name.value.decode()}, sm_{self.attribute(COMPUTE_MAJOR)}{self.attribute(COMPUTE_MINOR)}"
        return f"{chip}; driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}"

    def load(self, text):
        """The function of a kernel."""
        context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            image = ctypes.c_char_p(text.encode())
            self.call("cuModuleLoadDataEx", ctypes.byref(module), image, 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode(errors='replace').strip()}") from error
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"kernel")
        return function

    def run(self, function, threads, ctas, seconds):
        """Whether a kernel ends in time, and its marks. They lie in memory of the host, so that those of a
        kernel that hangs are seen as well."""
        marks, there = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuMemHostAlloc", ctypes.byref(marks), ctypes.c_size_t(4 * MARKS), MAPPED)
        ctypes.memset(marks, 0, 4 * MARKS)
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(there), marks, 0)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(there))
        self.call("cuLaunchKernel", function, ctas, 1, 1, threads, 1, 1, 0, None, arguments, None)
        until = time.monotonic() + seconds
        while True:
            code = self.driver.cuStreamQuery(None)
            if code != NOT_READY or time.monotonic() > until:
                break
            time.sleep(0.01)
        seen = [ctypes.cast(marks, ctypes.POINTER(ctypes.c_uint32))[i] for i in range(MARKS)]
        how = {0: "done", NOT_READY: "hangs"}.get(code, f"fails with error {code}")
        return how, seen


class Kernel:
    """A kernel, and what its head says."""

    def __init__(self, path):
        self.name, self.text = path.stem, path.read_text()
        facts = re.findall(r"^// (\w+): (.*)$", self.text, re.MULTILINE)
        self.head = dict(facts)
        self.expected = "; ".join(what for name, what in facts if name == "expected")
        self.title = self.text.splitlines()[0].removeprefix("// ")
        self.threads = int(re.search(r"cta (\d+)", self.head["launch"])[1])
        cluster = re.search(r"cluster (\d+)", self.head["launch"])
        self.ctas = int(cluster[1]) if cluster else 1


def one(kernel, seconds):
    """Runs a kernel and ends this process, whatever becomes of it."""
    try:
        driver = Driver()
        how, seen = driver.run(driver.load(kernel.text), kernel.threads, kernel.ctas, seconds)
        print(f"{how} {seen}".replace(",", ""), flush=True)
    except (NoGpu, RuntimeError) as error:
        print(f"not run: {error}", flush=True)
    # Without waiting for the kernel.
    os._exit(0)


def watched(kernel, seconds):
    """What a kernel comes to, in a process of its own."""
    command = [sys.executable, __file__, "--one", kernel.name, "--seconds", str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said, _ = process.communicate(timeout=seconds + 30)
        return said.strip() or f"not run: exit status {process.returncode}"
    except subprocess.TimeoutExpired:
        process.kill()
        return "hangs, and the driver with it"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="names without `.ptx`; all where there are none")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long a kernel may take")
    parser.add_argument("--one", metavar="KERNEL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    kernels = {path.stem: Kernel(path) for path in sorted(FOLDER.glob("*.ptx"))}
    if options.one:
        one(kernels[options.one], options.seconds)
    try:
        print(f"{Driver().chip()}\n")
    except NoGpu as error:
        print(f"{error}: nothing was run", file=sys.stderr)
        return NO_GPU
    print("| kernel | barcheck | expected | seen |\n|---|---|---|---|")
    for name in options.kernels or kernels:
        kernel = kernels[name]
        seen = watched(kernel, options.seconds)
        print(f"| {name} | `{kernel.head['barcheck']}` | {kernel.expected} | {seen} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
