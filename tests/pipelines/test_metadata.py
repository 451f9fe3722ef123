"""What is said in Markdown shows what the service or a file said, and does nothing of what it could mean."""

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from wms_sync.shipments.load.checks import Sample
from wms_sync_pipelines.metadata import bulleted, markdown

DIALECT = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MEANT = [
    "![](http://evil.example/beacon.png)",
    "[click here](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "a | b\n--- | ---\n1 | 2",
    "one\n\n# two\n\n```js\nalert(1)\n```",
    "- one",
    "12) one",
    "1. one",
    "***",
    "==",
    "&lt;b&gt;",
    "`x` _y_ __z__ ~~w~~ a_b a\\*b*",
    "[x]: http://evil.example",
    "<http://evil.example>",
    "    indented",
]


def shown(text: str) -> str:
    """What a reader sees. Raises unless it is nothing but one paragraph of text."""
    opened, inline, closed = DIALECT.parse(markdown(text))
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children or ()} <= {"text", "text_special"}
    return "".join(child.content for child in inline.children or ())


@pytest.mark.parametrize("text", MEANT)
def test_markdown_is_shown_as_it_is(text):
    assert shown(text) == " ".join(text.split())


@given(st.text(st.sampled_from("`*_[]()<>#|~!&:/\\-+=1.a \n\t$@{}\"'^"), min_size=1).filter(str.strip))
def test_any_text_is_shown_as_it_is(text):
    assert shown(text) == " ".join(text.split())


def test_lists_and_rows_have_lines_and_invisible_characters_are_shown():
    assert markdown("a\x1b[31m\u202etxt.exe") == "a\N{REPLACEMENT CHARACTER}\\[31m\N{REPLACEMENT CHARACTER}txt.exe"
    assert bulleted(["one\n- two", "<b>"]).value == "- one - two\n- \\<b\\>"
    assert list(Sample(("id", "text"), (("1", "a\nb"),)).lines) == ["id | text", "1 | a b"]
