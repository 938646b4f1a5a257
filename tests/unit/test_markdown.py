"""Markdown that shows texts as they are, read back by a parser of CommonMark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.show.markdown import block, code, escaped, sentence, table

markdown_it = pytest.importorskip("markdown_it")
PARSER = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "<script>alert(1)</script>", "a|b", "*x* _y_ `z`", "[a](http://b)", "[/bold]", "# heading",
    "- item", "1. item", "![x](y)", "&amp; &lt;", "~~gone~~", "\\", "a\\", "> quote", "line\nbreak",
    "$x$", "snake_case_name", "http://a.b", "| a |", "***", "===", "1) x", "2.00 cores",
)  # fmt: skip


def text_of(tokens):
    """Return what a reader sees: texts and code."""
    return "".join(
        token.content if token.type in {"text", "code_inline", "text_special"} else ""
        for block_token in tokens
        for token in (block_token.children or ())
    )


def seen(markdown):
    """Return the text of Markdown, and the kinds of its tokens."""
    tokens = PARSER.parse(markdown)
    kinds = {child.type for token in tokens for child in (token.children or ())}
    return text_of(tokens), kinds, {token.type for token in tokens}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_as_it_is(text):
    """Alone on a line, where most would be markup."""
    shown, kinds, blocks = seen(escaped(text))

    assert shown == " ".join(text.split())
    assert kinds <= {"text", "text_special"}
    assert blocks == {"paragraph_open", "paragraph_close", "inline"}


@given(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30))
def test_any_text_is_shown_as_it_is(text):
    """Whatever it is made of."""
    assert seen(f"x {escaped(text)}")[0] == f"x {text}"


@given(st.text(st.sampled_from("`a |\\*"), max_size=12))
def test_code_is_shown_as_it_is(text):
    """With backticks of its own, too."""
    shown, kinds, _ = seen(f"x {code(text)} y")

    assert "code_inline" in kinds
    assert shown.split() == ["x", *text.split(), "y"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_stays_one_cell(text):
    """Bars do not begin another."""
    lines = list(table(("a", "b"), [(text, "2"), ("", "")], right=("b",)))
    tokens = PARSER.parse("\n".join(lines))

    assert sum(token.type == "td_open" for token in tokens) == 4
    assert sum(token.type == "th_open" for token in tokens) == 2


def test_commands_are_a_block_of_code_whatever_they_hold():
    """A fence inside does not end it."""
    (fence,) = PARSER.parse("\n".join(block(["echo '```'", "ls"])))

    assert (fence.type, fence.info, fence.content) == ("fence", "sh", "echo '```'\nls\n")


def test_a_sentence_begins_large_and_ends():
    """With one full stop."""
    assert sentence("it is done") == "It is done."
    assert sentence("is it?") == "Is it?"
