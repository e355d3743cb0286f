"""Two ways to bring text into the form in which it is compared."""

from unicodedata import normalize


def exact_text(text: str) -> str:
    r"""Light normalization: one way to write each accent (NFC), ends trimmed; case and inner blanks stay.

    >>> exact_text("  Cafe\u0301 AAL ")
    'Café AAL'
    """
    return normalize("NFC", text).strip()


def fuzzy_text(text: str) -> str:
    r"""What is left when case, width, blanks and ligatures do not matter (NFKC and casefold).

    >>> fuzzy_text("  Net\u00a0 Revenue \n STRA\u00dfE ")
    'net revenue strasse'
    """
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    # Folding can undo NFKC and NFKC can undo folding: a second turn makes the result stable.
    return " ".join(normalize("NFKC", folded.casefold()).split())
