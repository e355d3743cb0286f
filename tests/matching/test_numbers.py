"""What the number reader reads, and what it refuses."""

import json
from dataclasses import replace
from decimal import Decimal, Inexact, Rounded, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.matching.numbers import decimal_of, read_number, same_number, whole_number

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
TABLE = SHARED / "cases" / "number_reading.json"
CONVFINQA = SHARED / "data" / "convfinqa_dataset.json"


def d(value):
    return None if value is None else Decimal(str(value))


# --- the shared table -------------------------------------------------------------------------------------


def shared_cases():
    if not TABLE.exists():
        return [
            pytest.param(None, marks=pytest.mark.skip(reason="../shared/cases/number_reading.json is absent"))
        ]
    return [
        pytest.param(case, id=f"{case['id']}-{case['group']}")
        for case in json.loads(TABLE.read_text("utf-8"))
    ]


@pytest.mark.parametrize("case", shared_cases())
def test_the_shared_table(case):
    reading = read_number(case["text"])
    if case["ambiguous"]:
        assert reading.value in {None, d(case["expected"]), *map(d, case["alternatives"])}
    else:
        assert reading.value == d(case["expected"])
        assert reading.percent is case["percent"]
    assert (reading.value is None) is bool(reading.reason)


# --- our own table ----------------------------------------------------------------------------------------

