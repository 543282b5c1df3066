"""Compiled extensions of others, one module for each: declarations over the operators of this package.

A module has ``DROP_IN``, the name for `pymluops.install`, empty if only a program can say where it
belongs; ``MODULES``, the full names that it stands for; ``ROWS``, the rows of the table;
``CHANGES``, what a user still changes; and the functions, whose names are in ``__all__``. It may
have ``ALSO_IN``, names of further drop-ins; ``LAST_NAMES``, further last parts of names; and
``prepare(name)``, which is called when a module of that name is imported and returns functions that
take the place of its own.
"""
