"""The pages of the documentation that are generated: docs/conf.py asks for them before Sphinx reads its sources.

Nothing is imported of the package: pages are made of sources, headers and results of benchmarks, so
that they are built where nothing is compiled and PyTorch is not installed. `pages.write` is the
entry.
"""