READINGS = [
    # what a model says and the number in it (None: unreadable)
    # plain numbers with what people put around them
    ("$29.00.",                                                       "29"),
    ("42!",                                                           "42"),
    ("'42'",                                                          "42"),
    ("`42`",                                                          "42"),
    ("-$1.2bn",                                                       "-1200000000"),
    ("CHF 1'234.50",                                                  "1234.50"),
    ("R$ 5",                                                          "5"),
    ("Rs. 1,23,456",                                                  "123456"),
    ("25.587,00 €",                                                   "25587"),
    ("25,587 dollars",                                                "25587"),
    ("25 587",                                                        "25587"),
    ("1_000.5",                                                       "1000.5"),
    ("0,123",                                                         "0.123"),     # no group begins with 0
    # four digits are no group
    ("1234,567",                                                      "1234.567"),
    ("-0",                                                            "0"),
    # signs
    ("–13.2",                                                         "-13.2"),     # an en dash
    ("- 13.2",                                                        "-13.2"),     # as the whole reply
    ("x = −5",                                                        "-5"),
    ("\u200e-5\u200e",                                                "-5"),        # direction marks
    ("+5.2%",                                                         "0.052"),
    ("Minus $3 million",                                              "-3000000"),
    ("$(1,234)",                                                      "-1234"),
    ("a margin of (14.1)%",                                           "-0.141"),
    ("Net income was (1,234) in 2009",                                "-1234"),
    ("The growth (14.1%) is good",                                    "0.141"),     # an aside
    ("(-$5)",                                                         "-5"),
    ("| Net loss | (1,234) |",                                        "-1234"),
    # scales, units, fractions
    ("$5-million",                                                    "5000000"),
    ("1.2 hundred thousand",                                          "120000"),
    ("$5 m",                                                          "5000000"),
    ("25.6 K",                                                        "25600"),
    ("5km",                                                           None),
    ("25bps",                                                         "0.0025"),
    ("5 percentage points",                                           "0.05"),
    ("2½%",                                                           "0.025"),
    ("-1/2",                                                          "-0.5"),
    ("1/0",                                                           None),
    ("25万",                                                           "250000"),
    ("收入为25,587元",                                                    "25587"),
    ("1 x 10^-3",                                                     "0.001"),
    # TeX and Markdown
    (r"$\boxed{25{,}587}$",                                           "25587"),
    (r"$14.1\%$",                                                     "0.141"),
    (r"\(25587\)",                                                    "25587"),     # no accountant's minus
    (r"$1.2\times 10^{6}$",                                           "1200000"),
    (r"\[\boxed{\text{\$1.2 million}}\]",                             "1200000"),
    (r"\boxed{\frac{1}{2}}",                                          "0.5"),
    ("Revenue: **25,587** (2008: 20,000)",                            "25587"),
    ("<b>25,587</b> out of 30,000",                                   "25587"),
    ("__25,587__",                                                    "25587"),
    ("**3–5%** of 1,234",                                             None),
    # marked answers
    ("In 2007 it was 60.94 and in 2005 25.14, so the change is 35.80", "35.80"),
    ("**Answer:** 25,587",                                            "25587"),
    ("Final answer: $25,587 million",                                 "25587000000"),
    ("### Final Answer\n25,587 (from 206,588)",                       "25587"),
    ("Step 1: 9 - 4 = 5\nStep 2: 5 / 4 = 1.25",                       "1.25"),
    ("Growth = (206,588 - 181,001) / 181,001 = 14.1%",                "0.141"),
    ("1. Revenue: 206,588\n2. Cost: 181,001\n\nAnswer: 25,587",       "25587"),
    ("The answer is 2009, when revenue was 25,587",                   "2009"),
    ("The answer is the 2009 revenue of 25,587",                      "25587"),
    ("Answer: In 2009, revenue was 25,587",                           "25587"),
    ("So the U.S. revenue is 25,587, compared with 3.",               "25587"),
    ("Of 60 the answer is [42]",                                      "42"),
    ("206,588 minus 181,001 equals 25,587",                           "25587"),
    ("25,587 / 181,001 ≈ 14.1%",                                      "0.141"),
    ("206,588 and 181,001. Therefore, the change was 25,587.",        "25587"),
    ("#### 25587\nwas 206588 before",                                 "25587"),
    # marked, but no number: never the first operand
    ("The answer is 206,588 - 181,001.",                              None),
    ("Growth = (206,588 - 181,001) / 181,001",                        None),
    ("The answer is between 3 and 5",                                 None),
    ("The answer is 3 to 5 percent",                                  None),
    ("The answer is 3–5%, i.e. about 4 million",                      None),
    ("So sales are up. They were 206,588 and 181,001.",               None),
    ("So far, revenue is 206,588 and cost 181,001",                   None),
    # only one number
    ("As of December 31, 2009, cash was $1,234.",                     "1234"),
    ("The 10-K for 2009 says 25,587",                                 "25587"),
    ("In 2009 (see note 3), it was 25,587",                           "25587"),
    ("Revenue was 25,587 [1].",                                       "25587"),
    ("Revenue (1) was 25,587",                                        "25587"),
    ("72. That is the total.",                                        "72"),        # no list begins at 72
    ("25,587, that is 25,587 more",                                   "25587"),
    # one value, two spellings
    ("0.14136 (14.1%)",                                               "0.14136"),
    ("5 ± 1",                                                         "5"),
    ("In 2009",                                                       "2009"),      # a lone year
    # several numbers
    ("The change is 35.80 (60.94 - 25.14).",                          None),
    ("It rose from 181,001 to 206,588, up 14.1%",                     None),
    ("1,234 (2008: 1,100)",                                           None),
    ("- 206,588\n- 181,001",                                          None),
    ("4 2",                                                           None),
    # no number at all
    ("2005–2007",                                                     None),
    ("31 December 2009",                                              None),
    ("2009-12-31",                                                    None),
    ("31.12.2009",                                                    None),
    ("10:30",                                                         None),
    ("1,23,4",                                                        None),
    ("1,2345,678",                                                    None),  # no group has four digits
    ("1_23_456",                                                      None),  # lakhs are written with commas
    ("12 mm",                                                         "12"),  # millimetres, no millions
    ("3 b",                                                           "3"),
    ("9 t",                                                           "9"),   # tonnes
    ("5\u2030",                                                       "0.005"),
    ("It was 2150 in 2009.",                                          "2150"),  # years end with 2099
    ("It was 1899 in 2009.",                                          "1899"),
    ("It is **5** or **6**.",                                         None),  # two bold ones mark nothing
    ("It is **5** and not 6.",                                        "5"),
    ("1,2,3",                                                         None),
    ("192.168.0.1",                                                   None),
    ("555-1234",                                                      None),
    ("FY'09",                                                         None),
    ("p.134",                                                         None),
    ("1990s",                                                         None),
    ("1st",                                                           None),
    ("42abc",                                                         None),
    ("±5",                                                            None),
    ("1. It rose",                                                    None),
    ("∞",                                                             None),
    ("1e999",                                                         None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READINGS)
def test_one_reading(text, value):
    reading = read_number(text)
    assert reading.value == d(value)
    assert (reading.chosen is None) is (value is None)
    assert (reading.span is None) is (value is None)


WHOLE = [
    #  argument                 the number that it is
    ("206,588",                 "206588"),
    (" 206 588\n",              "206588"),
    ("2.06588e5",               "206588"),
    ("$206,588",                "206588"),
    ("**206,588**.",            "206588"),
    ("(14.1%)",                 "-0.141"),
    ("1,2",                     "1.2"),          # not 12
    ("2.5x",                    "2.5"),
    (206588.0,                  "206588"),
    (0.1,                       "0.1"),
    (2**53 + 1,                 "9007199254740993"),
    (Decimal("1.50"),           "1.5"),
    (Fraction(1, 4),            "0.25"),         # any real number, numpy's too
    (True,                      None),
    (None,                      None),
    (float("nan"),              None),
    (float("-inf"),             None),
    (Decimal("sNaN"),           None),
    ([5],                       None),
    ("about 5",                 None),
    ("5 and 6",                 None),
    ("1st",                     None),
    ("AAL 2009",                None),
    ("3-5",                     None),
    ("inf",                     None),
    ("",                        None),
]  # fmt: skip


@pytest.mark.parametrize(("argument", "value"), WHOLE)
def test_an_argument_is_read_as_a_whole(argument, value):
    assert whole_number(argument) == d(value)


def test_an_argument_of_numpy_is_a_number():
    numpy = pytest.importorskip("numpy")
    assert whole_number(numpy.int64(7)) == 7
    assert whole_number(numpy.float64(0.1)) == d("0.1")
    assert whole_number(numpy.bool_(True)) is None


SAME = [
    ("206588",           "206588.0",             True),
    ("0.3",              "0.30000000000000004",  True),
    ("9007199254740993", "9007199254740992",     False),   # whole numbers exactly
    ("20",               "2008",                 False),
    ("1000000000.5",     "1000000001",           True),    # relative 1e-9, inclusive
    ("100.5",            "100.50001",            False),
    ("0",                "1e-300",               False),
    ("NaN",              "NaN",                  False),
    ("Infinity",         "Infinity",             False),
    ("1e999999",         "1",                    False),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "same"), SAME)
