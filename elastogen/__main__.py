"""``python -m elastogen``: the command line."""

import sys

from elastogen.command_line import main

if __name__ == "__main__":
    sys.exit(main())
