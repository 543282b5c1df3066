"""Ways to damage a file."""

from __future__ import annotations

import random
import struct

EDGES = (b"\x00", b"\xff", b"\x7f", b"\x80", b"0", b"9", b"-", b"\n", b" ", b"e", b".", b"(", b"'")
WORDS = (
    *(struct.pack("<i", value) for value in (0, 1, -1, 2**31 - 1, -(2**31), 2**16)),
    struct.pack("<f", float("nan")), struct.pack("<f", 3e38), struct.pack("<d", 1e308), struct.pack("<q", 2**62),
)  # fmt: skip
SHAPES = (
    "(3, 4)", "(0, 3)", "(-1, 3)", "(1000000000000, 3)", "(3,)", "()", "(3, 4, 5)", "(2**70, 3)", "(True, 3)", "3",
    "None",
    "(40, 40, 3)", "(32, 32)", "(18446744073709551616, 4)", "(9223372036854775807, 9223372036854775807)", "(3, 4",
)  # fmt: skip
DESCRIPTIONS = (
    "'<f4'", "'>f8'", "'<f16'", "'|O'", "'|u1'", "'<c8'", "'<U3'", "'|V0'", "'<M8[s]'",
    "[('x', '<f4'), ('y', '<f4'), ('z', '<f4')]",
    "[('x', '<f4', (1000000,)), ('y', '<f4'), ('z', '<f4')]", "'|S100000000'", "'f4,f4'", "[]", "'<f4",
    "[('x', '<f4')] * 99",
)  # fmt: skip


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return the data with a few bytes changed, removed, doubled or added."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        place = rng.randrange(len(changed) + 1)
        if rng.random() < 0.6:
            place = min(place, rng.randrange(200))  # headers matter more than bodies
        match rng.randrange(7):
            case 0:
                changed[place : place + 1] = rng.choice(EDGES)
            case 1:
                changed[place : place + 4] = rng.choice(WORDS)
            case 2:
                del changed[place : place + rng.choice((1, 4, 100, 10**6))]
            case 3:
                changed[place:place] = changed[place : place + rng.choice((1, 8, 64))]
            case 4:
                changed[place:place] = rng.choice(EDGES) * rng.choice((1, 10, 5000))
            case 5:
                changed[place : place + 1] = bytes([rng.randrange(256)])
            case _:
                changed[place:place] = rng.randbytes(rng.choice((1, 16, 256)))
    return bytes(changed)


def npy_header(rng: random.Random) -> bytes:
    """The header of a .npy file that may say anything."""
    order = rng.choice(("False", "True", "None"))
    text = f"{{'descr': {rng.choice(DESCRIPTIONS)}, 'fortran_order': {order}, 'shape': {rng.choice(SHAPES)}, }}"
    if rng.random() < 0.1:
        text = rng.choice(("(" * 5000, "[" * 200 + "]" * 200, "{}", "1", "-" * 9000 + "1", text + "\x00"))
    body = text.encode() + b" " * (63 - (len(text) + 10) % 64) + b"\n"
    major = rng.choice((1, 1, 1, 2, 3, 4))
    length = struct.pack("<H" if major == 1 else "<I", min(len(body), 65535))
    return b"\x93NUMPY" + bytes([major, 0]) + length + body
