"""Tests of the BANG C intrinsics, each by itself."""
