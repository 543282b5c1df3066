"""Voxels and indice pairs of a folder of scans, computed by a Dask cluster of processes.

    python3 examples/engines/dask_voxels.py
    python3 examples/engines/dask_voxels.py scans/ --output voxels/ --workers 4
    python3 examples/engines/dask_voxels.py --kill-worker

Each scan is one task: its points are put into voxels, and `pymluops.get_indice_pairs` finds the
pairs of a sub-manifold 3 x 3 x 3 convolution and of a strided one. With --output each scan's arrays
become an .npz file. With --kill-worker one worker is killed when the first scan is done; what it
had is computed again. At the end everything is computed once more without Dask, and the results
must be equal bit by bit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from distributed import Client, Future, LocalCluster, as_completed

import pymluops
from pymluops._shown import counted
from pymluops._whole_file import whole_file
from pymluops.cli import CommandError
from pymluops.demo.lidar import modelled_scan
from pymluops.demo.scans import read_scan
from pymluops.demo.voxels import voxelise

ENDINGS = (".bin", ".npy", ".ply")


@dataclass(frozen=True)
class Found:
    """What is told of a scan; the arrays themselves are in its file."""

    name: str
    points: int
    voxels: int
    pairs: int
    digest: str
    threads: int
    process: int


def compute(path: Path, output: Path | None) -> Found:
    """Voxelise a scan, find its pairs, and write them to `output` unless that is None."""
    scan = read_scan(path)
    voxels = voxelise(scan)
    space = {"batch_size": 1, "spatial_shape": voxels.shape, "kernel_size": 3, "padding": 1}
    _, same, same_counts = pymluops.get_indice_pairs(voxels.coordinates, subm=True, **space)
    places, strided, counts = pymluops.get_indice_pairs(voxels.coordinates, stride=2, **space)
    arrays = {
        "coordinates": voxels.coordinates,
        "submanifold_pairs": same, "submanifold_counts": same_counts,
        "strided_coordinates": places, "strided_pairs": strided, "strided_counts": counts,
    }  # fmt: skip
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    if output is not None:
        with whole_file(output / f"{path.stem}.npz") as file:
            np.savez_compressed(file, **arrays)
    pairs = int(same_counts.sum() + counts.sum())
    threads = pymluops.get_num_threads()
    return Found(path.name, len(scan.xyz), len(voxels.coordinates), pairs, digest.hexdigest(), threads, os.getpid())


def scans_of(folder: Path) -> list[Path]:
    """Return the scans in a folder, in order of their names."""
    if not folder.is_dir():
        raise CommandError(f"{folder}: expected a folder")
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
    if not found:
        raise CommandError(f"{folder}: has no scan ({', '.join(ENDINGS)})")
    return found


def make_scans(folder: Path, count: int) -> list[Path]:
    """Write modelled scans of a street."""
    for number in range(count):
        scan = modelled_scan(number)
        np.save(folder / f"street{number:03d}.npy", np.column_stack([scan.xyz, scan.extras[:, 0]]).astype(np.float32))
    return scans_of(folder)


def kill_worker_of(client: Client, done: Future) -> None:
    """Kill the process that holds the result of a task, as when a machine fails."""
    holders = client.who_has([done])[done.key]
    address = holders[0]
    process = client.run(os.getpid, workers=[address])[address]
    held, running = len(client.has_what([address])[address]), len(client.processing([address])[address])
    os.kill(process, signal.SIGKILL)
    had = f"{counted(held, 'result')} and {counted(running, 'task')}"
    print(f"killed worker {address}, process {process}: it had {had}", flush=True)


def show(done: int, count: int, seconds: float) -> None:
    """Show progress on the terminal in place of what was shown before; nothing if stderr is no terminal."""
    if sys.stderr.isatty():
        filled = 30 * done // count
        left = f"{seconds / done * (count - done):.0f} s left" if done else ""
        sys.stderr.write(f"\r\x1b[K[{'#' * filled}{'.' * (30 - filled)}] {done}/{count} scans  {left}")
        sys.stderr.write("\n" if done == count else "")
        sys.stderr.flush()


def run(client: Client, paths: Sequence[Path], output: Path | None, kill: bool) -> list[Found]:
    """Compute all scans on the cluster."""
    begin = time.perf_counter()
    show(0, len(paths), 0)
    futures = client.map(compute, paths, output=output, pure=False)
    for done, future in enumerate(as_completed(futures), 1):
        show(done, len(paths), time.perf_counter() - begin)
        if kill and done == 1:
            kill_worker_of(client, future)
    return client.gather(futures)  # results that a killed worker had are computed again


def main(argv: Sequence[str] | None = None) -> list[Found]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="scans (.bin, .npy, .ply); modelled streets if not given")
    parser.add_argument("--output", type=Path, help="folder for one .npz file a scan")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="tasks at once in each of them (default: %(default)s)")
    parser.add_argument("--scans", type=int, default=8, help="modelled streets to make (default: %(default)s)")
    parser.add_argument("--kill-worker", action="store_true", help="kill a worker on the way")
    parser.add_argument("--no-check", dest="check", action="store_false", help="do not compute all again without Dask")
    args = parser.parse_args(argv)
    if min(args.workers, args.threads, args.scans) < 1:
        parser.error("--workers, --threads, --scans: expected positive numbers")
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        paths = scans_of(args.folder) if args.folder else make_scans(Path(made), args.scans)
        begin = time.perf_counter()
        with (
            LocalCluster(n_workers=args.workers, threads_per_worker=args.threads, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            print(f"dashboard: {client.dashboard_link}", flush=True)
            found = run(client, paths, args.output, args.kill_worker)
        seconds = time.perf_counter() - begin
        for one in found:
            numbers = ((one.points, "point"), (one.voxels, "voxel"), (one.pairs, "pair"))
            print(f"{one.name}: {', '.join(counted(number, noun, form=',') for number, noun in numbers)}")
        workers, threads = len({one.process for one in found}), {one.threads for one in found}
        by = counted(workers, "process", "processes")
        print(f"{counted(len(found), 'scan')} in {seconds:.1f} s by {by}, threads of an operator: {max(threads)}")
        if args.check:
            alone = [compute(path, None) for path in paths]
            wrong = [one.name for one, other in zip(found, alone, strict=True) if one.digest != other.digest]
            if wrong:
                raise CommandError(f"differ from those of one process: {', '.join(wrong)}", exit_code=1)
            print("equal, bit by bit, to what one process computes")
    return found


if __name__ == "__main__":
    try:
        main()
    except CommandError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
