"""A fault: one promise broken on purpose, by an exact replacement in a copy of the source."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """``breaks`` names lines of the guarantees by their first cells.

    ``old`` occurs exactly once in ``file``. Once ``new`` stands there, one of ``tests`` must fail: a file of tests, or
    ``file::test`` where the rest of the file takes long.
    """

    sentence: str
    breaks: tuple[str, ...]
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted(self, root: Path) -> str:
        """Return the text of the file below ``root`` with the fault. Raise ``ValueError`` if it cannot be planted."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has this {text.count(self.old)} times: {self.old}")
        return text.replace(self.old, self.new)