def test_two_arguments_are_the_same_number(a, b, same):
    assert same_number(Decimal(a), Decimal(b)) is same
    assert same_number(Decimal(b), Decimal(a)) is same


def test_a_float_is_the_decimal_that_it_prints_as():
    assert decimal_of(0.1) == Decimal("0.1")
    assert decimal_of(10**400) == Decimal(10**400)
    assert decimal_of(float("inf")) is None
    assert decimal_of(Decimal("NaN")) is None
    assert decimal_of(False) is None


# --- options ----------------------------------------------------------------------------------------------

OPTIONS = [
    ("14.1%",            {"percent_as": "points"},                     "14.1"),
    ("14.1",             {"percent_as": "points"},                     "14.1"),
    ("25 bps",           {"percent_as": "points"},                     "0.0025"),   # no percentage
    ("$1.2 million",     {"scale_words": "ignore"},                    "1.2"),
    ("$1,200 thousand",  {"scale_words": "ignore"},                    "1200"),
    ("1.2 x 10^6",       {"scale_words": "ignore"},                    "1200000"),  # no word
    ("3, then 4, 5",     {"select": "first"},                          "3"),
    ("3, then 4, 5",     {"select": "last"},                           "5"),
    ("3, then 4, 5",     {"select": "only"},                           None),
    ("about 3",          {"select": "only"},                           "3"),
    ("= 3, was 4",       {"select": "last"},                           "4"),        # overrides the mark
    ("14.1%",            {"accept_percent": False},                    None),
    ("14.1 percent",     {"accept_percent": False},                    None),
    ("14.1",             {"accept_percent": False},                    "14.1"),
    ("25,587",           {"accept_thousands_separators": False},       None),
    ("1 234 567",        {"accept_thousands_separators": False},       None),
    ("12,5",             {"accept_thousands_separators": False},       "12.5"),     # a decimal comma
    ("25587",            {"accept_thousands_separators": False},       "25587"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "value"), OPTIONS)
def test_an_option(text, options, value):
    assert read_number(text, **options).value == d(value)


