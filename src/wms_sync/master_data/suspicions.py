"""The cells that are probably not what was meant, although they break no rule: one table of patterns.

A create cannot be undone, so a row with such a cell is not created unless ``--as-written`` is given. Nothing is
repaired. A row that was created earlier is not judged again.

Each pattern is for all cells, or for those that hold a name, a code, a barcode and so on. It must not match what people
use: ``NA`` and ``1e3`` are codes, ``Null`` is a name, and ``None`` may stand in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from unicodedata import name

ANY, NAME, CODE, BARCODE, HS_CODE = "text", "name", "code", "barcode", "harmonised code"
METHOD, METHODS, TAG = "shipping method", "shipping methods", "location tag"

_MONTH = (
    # capitalised as Excel writes them in English and German; in lower case as in other languages, without those that
    # are words too, such as the Italian set
    "(?:Jan|Feb|Mar|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec"
    "|janv|f[ée]vr?|mars|avr|mai|juin|juil|ao[ûu]t|d[ée]c|mrt|mei|okt|ene|abr|ago|dic|giu|ott|maj|des|dez"
    "|янв|фев|мар|апр|май|июн|июл|авг|сен|окт|ноя|дек)"
)
_MONTH_FIRST = (
    "(?:Jan|Feb|Mar|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez|janv|févr|mars|avr|juil|août|déc|mrt|okt)"
)
_DATE = (
    rf"\d{{1,2}}[-.]{_MONTH}\.?(?:[-.](?:\d\d)?\d\d)?|\d{{1,2}}\. {_MONTH}|{_MONTH_FIRST}\.?[- ]\d\d"
    r"|[0-3]\d[/.][0-3]\d[/.]\d\d|[0-3]?\d[/.-][0-3]?\d[/.-](?:19|20)\d\d"
    r"|(?:19|20)\d\d[/-][01]?\d[/-][0-3]?\d(?: 00:00(?::00)?)?|\d{1,2}月\d{1,2}日"
)
"""What 1-3, MAR1 or 3/1 is turned into by spreadsheets in several languages."""
_OF_UTF_8 = "[\u0080-\u00bf€ƒ†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ]"  # noqa: RUF001 - the letters as they look when read wrongly
_WRONG_CODE_PAGE = (
    # UTF-8 read as Windows-1252, -1250 or -1251, or as that of DOS
    rf"[ÂÃÄÅÐÑ]{_OF_UTF_8}|Ã[–—„…‚‘’“”]|â[€‚„]|Ă[Ľ¤¶©¨«]|[A-Za-z]Г|[\u2500-\u259f]"  # noqa: RUF001 - as above
    # Windows-1252 and the code pages of old Macs and DOS, read as each other
    r"|[a-z][ŠŽŒŸÈË]|[A-Z]Ÿ[a-z]|[A-Za-z][†‡ˆ‰‹›‚„”ƒ˜¦¤¬³ⁿ¸÷Σ][a-z]|[a-z]ˆ"  # noqa: RUF001 - as above
)
_LOST_ZERO = "write 0 in front of it if a spreadsheet dropped it."
_PATTERNS: Sequence[tuple[tuple[str, ...], str, str]] = (
    # what the cells hold, or all cells; the pattern, without groups; the mistake and the correction
    ((), "[\0\ufffd]", "Has {}, which stands for a letter that was lost in a conversion. Enter the text again."),
    ((), r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "Has {}, such as DOS puts at the end of a file. Remove it."),
    (
        (),
        r"\A(?:#[¡¿]?[A-ZÀ-ÞА-Я][A-ZÀ-ÞА-Я0-9/._]+[!?]|#[Nn]/[A-Za-z]|#NV|#ND|#GETTING_DATA|#{3,}|[EF][a-z]+:5\d\d)\Z",
        "Is the error of a spreadsheet formula, or of a column that is too narrow. Enter the value again.",
    ),
    ((), r'\A="[^"]*"\Z|\A=\w+\(', "Is a spreadsheet formula. Format the column as text and enter only the text."),
    (
        (),
        r"\A(?:None|nan|NaN|NaT|null|NULL|\(null\)|\(NULL\)|\\N|<NA>|undefined)\Z",
        "Is the word of a program for a missing value. Empty the cell.",
    ),
    (
        (CODE, BARCODE, HS_CODE),
        r"\A(?:[Nn]/[Aa]|none|NONE|-+|\?+)\Z",
        "Is a word for a missing value. Empty the cell.",
    ),
    ((), _WRONG_CODE_PAGE, "Has letters of a wrong code page. Save the file as 'CSV UTF-8' from its source."),
    (
        (NAME, TAG),
        r"[\r\n]",
        "Has a line break. If a quote is missing or one too many, the cell holds rows: correct it.",
    ),
    (
        (NAME, TAG, CODE),
        r"[A-Za-z]\?[a-z]",
        "Has ? within a word, as for a letter that was lost. Enter the text again.",
    ),
    (
        (NAME, TAG, CODE, BARCODE),
        rf"\A(?:{_DATE})\Z",
        "Is a date: spreadsheets turn 1-3, MAR1 or 3/1 into dates. Format the column as text and enter it again.",
    ),
    (
        (CODE, BARCODE, HS_CODE),
        r"\A(?:\d(?:[.,]\d+)?[Ee]\+\d+|\d[.,]\d+[Ee]-\d{2,})\Z",
        "Was shortened by a spreadsheet. Format the column as text and enter all digits again.",
    ),
    ((CODE, BARCODE, HS_CODE), r"\A'", "Begins with an apostrophe, which marks text in spreadsheets. Remove it."),
    (
        # a key with such a character would create an object that exists a second time
        (CODE, BARCODE, HS_CODE, METHOD, METHODS),
        "[^\\S ]|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
        "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]",
        "Has {}, which is invisible or looks like a space. Enter the text again by hand.",
    ),
    (  # without the characters that make up emoji
        (TAG,),
        "[^\\S ]|[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
        "\ufeff\uffa0]",
        "Has {}, which is invisible or looks like a space. Enter the text again by hand.",
    ),
    (
        (BARCODE,),
        r"\A\d{8,}[.,]0\Z",
        "Was turned into a number with decimals. Format the column as text and enter the code again.",
    ),
    ((HS_CODE,), r"\A(?:\d{5}|\d{7})\Z", f"Has an odd number of digits, but such codes come in pairs: {_LOST_ZERO}"),
    (
        (BARCODE,),
        r"[,;]|\A(?=[^\s/]*\d)[^\s/]{4,}(?:[\s/]+(?=[^\s/]*\d)[^\s/]{4,})+\Z",
        "Has several codes, but not with the separator |. Write | between two codes.",
    ),
    ((METHOD,), r"\A_|\A[^_]+\Z|_\Z", "Is not of the form <carrier>_<SERVICE>, such as ups_GROUND. Correct it."),
    (
        (METHOD, METHODS),
        r"[,;|]|[\s/][^\s/]*_",
        "Has several shipping methods, but not with the separator |. Write | between two in a list; elsewhere, one.",
    ),
)
BECAME_NUMBERS = (
    "Ends with .0, like all codes of this column: a program turned them into numbers. Format the column as text and "
    "enter the codes again."
)
_DECIMAL = re.compile(r"\d+[.,]0", re.ASCII)


_OF = {
    holds: re.compile(
        "|".join(f"(?P<p{at}>{pattern})" for at, (of, pattern, _) in enumerate(_PATTERNS) if holds in of or not of)
    )
    for holds in (ANY, NAME, CODE, BARCODE, HS_CODE, METHOD, METHODS, TAG)
}
"""One pattern for all that must not be in such cells; its groups have the numbers of ``_PATTERNS``."""


def suspicion(holds: str, text: str) -> str | None:
    """Return why the text of a cell, or of an entry of a list, is probably not what was meant, and what to do."""
    found = _OF[holds].search(text)
    if found is None:
        return None
    character = found[0][0]
    return _PATTERNS[int(str(found.lastgroup)[1:])][2].format(
        f"U+{ord(character):04X} ({name(character, 'a control character').lower()})"
    )


def became_numbers(codes: Collection[str], enough: int) -> bool:
    """Return whether all codes of a column end with .0, as if a program had turned them into numbers.

    Fewer codes than are ``enough`` say nothing.
    """
    return len(codes) >= enough and all(_DECIMAL.fullmatch(code) for code in codes)
