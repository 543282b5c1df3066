"""Reading pictures: what was written comes back, and a broken file is named with its problem."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image as PillowImage

from pymluops.demo.errors import InputError, MissingPackageError
from pymluops.demo.images import read_image
from pymluops.demo.picture_size import MAX_SIDE
from support.selection import examples

SAME_FOLDER = settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
SIZES = st.tuples(st.integers(32, 40), st.integers(32, 40))


def pixels_of(size: st.SearchStrategy[tuple], channels: int, kind: str = "u1") -> st.SearchStrategy[np.ndarray]:
    return size.flatmap(lambda s: hnp.arrays(kind, (*s, channels)))


def rgb(pixels: np.ndarray, maximum: int = 255) -> np.ndarray:
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3)) / maximum


@pytest.mark.parametrize(("mode", "suffix"), [("RGB", "ppm"), ("L", "pgm"), ("1", "pbm"), ("RGB", "pnm")])
def test_netpbm(tmp_path: Path, mode: str, suffix: str) -> None:
    picture = PillowImage.fromarray(np.arange(32 * 33 * 3, dtype=np.uint8).reshape(32, 33, 3)).convert(mode)
    picture.save(tmp_path / f"picture.{suffix}")
    expected = np.asarray(picture.convert("RGB")) / 255
    np.testing.assert_allclose(read_image(tmp_path / f"picture.{suffix}").pixels, expected, atol=1e-6)


@pytest.mark.parametrize("maximum", [65535, 4095])
def test_pgm_of_16_bits(tmp_path: Path, maximum: int) -> None:
    pixels = np.arange(32 * 33, dtype=">u2").reshape(32, 33)
    (tmp_path / "deep.pgm").write_bytes(b"P5 33 32 %d\n" % maximum + pixels.tobytes())
    np.testing.assert_allclose(read_image(tmp_path / "deep.pgm").pixels[:, :, 1], pixels / maximum, atol=1e-5)


@SAME_FOLDER
@given(pixels=st.sampled_from([1, 3, 4]).flatmap(lambda c: pixels_of(SIZES, c)))
def test_npy_of_bytes(tmp_path: Path, pixels: np.ndarray) -> None:
    np.save(tmp_path / "picture.npy", pixels)
    np.testing.assert_allclose(read_image(tmp_path / "picture.npy").pixels, rgb(pixels[:, :, :3]), atol=1e-6)


def test_npy_of_other_kinds(tmp_path: Path) -> None:
    ramp = np.linspace(0, 1, 32 * 32).reshape(32, 32)
    for written, scale in ((ramp, 1), ((ramp * 65535).astype(np.uint16), 1), (ramp * 7 - 3, 1), (ramp > 0.5, None)):
        np.save(tmp_path / "picture.npy", written)
        pixels = read_image(tmp_path / "picture.npy").pixels
        expected = ramp if scale else written
        np.testing.assert_allclose(pixels, np.repeat(expected[:, :, None], 3, axis=2), atol=2e-5)
    np.save(tmp_path / "flat.npy", np.full((32, 32), 9.0))
    assert read_image(tmp_path / "flat.npy").pixels.max() == 0


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1", "CMYK"])
def test_png_or_tiff_through_pillow(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("picture.tif" if mode == "CMYK" else "picture.png")
    PillowImage.new("RGB", (40, 34), (200, 100, 50)).convert(mode).save(path)
    pixels = read_image(path).pixels
    assert pixels.shape == (34, 40, 3)
    assert pixels.dtype == np.float32
    assert 0 <= pixels.min() <= pixels.max() <= 1


def test_png_of_16_bits(tmp_path: Path) -> None:
    ramp = np.linspace(0, 65535, 32 * 32).astype(np.uint16).reshape(32, 32)
    PillowImage.fromarray(ramp).save(tmp_path / "deep.png")
    np.testing.assert_allclose(read_image(tmp_path / "deep.png").pixels[:, :, 1], ramp / 65535, atol=1e-6)


def test_jpeg_is_turned_upright(tmp_path: Path) -> None:
    exif = PillowImage.Exif()
    exif[0x0112] = 6  # turned by a quarter
    PillowImage.new("RGB", (60, 40)).save(tmp_path / "photo.jpg", exif=exif)
    assert read_image(tmp_path / "photo.jpg").pixels.shape == (60, 40, 3)


@pytest.mark.parametrize("suffix", ["ppm", "png", "npy"])
def test_a_large_picture_is_made_smaller(tmp_path: Path, suffix: str) -> None:
    pixels = np.zeros((1000, 3000, 3), dtype=np.uint8)
    pixels[:, 1500:] = 255
    path = tmp_path / f"large.{suffix}"
    if suffix == "npy":
        np.save(path, pixels)
    else:
        PillowImage.fromarray(pixels).save(path)
    small = read_image(path).pixels
    assert small.shape == (MAX_SIDE // 3, MAX_SIDE, 3)
    assert small[:, : MAX_SIDE // 2 - 4].max() < 0.02
    assert small[:, MAX_SIDE // 2 + 4 :].min() > 0.98


# ---- What is refused -----------------------------------------------------------------------------


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def png(size: tuple[int, int] = (64, 64)) -> bytes:
    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    PillowImage.fromarray(noise).save(buffer, "png")
    return buffer.getvalue()


RGB = np.zeros((40, 40, 3), np.uint8)
REFUSED = {
    "empty.png": (b"", "is empty"),
    "text.png": (b"hello", "is not a picture in a format that Pillow knows"),
    "cut.png": (png()[:3000], "cannot be read as a picture"),
    "cut.ppm": (b"P6 40 40 255\n" + bytes(4799), "cannot be read as a picture"),
    "word.pgm": (b"P2 40 40 255\n" + b"0 x " * 800, "cannot be read as a picture"),
    "small.png": (png((8, 9)), "9 x 8 pixels is too small; at least 32 x 32 are needed"),
    "text.npy": (b"hello", "is not a .npy file"),
    "flat.npy": (npy(np.zeros(40)), "has shape [40]; expected [height, width] or"),
    "five.npy": (npy(np.zeros((40, 40, 5))), "has shape [40, 40, 5]"),
    "none.npy": (npy(np.zeros((0, 40))), "has shape [0, 40]"),
    "bool.npy": (npy(np.zeros((40, 40))).replace(b"(40, 40)", b"(True, 9)"), "an impossible shape"),
    "complex.npy": (npy(np.zeros((40, 40), complex)), "holds complex128 values"),
    "signalling.npy": (npy(np.full((40, 40), 0x7FA00000, np.uint32).view(np.float32)), "1,600 of 1,600 values are NaN"),
    "nan.npy": (npy(np.where(np.eye(40) > 0, np.nan, 0)), "40 of 1,600 values are NaN or infinite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_files_are_named_with_the_problem(tmp_path: Path, name: str) -> None:
    content, problem = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_image(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert problem in message
    assert "\n" not in message


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bomb.png").write_bytes(png())
    for limit in (3000, 1000):  # above the limit Pillow warns, above twice the limit it raises
        monkeypatch.setattr(PillowImage, "MAX_IMAGE_PIXELS", limit)
        with pytest.raises(InputError, match=r"bomb\.png: has too many pixels"):
            read_image(tmp_path / "bomb.png")


def test_without_pillow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "photo.png").write_bytes(png())
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackageError) as caught:
        read_image(tmp_path / "photo.png")
    assert str(caught.value).endswith(
        'photo.png: reading PNG pictures needs Pillow, which is not installed: pip install "pymluops[demo]"'
    )


@SAME_FOLDER
@given(content=st.binary(min_size=1, max_size=300), start=st.sampled_from([b"", b"P6 40 40 255 ", png()[:500], b"P3 "]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, start: bytes) -> None:
    for suffix in ("ppm", "png", "npy"):
        path = tmp_path / f"picture.{suffix}"
        path.write_bytes(start + content)
        with pytest.raises(InputError) as caught:
            read_image(path)
        assert "\n" not in str(caught.value)


# ---- Broken and unusual values -------------------------------------------------------------------


def test_values_near_the_largest_float_are_stretched(tmp_path: Path) -> None:
    ramp = np.linspace(-1, 1, 32 * 32).reshape(32, 32)
    np.save(tmp_path / "loud.npy", ramp * 1.7e308)
    np.testing.assert_allclose(read_image(tmp_path / "loud.npy").pixels[:, :, 0], (ramp + 1) / 2, atol=1e-6)


def test_long_doubles_beyond_float64_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "long.npy", np.full((40, 40), np.longdouble("1e4000")))
    with pytest.raises(InputError, match="1,600 of 1,600 values are NaN or infinite"):
        read_image(tmp_path / "long.npy")


def test_a_thin_picture_is_brought_down(tmp_path: Path) -> None:
    np.save(tmp_path / "thin.npy", np.zeros((32, 200_000)))
    assert read_image(tmp_path / "thin.npy").pixels.shape == (32, MAX_SIDE, 3)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "jpeg", "group4"])
def test_broken_tiffs_are_read_or_refused_and_nothing_else_is_printed(
    tmp_path: Path, compression: str, capfd: pytest.CaptureFixture[str]
) -> None:
    picture = PillowImage.open(io.BytesIO(png()))
    picture = picture.convert("1") if compression == "group4" else picture
    buffer = io.BytesIO()
    picture.save(buffer, "tiff", compression=None if compression == "raw" else compression)
    rng = np.random.default_rng(0)
    for i in range(12):
        broken = np.frombuffer(buffer.getvalue(), np.uint8).copy()
        broken[rng.integers(8, len(broken), 10)] = rng.integers(0, 256, 10)
        path = tmp_path / f"{i}.{'tif' if i % 2 else 'jpg'}"
        path.write_bytes(broken.tobytes()[: len(broken) - 30 * (i % 3)])
        try:
            assert np.isfinite(read_image(path).pixels).all()
        except InputError as error:
            assert "\n" not in str(error)
    assert capfd.readouterr().err == ""


def test_a_tiff_named_npy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.npy"
    PillowImage.new("RGB", (40, 40)).save(path, "tiff")
    with pytest.raises(InputError, match=r"is not a \.npy file"):
        read_image(path)
