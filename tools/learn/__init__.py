"""The command ./learn: a thin face over CMake and CTest. Start reading at cli.py."""
