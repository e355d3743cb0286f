"""Text cut into what the text metrics count: words of any script, whole numbers with their sign, symbols."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["has_tokens", "script_tokenizer", "spaced", "tokens"]

# Scripts that are written without blanks between words: each of their letters is a token.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_LETTER = rf"[[\p{{L}}\p{{Nl}}]&&[{_UNSPACED}]]"
_CHARACTER = rf"{_LETTER}\p{{M}}*+"  # a letter with the vowels and tones that are written on it
_PART = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_LETTER}]"
# A word, a number or both in one (Q4, 5kg); between digits a separator belongs to the number.
_WORD = rf"{_PART}++(?:(?<=\p{{Nd}})[.,'\u2019\u066b\u066c](?=\p{{Nd}}){_PART}++)*+"
_POINT = r"(?<![\p{L}\p{M}\p{N}.])\.(?=\p{Nd})"  # of .5
# A minus may be written as a hyphen, U+2212, an en dash or full width; the hyphens of COVID-19, of 2009-2010
# and of a dash written as two are none.
_SIGN = r"(?<![\p{L}\p{M}\p{N})\]%.-])(?P<sign>[-+\u2212\u2013\uff0d])(?P<currency>\p{Sc}?)(?=\.?\p{Nd})"
# Money, per cent, comparison, arithmetic, emoji: what changes a meaning. Tables and strike-outs are layout.
_SYMBOL = r"[[\p{Sc}\p{So}\p{Sm}%\uff05\u2030]--[|~]]"
_TOKEN = rf"{_SIGN}(?P<signed>\.?{_WORD})|{_CHARACTER}|(?:{_POINT})?{_WORD}|{_SYMBOL}"


class _Patterns(NamedTuple):
    token: Any
    character: Any
    letter: Any
    unspaced: Any
    han: Any


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    import regex  # noqa: PLC0415 - a run without text metrics does not pay for it

    return _Patterns(
        *(
            regex.compile(pattern, regex.V1)
            for pattern in (_TOKEN, _CHARACTER, r"\p{L}", _LETTER, rf"[{_LETTER}&&\p{{Han}}]")
        )
    )


def tokens(text: str) -> list[str]:
    """The words, numbers and symbols of a text, in order and as written; punctuation is left out.

    A number is one token with its sign, separators and decimals; every way to write a minus is one way, and
    a currency sign is a token before the number. Letters of scripts without blanks between words (Chinese,
    Japanese, Thai and others) are a token each, with the marks that are written on them. On plain lower-case
    English the tokens are those of rouge-score.

    >>> tokens("Net cash fell by -$1,206.5m (14%) in Q4-2019.")
    ['Net', 'cash', 'fell', 'by', '$', '-1,206.5m', '14', '%', 'in', 'Q4', '2019']
    >>> tokens("净利润 25587 元")
    ['净', '利', '润', '25587', '元']
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[str]:
    for found in _patterns().token.finditer(text):
        sign = found["sign"]
        if sign is None:
            yield found[0]
        else:
            if found["currency"]:
                yield found["currency"]
            yield ("+" if sign == "+" else "-") + found["signed"]


def has_tokens(text: str) -> bool:
    """Whether there is a word, a number or a symbol in it; punctuation and blanks alone are nothing.

    >>> has_tokens("... !"), has_tokens("5")
    (False, True)
    """
    return _patterns().token.search(text) is not None


def spaced(text: str) -> str:
    """The text with blanks around each letter of a script without blanks; other text stays as it is.

    >>> spaced("净利润25587").split(), spaced("net cash")
    (['净', '利', '润', '25587'], 'net cash')
    """
    if text.isascii():
        return text
    spaced_text: str = _patterns().character.sub(r" \g<0> ", text)
    return spaced_text


def script_tokenizer(text: str) -> Literal["13a", "zh", "char"]:
    """The tokenizer of sacrebleu that suits the script; each of the three works without a download.

    "char" (every character) where at least half of the letters are of scripts without blanks and not all of
    those are Chinese; "zh" (Chinese characters one by one, the rest as in 13a) where any is Chinese; "13a",
    sacrebleu's own choice, for the rest.

    >>> [script_tokenizer(text) for text in ("net cash", "净利润", "売上は", "สวัสดี", "สวัสดี means hello")]
    ['13a', 'zh', 'char', 'char', '13a']
    """
    if text.isascii():
        return "13a"
    patterns = _patterns()
    unspaced = len(patterns.unspaced.findall(text))
    if not unspaced:
        return "13a"
    han = len(patterns.han.findall(text))
    if unspaced > han and 2 * unspaced >= len(patterns.letter.findall(text)):
        return "char"
    return "zh" if han else "13a"
