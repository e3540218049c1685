"""Unit tests; the end-to-end tests of ./learn are in tests/learn."""

import os

from learn import ui

os.chdir(ui.ROOT)
