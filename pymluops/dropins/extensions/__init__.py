"""Compiled extensions of others, one module for each: declarations over the operators of this package.

A module has ``DROP_IN``, the name for `pymluops.install`; ``MODULES``, the full names that it
stands for; ``ROWS``, the rows of the table; ``CHANGES``, what a user still changes; and the
functions, whose names are in ``__all__``.
"""
