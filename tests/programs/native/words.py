"""Threads, exceptions, generators, ctypes callbacks, a subprocess and a fork."""

import ctypes
import functools
import json
import os
import re
import subprocess
import sys
import threading
import zlib

total = 0


@functools.cache
def fibonacci(n):
    """Return a number of the row."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(seed):
    """Raise and catch, and count what came of it."""
    found = seed
    for i in range(5000):
        try:
            found = (found * 31 + (i // (i % 5))) % 1000003
        except ZeroDivisionError:
            found += len(str(found))
    return found


results = [0] * 4
threads = [threading.Thread(target=lambda t=t: results.__setitem__(t, work(t))) for t in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(results, fibonacci(200))
libc = ctypes.CDLL(None)
compares = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)
)
numbers = (ctypes.c_int * 50)(*[(i * 37) % 101 for i in range(50)])
libc.qsort(numbers, 50, 4, compares(lambda a, b: a[0] - b[0]))
print(list(numbers)[:10])
text = json.dumps({str(i): [i, i / 3] for i in range(2000)})
print(len(re.findall(r"\d+\.\d+", text)), zlib.crc32(zlib.compress(text.encode())))
print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout)
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    os._exit(work(9) % 100)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sys.exit(5)
