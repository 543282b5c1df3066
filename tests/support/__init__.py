"""What tests of several folders share, one subject a module."""
