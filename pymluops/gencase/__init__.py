"""Test cases as the vendor's library dumps them: read, written and run."""
