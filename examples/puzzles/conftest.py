"""Switches the plugin for tests of kernels on."""

pytest_plugins = ["pymluops.bang.testing"]
