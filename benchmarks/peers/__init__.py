"""Other implementations of the operators: a folder for each family, a module in it for each package.

Such a module has ``variants(problem, outputs, threads)``. It returns ways to compute the operator
as functions by name; each writes into `outputs` where the operator does and returns the results by
name. The fastest of them stands for the peer. Each is written as somebody would who knows the
package well and wants speed.

The modules of a package that is not installed are never imported.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata, resources

from benchmarks.cases import FAMILIES
from benchmarks.problem import Arrays, Problem

Variants = Mapping[str, Callable[[], Arrays]]


@dataclass(frozen=True)
class Peer:
    """A package that can compute some families. `package` is its name on the package index."""

    name: str
    module: str
    package: str

    @property
    def families(self) -> tuple[str, ...]:
        """The families with a module of this peer."""
        folder = resources.files(__name__)
        return tuple(family for family in FAMILIES if (folder / family / f"{self.name}.py").is_file())

    @property
    def installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str | None:
        """The version of the package, None if it is not installed."""
        return metadata.version(self.package) if self.installed else None

    def variants(self, problem: Problem, outputs: Arrays, threads: int) -> Variants:
        """Return its ways to compute the problem with so many threads."""
        module = importlib.import_module(f"benchmarks.peers.{problem.case.family}.{self.name}")
        found: Variants = module.variants(problem, outputs, threads)
        return found


PEERS = tuple(Peer(name, name, name) for name in ("numpy", "torch", "numba", "scipy", "shapely", "spconv"))


def installed_peers(names: tuple[str, ...] | None = None) -> list[Peer]:
    """Return the installed peers, or those of them that are named."""
    return [peer for peer in PEERS if peer.installed and (names is None or peer.name in names)]
