"""The memories of a core that kernels need, and the cards that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pymluops._core import Backend
from pymluops.sim.profiler._read import ArrayUse, declared_arrays
from pymluops.sim.toolchain import cards

SPACES = ("NRAM", "WRAM", "SRAM")


class Memory:
    """The arrays that sources declare in NRAM, WRAM and SRAM, against the memories of the cards.

    Sizes are those of the architecture that the sources were compiled for: an array whose size
    follows from ``__MLU_NRAM_SIZE__`` is smaller when it is compiled for a smaller card.

    Attributes
    ----------
    arrays : tuple of ArrayUse
        All arrays.
    needed : tuple of ArrayUse
        Those that must fit on a card together. Arrays of functions are not among them while several
        kernels may call the functions: each needs its own.
    """

    def __init__(self, arrays: Iterable[ArrayUse], *, is_needed: Callable[[ArrayUse], bool]) -> None:
        self.arrays = tuple(arrays)
        self.needed = tuple(filter(is_needed, self.arrays))

    @property
    def declared(self) -> dict[str, int]:
        """Bytes by the name of the memory: NRAM and WRAM of a core, SRAM of a cluster."""
        return {space: sum(array.bytes for array in self.arrays if array.space == space) for space in SPACES}

    @property
    def used(self) -> dict[str, int]:
        """Bytes of the arrays that a launch touched, each up to the last byte: its high-water mark."""
        return {space: sum(array.used for array in self.arrays if array.space == space) for space in SPACES}

    @property
    def missing(self) -> dict[str, str]:
        """By the name of each card: the memories that are too small, empty if the needed arrays fit."""
        return {card["name"]: self._missing_on(card) for card in cards()}

    def fits(self, card: str) -> bool:
        """Tell whether the needed arrays fit on a card.

        Parameters
        ----------
        card : str
            Its name, such as ``"MLU290"``.

        Raises
        ------
        KeyError
            If there is no such card.
        """
        return not self.missing[card]

    def _missing_on(self, card: dict[str, object]) -> str:
        problems: list[str] = []
        for space in SPACES:
            needed = sum(array.bytes for array in self.needed if array.space == space)
            there = 1024 * int(str(card[f"{space.lower()}_kib"]))
            if needed > there:
                problems.append(f"{space} of {there} bytes, {needed} are declared")
        return "; ".join(problems)

    def __str__(self) -> str:
        lines = [f"{array.space}  {array.bytes:>9}  {array.name}  ({array.file})" for array in self.arrays]
        lines += [f"{card}: {problem or 'fits'}" for card, problem in self.missing.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<pymluops.sim.Memory {self.declared}>"


def memory_of(backend: Backend, library: Path, *, has_one_kernel: bool) -> Memory:
    """Return the arrays of the sources that were compiled into a library."""
    real = library.resolve()
    arrays = (array for array in declared_arrays(backend) if array.library)
    own = (array for array in arrays if Path(array.library).resolve() == real)
    return Memory(own, is_needed=lambda array: has_one_kernel or not array.of_function)
