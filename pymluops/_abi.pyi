"""Types of the generated cffi module."""

from typing import Any

ffi: Any
