"""The kernels of ``examples/kernels``: their oracles, and what becomes of them when a line is changed."""
