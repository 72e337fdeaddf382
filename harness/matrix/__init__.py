"""Many cells in one go: releases on providers, each a run of its own, and one report of all."""

from harness.matrix.cells import Cell, Done, at_once, cells, exit_code, run

__all__ = ["Cell", "Done", "at_once", "cells", "exit_code", "run"]
