"""memcliff run with the real child without its rests: `python -m tests.brisk_run OPTIONS...`."""

import sys

from harness.cli import parser
from harness.commands.run import run
from harness.errors import MemcliffError

CHILD = (sys.executable, "-m", "tests.brisk_child")


def main() -> int:
    try:
        return run(parser().parse_args(["run", *sys.argv[1:]]), CHILD)
    except MemcliffError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
