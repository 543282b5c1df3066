"""get_indice_pairs on a large space, each time in a process of its own: time and memory of everything but the input.

The process starts with NumPy and the coordinates in memory. What counts from there: importing the
package, loading its library, starting its threads and the first call. Exit code 1 if a limit is
passed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.coordinates import lidar_sites, uniform_sites

SPACE, BATCH, ROWS = (41, 1440, 1440), 4, 248636
MOST_SECONDS, MOST_BYTES = 2.0, 600_000_000

CHILD = """
import json, resource, sys, time
import numpy as np
sites = np.load(sys.argv[1])
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) * 1024
before, start = resident(), time.perf_counter()
import pymluops
ready = time.perf_counter()
pairs = pymluops.get_indice_pairs(
    sites, batch_size=int(sys.argv[2]), spatial_shape=json.loads(sys.argv[3]), kernel_size=3, padding=1, subm=True
)
stop = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({
    "seconds": stop - start, "call_seconds": stop - ready, "bytes_above_input": peak - before,
    "output_bytes": sum(array.nbytes for array in pairs), "pairs": int(pairs.indice_num.sum()),
}))
"""


def measure(sites: np.ndarray, batch: int, space: tuple[int, ...]) -> dict[str, float]:
    """Run the child on these coordinates and return what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sites.npy"
        np.save(path, sites)
        command = [sys.executable, "-P", "-c", CHILD, str(path), str(batch), json.dumps(space)]
        figures: dict[str, float] = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
        return figures


def main() -> int:
    """Measure, print a line a case and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS, help=f"sites over {BATCH} batches, {ROWS} if not given")
    rows = parser.parse_args().rows
    inputs = {
        "uniform": uniform_sites(rows, BATCH, SPACE, np.random.default_rng(1)),
        "lidar": lidar_sites(rows, BATCH, SPACE),
    }
    kept = True
    for name, sites in inputs.items():
        found = measure(sites, BATCH, SPACE)
        holds = found["seconds"] < MOST_SECONDS and found["bytes_above_input"] < MOST_BYTES
        kept &= holds
        print(
            f"{name}: {rows} sites, {found['pairs']:.0f} pairs: {found['seconds']:.3f} s with the import "
            f"({found['call_seconds']:.3f} s the first call), {found['bytes_above_input'] / 1e6:.0f} MB above the "
            f"input ({found['output_bytes'] / 1e6:.0f} MB results): {'holds' if holds else 'MISSED'}"
        )
    print(f"limits: {MOST_SECONDS:g} s, {MOST_BYTES / 1e6:.0f} MB")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
