"""The version of the installed distribution, without importing `importlib.metadata`."""

VERSION = "0.1.0"
