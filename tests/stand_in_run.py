"""memcliff run with the stand-in child: `python -m tests.stand_in_run BEHAVIOUR OPTIONS...`."""

import sys
from pathlib import Path

from harness.cli import parser
from harness.commands.run import run
from harness.errors import MemcliffError

STAND_IN = str(Path(__file__).with_name("stand_in.py"))


def main() -> int:
    behaviour, *arguments = sys.argv[1:]
    try:
        return run(parser().parse_args(["run", *arguments]), (sys.executable, STAND_IN, behaviour))
    except MemcliffError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
