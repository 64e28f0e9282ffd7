"""Personal details are found, and nothing else is taken for one."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SynthesisError
from harness.redact import KINDS, Detail, Redaction, read_terms, without

PLAIN = Redaction()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Write to jane.o'neil+x@mail.example.co.uk, please.", "Write to [email], please."),
        ("Schreib an jörg@müller.example!", "Schreib an [email]!"),
        ("Call +49 (0)30 123 4567 or +442079460958.", "Call [phone] or [phone]."),
        ("(212) 555-1234 and 212-555-1234 and 1-800-555-0199", "[phone] and [phone] and [phone]"),
        ("020 7946 0958; 07700 900123; 0049 30 1234567", "[phone]; [phone]; [phone]"),
        ("01 23 45 67 89\n+1.212.555.1234", "[phone]\n[phone]"),
        ("06 12 34 56 78, 06.12.34.56.78 or 07-08-09-10-11", "[phone], [phone] or [phone]"),
        ("ring 212-555-1234x99 now", "ring [phone]x99 now"),
        ("+1 212 555 1234 2024 12 12 55 66", "[phone] 12 12 55 66"),
        ("card 4111 1111 1111 1111.", "card [card]."),
        ("card 4111111111111111, 3782-822463-10005", "card [card], [card]"),
        ("order 12 4111-1111-1111-1111 12", "order 12 [card] 12"),
        ("key sk-abcdefghijklmnop1234 here", "key [key] here"),
        ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [key]"),
        ("AKIAIOSFODNN7EXAMPLE", "[key]"),
        ("https://user:pa@ss@host.example/x", "https://[credentials]@host.example/x"),
        ("ftp://tok3n@host/x", "ftp://[credentials]@host/x"),
        ("https://h.example/?a=1&token=abc#x", "https://h.example/?a=1&token=[credentials]#x"),
        ("https://h.example/#access_token=abc&a=1", "https://h.example/#access_token=[credentials]&a=1"),
        ("https://h.example/?client_secret=abc", "https://h.example/?client_secret=[credentials]"),
        (
            "https://h.example/?X-Amz-Signature=ab12&a=1",
            "https://h.example/?X-Amz-Signature=[credentials]&a=1",
        ),
    ],
)
def test_what_is_taken_out(text: str, shown: str) -> None:
    assert PLAIN.text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "on 01.02.2023 14 people came",
        "on 01.02.23 10.30 and 01-02-2023 10-30",
        "2023-01-02 10:00 until 2023-01-03 11:30",
        "2024-2025, in 1999 2000 2001",
        "order 12345678, invoice 2023-000123",
        "0.123456789 and 3.14159265358979",
        "192.168.100.200 and 10.000.000.000",
        "1234 5678 9012 3456",  # the sum of a card is wrong
        "4111 1111 1111 1112",
        "1234 5678 9012 3452, 1234567890123452",  # no card begins with 1
        "ISBN 978-3-16-148410-0",
        "it is 12:30:45 now",
        "I'm @home, a@b",
        "the bearer of responsibilities",
        "https://host.example/@me?page=3&sort_key=name&monkey=1#keys=2",
        "550e8400-e29b-41d4-a716-446655440000",
        "version 1.2.3.4 of 2026-11-18T03:24:56+00:00",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert PLAIN.find(text) == []


def test_listed_terms_are_whole_words_in_any_case_and_script() -> None:
    redaction = Redaction((("jane", "doe"), ("łukasz",), ("müller",)))
    said = "JANE  Doe and Łukasz met Janet Doe, jane. doe! Straße MÜLLERs Müller"
    assert redaction.text(said) == "[listed] and [listed] met Janet Doe, [listed]! Straße MÜLLERs [listed]"


def test_the_longest_listed_term_wins_and_neighbours_are_each_found() -> None:
    redaction = Redaction((("jane",), ("jane", "doe")))
    assert redaction.text("Jane Jane Doe Jane") == "[listed] [listed] [listed]"


def test_words_far_apart_are_no_term() -> None:
    assert Redaction((("jane", "doe"),)).find("Jane and not Doe, Jane      Doe") == []


def test_a_piece_never_shows_the_half_of_a_detail() -> None:
    text = "mail jane@example.org today"
    details = PLAIN.find(text)
    assert details == [Detail(5, 21, "email")]
    for start in range(len(text)):
        for end in range(start, len(text) + 1):
            shown = without(text, details, start, end)
            assert "jane" not in shown
            assert "example" not in shown
            assert ("[email]" in shown) is (start < 21 and end > 5 and end > start)


def test_details_that_overlap_become_one() -> None:
    redaction = Redaction((("jane",),))
    assert redaction.find("jane@example.org") == [Detail(0, 16, "email")]


@given(
    st.lists(
        st.sampled_from(
            ["a@b.cc", "+1 212 555 1234", "4111 1111 1111 1111", "x", " ", "0", "-", "@", "jane"]
        ),
        max_size=20,
    )
)
def test_places_are_in_order_and_apart(pieces: list[str]) -> None:
    redaction = Redaction((("jane",),))
    text = "".join(pieces)
    details = redaction.find(text)
    assert all(left.end <= right.start for left, right in pairwise(details))
    assert all(0 <= each.start < each.end <= len(text) and each.kind in KINDS for each in details)
    rest = "".join(text[left.end : right.start] for left, right in pairwise(details))
    assert "a@b.cc" not in rest


@pytest.mark.parametrize(
    "text", ["+1 " * 50_000, "0" * 200_000, "4111 " * 40_000, "a@" * 100_000, "1-" * 90_000]
)
def test_no_text_is_slow(text: str) -> None:
    """Each of these takes minutes where a pattern goes back over what it read."""
    assert len(Redaction((("1",) * 40,)).text(text)) > 0


def test_a_list_is_read_once_each_without_empty_lines(tmp_path: Path) -> None:
    file = tmp_path / "terms.txt"
    file.write_text("\ufeffJane Doe\n\n  ACME-42 \njane doe\n", "utf-8")
    assert read_terms(file) == (("jane", "doe"), ("acme", "42"))


def test_a_term_that_could_never_be_found_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "terms.txt"
    file.write_text("Jane\n---\n")
    with pytest.raises(SynthesisError, match="no letter or digit") as error:
        read_terms(file)
    assert error.value.where == f"{file}:2"


def test_a_list_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="cannot be read"):
        read_terms(tmp_path / "no")
    (tmp_path / "latin").write_bytes(b"J\xf6rg\n")
    with pytest.raises(SynthesisError, match="not UTF-8"):
        read_terms(tmp_path / "latin")
