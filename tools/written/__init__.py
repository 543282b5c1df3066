"""What `tools/families.py` writes: a module for each kind of text. None needs the compiled package or PyTorch."""
