"""Parse the JSON5 values in filters (service-facts, "Filter grammar").

Accepts objects with quoted or bare keys, arrays, strings in either quote, numbers, true, false, null, trailing commas.
Comments, hexadecimal numbers and Infinity are JSON5 too, but no filter needs them, so they are refused.
"""

import re
from typing import NoReturn

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


class Json5Error(ValueError):
    """The text is not a JSON5 value; the message says where."""


def parse(text: str) -> object:
    """Parse one JSON5 value that takes up the whole text. Raises Json5Error."""
    reader = _Reader(text)
    value = reader.value()
    if reader.peek():
        reader.fail("unexpected text after the value")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def fail(self, what: str) -> NoReturn:
        raise Json5Error(f"{what} at character {self._at + 1}")

    def peek(self) -> str:
        """Return the next character that is not white space, or an empty string at the end."""
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def value(self) -> object:
        match self.peek():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"' | "'":
                return self._string()
            case _:
                return self._word_or_number()

    def _object(self) -> dict[str, object]:
        found: dict[str, object] = {}
        self._at += 1
        while self.peek() != "}":
            key = self._string() if self.peek() in ('"', "'") else self._name()
            if self.peek() != ":":
                self.fail("':' expected")
            self._at += 1
            found[key] = self.value()
            self._comma_before("}")
        self._at += 1
        return found

    def _array(self) -> list[object]:
        found: list[object] = []
        self._at += 1
        while self.peek() != "]":
            found.append(self.value())
            self._comma_before("]")
        self._at += 1
        return found

    def _comma_before(self, end: str) -> None:
        if self.peek() == ",":
            self._at += 1
        elif self.peek() != end:
            self.fail(f"',' or '{end}' expected")

    def _name(self) -> str:
        name = _NAME.match(self._text, self._at)
        if name is None:
            self.fail("a key expected")
        self._at = name.end()
        return name.group()

    def _word_or_number(self) -> object:
        word = _NAME.match(self._text, self._at)
        if word is not None and word.group() in _WORDS:
            self._at = word.end()
            return _WORDS[word.group()]
        number = _NUMBER.match(self._text, self._at)
        if number is None:
            self.fail("a value expected")
        self._at = number.end()
        text = number.group()
        return float(text) if any(mark in text for mark in ".eE") else int(text)

    def _string(self) -> str:
        quote = self._text[self._at]
        self._at += 1
        parts: list[str] = []
        while (char := self._text[self._at : self._at + 1]) != quote:
            if not char:
                self.fail("unfinished string")
            self._at += 1
            parts.append(self._escape() if char == "\\" else char)
        self._at += 1
        text = "".join(parts)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins escaped surrogate pairs

    def _escape(self) -> str:
        char = self._text[self._at : self._at + 1]
        self._at += 1
        length = {"u": 4, "x": 2}.get(char)
        if length is None:
            return _ESCAPES.get(char, char)
        digits = self._text[self._at : self._at + length]
        if not re.fullmatch(f"[0-9a-fA-F]{{{length}}}", digits):
            self.fail("hexadecimal digits expected")
        self._at += length
        return chr(int(digits, 16))
