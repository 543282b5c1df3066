"""Operators for PyTorch. Only importing this package imports torch."""
