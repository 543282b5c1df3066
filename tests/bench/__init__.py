"""Tests of the benchmark: what it does, not how fast anything is."""
