"""Tests of the BANG C intrinsics, one by one."""
