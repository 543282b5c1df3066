"""The operators once more, written from their formulas: slow and clear, and never from the library's sources.

Every function takes and returns plain NumPy arrays. Arguments named ``real`` choose the type of the
arithmetic: ``numpy.float32`` follows the documented order of operations bit for bit,
``numpy.float64`` is the yardstick for errors.
"""
