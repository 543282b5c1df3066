"""The pictures of the README and of the documentation, drawn from the code: ``python3 tools/pictures/draw.py``."""
