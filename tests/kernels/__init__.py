"""Tests of BANG C kernels on the simulated device."""
