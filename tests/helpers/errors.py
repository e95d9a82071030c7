"""Rejections: what a message must contain, whatever its wording is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from poise import InputError, PoiseError

MOST_LETTERS, MOST_SENTENCES = 600, 3


Error = TypeVar("Error", bound=PoiseError)


def rejects(call: Callable[[], Any], *tokens: object, error: type[Error] = InputError) -> Error:  # type: ignore[assignment]
    """The error that a call raises, once its message has the form of all messages and every token is in it.

    tokens  what the reader needs: a name or value that was given, a bound, a unit, an option, a suggestion. A token
            that begins and ends with a letter or digit must stand alone: "5" is not found in "0.5 m" or "15"
    """
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    check_form(message)
    missing = [str(token) for token in tokens if not _contains(message, str(token))]
    assert not missing, f"{missing} not in: {message}"
    return caught.value


def check_form(message: str) -> None:
    """One line, at most three sentences, ended, and short enough to be read."""
    assert message == message.strip() and len(message.splitlines()) == 1, f"not one line: {message!r}"
    assert message.endswith((".", "?")) or re.search(r": pip install \S+$", message), f"does not end: {message}"
    said = message.partition(" Known: ")[0]  # a list of names is as long as it is
    assert len(said) < MOST_LETTERS, f"{len(said)} letters: {message}"
    assert len(re.findall(r"(?<!\bvs)[.?](?= [A-Z]|$)", message)) <= MOST_SENTENCES, f"too many sentences: {message}"
    assert not re.search(r"<\S+ object at 0x", message), f"an object of Python: {message}"


def _contains(message: str, token: str) -> bool:
    before = r"(?<![\d.])(?<!\w)" if token[:1].isdigit() else r"(?<!\w)" if token[:1].isalpha() else ""
    after = r"(?!\w|\.\d)" if token[-1:].isalnum() else ""
    return re.search(before + re.escape(token) + after, message) is not None
