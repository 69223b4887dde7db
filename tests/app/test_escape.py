import html

from hypothesis import given
from hypothesis import strategies as st

from app.text.escape import label, text
from eij_core.atomic_files import slug
from tests.app.tiny import PAYLOAD


@given(st.text())
def test_text_holds_no_markup_and_no_markdown(value):
    escaped = text(value)
    assert not set("<>\"'`*_[]|~$^\\") & set(escaped)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_text_is_shown_literally(value):
    assert html.unescape(text(value)) == value


def test_text_of_a_payload():
    assert "<img" not in text(PAYLOAD)


@given(st.text())
def test_slug_is_a_safe_file_name(value):
    name = slug(value)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert not name.startswith((".", "-"))
    assert len(name) <= 80


@given(st.text())
def test_label_is_short_and_has_no_invisible_marks(value):
    cleaned = label(value)
    assert len(cleaned) <= 81
    assert "\u202e" not in cleaned
    assert "\n" not in cleaned
