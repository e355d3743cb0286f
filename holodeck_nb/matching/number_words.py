"""The words and signs around a number: currencies, scales, units, months, labels."""

import re

_CODES = (
    "USD|EUR|GBP|JPY|CHF|CNY|RMB|INR|CAD|AUD|NZD|SEK|NOK|DKK|HKD|SGD|TWD|KRW|BRL|MXN|ZAR|TRY|RUB|PLN|CZK|HUF|ILS"
    "|THB|AED|SAR|IDR|MYR|PHP|VND|CLP|COP|ARS|EGP|NGN|KES|PKR"
)
_MONTHS = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    "|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)

SHORT_SCALES = {
    **dict.fromkeys(("k", "K"), 3),
    **dict.fromkeys(("m", "M", "mm", "MM", "mn", "Mn", "MN", "mln", "mio", "Mio", "mil"), 6),
    **dict.fromkeys(("b", "B", "bn", "Bn", "BN", "bln", "mrd", "Mrd"), 9),
    **dict.fromkeys(("t", "T", "tn", "Tn", "TN", "trn"), 12),
    "\u5343": 3,
    "\u4e07": 4,
    "\u842c": 4,
    "\u4ebf": 8,
    "\u5104": 8,
}
"""Power of ten by abbreviation."""

NEEDS_CURRENCY = frozenset({"mm", "b", "t"})
"""Millimetres, question 5b, tonnes: a scale only beside a currency."""

NEEDS_CURRENCY_APART = frozenset({*NEEDS_CURRENCY, "m"})
"""The same for abbreviations behind a blank: 5 m are metres, $5 m are millions."""

LONG_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "lakh": 5, "crore": 7}
"""Power of ten by word."""

UNITS = {"%": -2, "\u2030": -3, "b": -4, "p": -2}
"""Power of ten by the first letter of a unit: per cent, per mille, basis points."""

PREFIX = re.compile(
    rf"""(?P<open>\([ ]?)?
         (?:(?P<word>(?<![A-Za-z])(?:[Mm]inus|MINUS|[Nn]egative|NEGATIVE)[ ]) | (?P<sign>[-+])(?P<gap>[ ])?)?
         (?:(?P<currency>(?:(?<![A-Za-z])[A-Z]{{1,3}})?\$|(?<![A-Za-z])(?:{_CODES}|Rs\.?))[ ]{{0,8}}
            (?P<inner>[-+][ ]?)? (?P<late>\([ ]?)?)?\Z""",
    re.VERBOSE,
)
"""What may stand before the digits; searched in a short piece of text that ends there. Always matches."""

_SHORT = "|".join(sorted(SHORT_SCALES, key=len, reverse=True))

MAY_FOLLOW = re.compile(
    r"[A-Zexkmbtp\u00d7*%\u2030$\u5343\u4e07\u842c\u4ebf\u5104]"
    r"|[ -][A-Zkmbthlcpdexy\u00d7* %\u2030$\u5343\u4e07\u842c\u4ebf\u5104]|[\t\n][htmblc]"
)
"""A quick look: nothing that belongs to a number begins otherwise."""

SUFFIX = re.compile(
    rf"""(?:[eE](?P<e>[-+]?[0-9]++)(?![A-Za-z]))?
         (?:[ ]?[xX\u00d7*][ ]?10(?:(?:\^|\*\*)\{{?(?P<power>[-+]?[0-9]++)\}}?
             |(?P<raised>[\u207a\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{{1,4}})))?
         (?P<words>(?:[ \t\n]?[ -]?(?i:{"|".join(LONG_SCALES)})s?(?![A-Za-z0-9_])){{1,3}})?
         (?:(?P<blank>[ ]?)(?P<short>{_SHORT})(?![A-Za-z0-9_]))?
         (?:[ ]{{0,2}}(?P<sign>[%\u2030])
             |[ -]?(?P<unit>(?i:per[ ]?cent(?:age[ ]points?)?|pct|bps?|basis[ ]points?))(?![A-Za-z0-9_]))?
         (?P<times>[xX\u00d7](?![A-Za-z0-9_]))?
         (?P<currency>[ ]?(?:\$(?![ ]?[0-9])|(?:{_CODES}|(?i:dollars?|euros?|yen))(?![A-Za-z0-9_])))?""",
    re.VERBOSE,
)
"""What may stand behind the digits. Always matches."""

MONTH_BEFORE = re.compile(rf"(?<![A-Za-z]){_MONTHS}\.?,?[ ]\Z")
MONTH_AFTER = re.compile(
    rf"(?:st|nd|rd|th)?[ ](?:of[ ])?{_MONTHS}(?![A-Za-z])\.?(?:,?[ ](?:19|20)[0-9]{{2}}(?![0-9]))?"
)
YEAR_AFTER = re.compile(r"(?:st|nd|rd|th)?(?:,?[ ](?:19|20)[0-9]{2}(?![0-9]))?(?![A-Za-z])")

LABEL_BEFORE = re.compile(
    r"(?<![A-Za-z])(?i:steps?|notes?|footnotes?|pages?|tables?|figures?|fig|items?|sections?|exhibits?|appendix"
    r"|questions?|options?|parts?|chapters?|turns?|schedules?|no|rows?|columns?|eq)\.?[ ]?[(\[#]?\Z"
)
"""Words that make the number behind them a reference: "see note 3"."""

LINK_BEFORE = re.compile(
    r"(?i:(?<![a-z])(?:is|was|are|were|be|been|of|to|by|at|equals?|reached|totall?ed|comes))\Z"
)
"""Words after which brackets are a minus, as in "net income was (1,234)"."""
