"""Tests of the raw C ABI, through `Backend.lib` and `Backend.ffi`."""
