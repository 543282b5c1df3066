"""What the bindings share that average samples of regions: roi_align and bezier_align."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Number

__all__ = ["ALIGNED_NUMBERS", "check_aligned_size"]

ALIGNED_NUMBERS = (
    Number("aligned_height", least=1),
    Number("aligned_width", least=1),
    Number("spatial_scale", real=True),
    Number("sampling_ratio", least=0),
    Number("aligned"),
)


def check_aligned_size(call: Call) -> None:
    """Check that the size of the pooled maps is that of the numbers."""
    for axis in ("height", "width"):
        wanted, found = call.arguments[f"aligned_{axis}"], call.sizes[f"pooled_{axis}"]
        if wanted != found:
            raise call.refuse(f"aligned_{axis}", f"{found}, as the tensor has", wanted)
