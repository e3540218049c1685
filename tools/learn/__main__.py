"""What the script ./learn hands over to. Kept to what any Python 3 understands."""

import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "./learn needs Python 3.11 or newer; %s is %d.%d. Name another one in the"
        " variable WB_PYTHON.\n" % ((sys.executable,) + tuple(sys.version_info[:2])))
    sys.exit(2)
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from learn.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
