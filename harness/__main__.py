"""`python -m harness` is the command `synthesis`."""

import sys

from harness.cli import main

if __name__ == "__main__":
    sys.exit(main())