REASONS = [
    ("12, 15, 27",            {}, "3 numbers and none is marked as the answer: 12, 15, 27"),
    ("12, 15",                {"select": "only"}, "2 numbers where only one may stand: 12, 15"),
    ("14.1%",                 {"accept_percent": False},
     "'14.1%' is a percentage, and accept_percent is false"),
    ("It is $25,587.",        {"accept_thousands_separators": False},
     "'$25,587' has thousands separators, and accept_thousands_separators is false"),
    ("3-5",                   {}, "'3-5' is a range or a difference, not one number"),
    ("12/31/2009",            {}, "'12/31/2009' is a date or a span of years, not a number"),
    ("1,23,4",                {}, "'1,23,4' cannot be read as one number"),
    ("1e400",                 {}, "'1e400' is too long, too large or too small to be read"),
    ("9" * 400,               {}, f"'{'9' * 39}…' is too long, too large or too small to be read"),
    ("-Infinity",             {}, "'Infinity' is no finite number"),
    ("See COVID-19",          {}, "no number in the text ('COVID-19' is part of a word or a list)"),
    ("I don't know",          {}, "no number in the text"),
    (" \n ",                  {}, "the text is empty"),
    ("The answer is 3-5%.",   {}, "'3-5%' is a range or a difference, not one number"),
    ("Of 9, the answer is 3-5%.", {}, "the marked answer '3-5%' is a range or a difference, not one number"),
    ("The answer is 9 - 4.",  {}, "the marked answer '9 - 4' is an expression, not one number"),
    ("The answer is 3 to 5.", {}, "the marked answer '3 to 5' is a range, not one number"),
    (" ".join(map(str, range(50, 65))), {},
     "15 numbers and none is marked as the answer: 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, …"),
    ("5" + " " * 1_000_000,   {}, "the text is longer than 1,000,000 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "reason"), REASONS, ids=range(len(REASONS)))
def test_an_unreadable_text_says_why(text, options, reason):
    reading = read_number(text, **options)
    assert (reading.value, reading.span, reading.chosen) == (None, None, None)
    assert reading.reason == reason


def test_the_facts_about_a_candidate():
    (candidate,) = read_number("It was about €1,234.50 million in all.").candidates
    assert candidate.text == "€1,234.50 million"
    assert candidate.span == (13, 30)
    assert (candidate.value, candidate.unscaled) == (Decimal(1234500000), Decimal("1234.50"))
    assert (candidate.grouped, candidate.percent, candidate.currency) == (True, False, "€")
    assert (candidate.decimals, candidate.scale, candidate.quantum) == (2, 10**6, 10**4)


QUANTA = [
    ("14.1%",       "0.001"),
    ("25,587",      "1"),
    ("1.2 million", "100000"),
    ("1.2e3",       "100"),
    ("3 bps",       "0.0001"),
    ("1½",          "0.1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "quantum"), QUANTA)
def test_the_last_digit_shown(text, quantum):
    assert read_number(text).chosen.quantum == d(quantum)


# --- laws -------------------------------------------------------------------------------------------------

decimals = st.decimals(min_value=-(10**15), max_value=10**15, places=4, allow_nan=False, allow_infinity=False)
texts = st.one_of(
    st.text(),
    st.text(alphabet="0123456789.,-–−()%$€/:^*_=#[]{}\\ \n'½⁶\u200b٥５ekmx"),
    st.lists(
        st.sampled_from([
            "12", "1,234", "2009", "-", " ", "(", ")", "%", "$", "answer is ", "so ", " is ", "=", "**", ".",
            "\n", "\\frac{1}{2}", "\\text{", "to ", " million", "x 10^3", "Dec ", "note ", "e5",
        ]),
        max_size=30,
    ).map("".join),
)  # fmt: skip


@given(texts)
def test_no_text_is_too_odd(text):
    reading = read_number(text)
    assert (reading.value is None) is (reading.reason is not None)
    last = 0
    for candidate in reading.candidates:
        begin, end = candidate.span
        assert last <= begin < end <= len(text)
        assert text[begin:end] == candidate.text
        assert candidate.value.is_finite()
        assert float(candidate.value) not in {float("inf"), float("-inf")}
        last = end
    assert reading.chosen is None or reading.chosen in reading.candidates
    if (whole := whole_number(text)) is not None:
        assert reading.value == whole


@given(decimals)
def test_a_value_reads_back(value):
    first = read_number(f"{value:f}").value
    assert first == value
    assert read_number(f"{first:f}").value == first
    assert whole_number(f"{value:f}") == value


plain = st.from_regex(
    r"-?[$€£]?([1-9][0-9]{0,2}(,[0-9]{3}){1,3}|[0-9]{1,12})([.][0-9]{1,6})?%?[.]?", fullmatch=True
)


@given(plain)
def test_the_short_way_reads_as_the_long_way(text):
    short, long = read_number(text), read_number(f" {text} ")
    assert replace(short.chosen, span=(1, short.span[1] + 1)) == long.chosen
    assert (short.value, short.percent) == (long.value, long.percent)


@given(st.integers(0, 10**30), st.sampled_from([",", "_", "'", " ", "\u00a0", "\u202f", "\u2009", "’", "，"]))
def test_any_grouping_of_a_number_reads_the_same(number, separator):
    assert read_number(f"{number:,}".replace(",", separator)).value == number


@given(st.integers(10**6, 10**30), st.integers(0, 99))
def test_dots_may_group_and_a_comma_may_be_the_point(number, cents):
    assert read_number(f"{number:,}".replace(",", ".") + f",{cents:02}").value == d(f"{number}.{cents:02}")


@given(
    st.decimals(min_value=0, max_value=10**12, places=3).filter(bool),
    st.sampled_from([("", 1), ("-", -1), ("−", -1), ("+", 1), ("minus ", -1), ("negative ", -1), ("(", -1)]),
    st.sampled_from(["", "$", "€", "£", "USD ", "US$", "HK$ ", "¥"]),
    st.sampled_from([
        ("", 0), ("%", -2), (" %", -2), (" percent", -2), ("％", -2), (" bps", -4), ("k", 3),
        (" thousand", 3), ("M", 6), ("MM", 6), ("mn", 6), (" million", 6), ("bn", 9), (" Billion", 9),
        ("tn", 12), (" trillion", 12), ("e3", 3), ("E-3", -3), (" x 10^6", 6), (" × 10⁶", 6),
        (" million USD", 6),
    ]),
)  # fmt: skip
def test_every_way_of_writing_reads_back_exactly(number, sign, currency, unit):
    text = f"{sign[0]}{currency}{number:,f}{unit[0]}{')' if sign[0] == '(' else ''}"
    reading = read_number(text)
    assert reading.value == sign[1] * number.scaleb(unit[1])
    assert reading.span == (0, len(text))
    assert read_number(f"The answer is {text}.").value == reading.value


digits = st.text(alphabet="0123456789", min_size=1, max_size=100)


@given(digits, digits, st.sampled_from(["", "-", "minus "]))
def test_a_hundred_digits_keep_them_all(whole, part, sign):
    exact = Fraction(f"{whole}.{part}") / 100
    assert read_number(f"{sign}{whole}.{part}%").value == (-exact if sign else exact)


def test_the_surrounding_decimal_context_changes_nothing():
    texts = [
        "-1234567.89",
        "3 1/3",
        "(1,234,567.89)",
        "1.2345678 million",
        "1/3 (0.33)",
        "It is -1.23456789%.",
    ]
    before = [read_number(text).value for text in texts]
    with localcontext(prec=3, traps=[Inexact, Rounded]):
        assert [read_number(text).value for text in texts] == before
        assert same_number(Decimal("0.3"), Decimal("0.30000000000000004"))


HOSTILE = {
    "blanks": " " * 20_000,
    "blanks within": "5" + " " * 20_000 + "6",
    "prose": "Net revenue was $25,587 in 2009 and 181,001 in 2008. So it grew. " * 1_600,
    "no digits": "so therefore the answer is hence thus " * 3_000,
    "digits": "9" * 100_000,
    "nested": "(" * 50_000 + "5" + ")" * 50_000,
    "open": "(5" * 20_000,
    "groups": "1 " + "111 " * 25_000,
    "broken groups": "1,1 " + "111,1 " * 15_000,
    "commas": "1,1" * 30_000,
    "dashes": "1-" * 50_000,
    "minuses": "-" * 100_000,
    "markers": "= " * 50_000 + "5 6",
    "void markers": "so it is = a. b\n" * 6_000 + "5 6",
    "bold": "**" * 50_000 + "5 6",
    "exponent": "1e" + "9" * 50_000,
    "TeX": "\\frac{" * 20_000 + "5",
    "invisible": "5\u200b" * 30_000,
    "other digits": "٢٥ " * 20_000,
    "fractions": "1/2 " * 20_000,
    "scales": "5" + " million" * 20_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_read_in_time(text):
    read_number(text)
    whole_number(text)


@pytest.mark.parametrize(
    "text", ["1e999999999", "-1e-999999999", "5 x 10^99999999999", "1e" + "9" * 5_000, "1e400 tn"]
)
def test_an_absurd_exponent_is_refused(text):
    assert read_number(text).value is None
    assert whole_number(text) is None


# --- real data --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not CONVFINQA.exists(), reason="../shared/data/convfinqa_dataset.json is absent")
def test_every_printed_answer_of_convfinqa_is_readable():
    dialogues = [item["dialogue"] for item in json.loads(CONVFINQA.read_text("utf-8"))["dev"]]
    turns = [
        pair
        for item in dialogues
        for pair in zip(item["conv_answers"], item["executed_answers"], strict=True)
    ]
    numeric = [(read_number(said).value, decimal_of(run)) for said, run in turns if not isinstance(run, str)]
    assert (len(turns), len(numeric)) == (1490, 1486)
    assert all(said is not None for said, _ in numeric)
    apart = [(abs(said - run), abs(run)) for said, run in numeric]
    assert sum(difference > Decimal("0.01") for difference, _ in apart) == 81
    assert sum(difference <= Decimal("1e-6") for difference, _ in apart) == 1052
    assert sum(difference <= size / 100 for difference, size in apart) == 1375
