"""How this program is called where it is installed: in a clone, in an environment of its own, or on the path."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PROGRAM = "wms-sync"


def command() -> str:
    """Return what to type for this program: `wms-sync` if the shell finds it there, else its path."""
    program = Path(sys.executable).with_name(PROGRAM)
    found = shutil.which(PROGRAM)
    return PROGRAM if found and Path(found).absolute() == program.absolute() else str(shown(program))


def shown(path: Path) -> Path:
    """Return a path as a person reads it best: relative below the present folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
