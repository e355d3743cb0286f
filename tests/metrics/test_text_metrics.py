"""The text metrics: the libraries' own numbers, and the traps that lie around them."""

import asyncio
import json
import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from holodeck_nb.engine.scoring import score_turn
from holodeck_nb.metrics import text as text_module
from holodeck_nb.metrics.base import (
    GraderContext,
    MetricError,
    NotApplicableError,
    build_metrics,
    unavailable,
)
from holodeck_nb.metrics.text_scores import LOADERS
from holodeck_nb.metrics.text_tokens import has_tokens, script_tokenizer, spaced, tokens
from holodeck_nb.schema.metrics import MetricConfig

CONFIG = TypeAdapter(MetricConfig)
NAMES = ("bleu", "rouge", "meteor", "chrf", "ter", "similarity")
COMPARE = {name: LOADERS[name]() for name in NAMES}


def built(metric, **options):
    (one,) = build_metrics((CONFIG.validate_python({"type": metric, **options}),), {})
    return one


def measure(metric, reply, truth, **options):
    return asyncio.run(built(metric, **options).measure(GraderContext("q", reply, ground_truth=truth)))


def status(config, reply, truth):
    metrics = build_metrics((CONFIG.validate_python(config),), {})
    context = GraderContext("q", reply, ground_truth=truth)
    (result,) = asyncio.run(score_turn(metrics, context, grader_timeout=1))
    return result


# The words as they are counted by rouge and meteor.

CUT = [
    #  text                               tokens
    ("Net cash fell.",                    ["Net", "cash", "fell"]),
    ("don't (at all)",                    ["don", "t", "at", "all"]),       # as rouge-score does
    ("snake_case **bold** `code`",        ["snake", "case", "bold", "code"]),
    ("",                                  []),
    (" \n\t ",                            []),
    ("... !? — «»",                       []),
    ("25587",                             ["25587"]),
    ("25,587.00",                         ["25,587.00"]),                   # separators and decimals stay
    ("₹1,00,000",                         ["₹", "1,00,000"]),
    ("1'234’567",                         ["1'234’567"]),                   # as the Swiss write
    ("5, 6 and 7.",                       ["5", "6", "and", "7"]),
    ("-5",                                ["-5"]),
    ("−5",                                ["-5"]),                          # U+2212
    ("(–5)",                              ["-5"]),                          # en dash
    ("+5",                                ["+5"]),
    ("-$5",                               ["$", "-5"]),
    ("$-5",                               ["$", "-5"]),
    ("5€",                                ["5", "€"]),
    ("14.1%",                             ["14.1", "%"]),
    ("14.1 %",                            ["14.1", "%"]),
    (".5 -.5",                            [".5", "-.5"]),
    ("...5",                              ["5"]),
    ("2009-2010",                         ["2009", "2010"]),                # a hyphen is no minus
    ("2009–2010",                         ["2009", "2010"]),
    ("COVID-19",                          ["COVID", "19"]),
    ("10 - 5",                            ["10", "5"]),
    ("10 − 5",                            ["10", "−", "5"]),
    ("profit < 5",                        ["profit", "<", "5"]),
    ("| 5 | ~6~ |",                       ["5", "6"]),                      # a table is layout
    ("Q4 5kg 1.2bn v1.5",                 ["Q4", "5kg", "1.2bn", "v1.5"]),
    ("12:30, 1/2",                        ["12", "30", "1", "2"]),
    ("x² ½",                              ["x²", "½"]),
    ("Über-été naïve",                    ["Über", "été", "naïve"]),
    ("καθαρά μετρητά.",                   ["καθαρά", "μετρητά"]),
    ("чистые деньги",                     ["чистые", "деньги"]),
    ("مرحبا، السعر ١٬٢٣٤٫٥؟",             ["مرحبا", "السعر", "١٬٢٣٤٫٥"]),
    ("नमस्ते दुनिया",                          ["नमस्ते", "दुनिया"]),
    ("한국어 텍스트.",                    ["한국어", "텍스트"]),            # Korean has blanks
    ("净利润25587元。",                   ["净", "利", "润", "25587", "元"]),
    ("データは",                          ["デ", "ー", "タ", "は"]),
    ("สุทธิ",                               ["สุ", "ท", "ธิ"]),                  # vowels stay on their letter
    ("ລາວ",                               ["ລ", "າ", "ວ"]),
    ("ខ្មែរ",                               ["ខ្", "មែ", "រ"]),
    ("👍 ✓ yes",                          ["👍", "✓", "yes"]),
    ("a → b",                             ["a", "→", "b"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CUT)
def test_a_text_is_cut_into_words_numbers_and_symbols(text, expected):
    assert tokens(text) == expected
    assert has_tokens(text) is bool(expected)


TOKENIZERS = [
    #  ground truth                          tokenizer
    ("net cash was 25587",                   "13a"),
    ("été à Paris",                          "13a"),
    ("καθαρά μετρητά",                       "13a"),
    ("مرحبا بالعالم",                        "13a"),
    ("한국어 텍스트",                        "13a"),
    ("净利润增长",                           "zh"),
    ("Alibaba (阿里巴巴) rose",              "zh"),    # leaves the English words whole
    ("売上高は増加しました",                 "char"),
    ("データ",                               "char"),
    ("กำไรสุทธิ 25,587 บาท",                    "char"),
    ("the Thai word สวัสดี means hello",        "13a"),   # one word does not cut the English into letters
    ("25587",                                "13a"),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "tokenizer"), TOKENIZERS)
def test_bleu_cuts_by_the_script_of_the_ground_truth_and_says_so(truth, tokenizer):
    assert script_tokenizer(truth) == tokenizer
    assert measure("bleu", "something", truth).details["tokenizer"] == tokenizer


@pytest.mark.parametrize(
    ("text", "expected"),
    [("net cash", "net cash"), ("净利润 5", "净 利 润 5"), ("สุทธิ", "สุ ท ธิ"), ("été", "été")],
)
def test_letters_of_scripts_without_blanks_are_set_apart(text, expected):
    assert spaced(text).split() == expected.split()


# The numbers of the libraries' own documentation and tests.

METEOR_HYPOTHESIS = (
    "it is a guide to action which ensures that the military always obeys the commands of the party"
)
METEOR_REFERENCE = "it is a guide to action that ensures that the military will forever heed party commands"
FOX = "the quick brown fox jumps over the lazy dog"
PUBLISHED = [
    #  metric      reply                                    ground truth                  score, 4 digits
    ("meteor",     METEOR_HYPOTHESIS,                       METEOR_REFERENCE,             0.6944),  # nltk
    ("meteor",     "non matching hypothesis",               "this is a cat",              0.0),
    ("rouge",      "the quick brown dog jumps on the log",  FOX,                          0.5882),
    ("rouge",      "testing two",                           "testing one two",            0.8),
    ("rouge",      "testing",                               "testing one two",            0.5),
    ("chrf",       "a",                                     "a",                          1.0),
    ("chrf",       "a",                                     "b",                          0.0),
    ("chrf",       "abcdefg",                               "hijklmnop",                  0.0),
    ("ter",        "aaaa bbbb cccc dddd",                   "aaaa bbbb cccc dddd",        1.0),
    ("ter",        "dddd eeee ffff",                        "aaaa bbbb cccc",             0.0),
    ("ter",        "d e f g h a b c",                       "a b c d e f g h",            0.875),  # 1 move
    ("ter",        "a b c d e",                             "a",                          0.0),   # rate 4
    ("bleu",       "a b c d e",                             "a b c d e",                  1.0),
    ("bleu",       "v w x y z",                             "a b c d e",                  0.0),
    ("similarity", "this is a test!",                       "this is a test",             0.9655),
    ("similarity", "206588",                                "206589",                     0.8333),
    ("similarity", "206588",                                "206,588",                    0.9231),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "reply", "truth", "score"), PUBLISHED)
def test_published_examples(metric, reply, truth, score):
    assert measure(metric, reply, truth).score == pytest.approx(score, abs=5e-5)


SENTENCES = [
    "the quick brown fox jumps over the lazy dog",
    "The quick brown fox jumped over the lazy dogs.",
    "Net cash provided by operating activities was $206,588 in 2009, up 14.1% from 2008.",
    "In 2009 the company provided $206,589 of net cash; that is 14 % more.",
    "25587",
    "The answer is: 25587.",
    "净利润增长了百分之十。",
    "净利润下降了 10%。",
    "กำไรสุทธิเพิ่มขึ้น 25,587 บาท",
    "売上高は25587円に増加しました。",
    "καθαρά μετρητά",
    "line one\nline two",
]
DIRECT = [(reply, truth) for reply in SENTENCES for truth in SENTENCES]


@pytest.mark.parametrize(("reply", "truth"), DIRECT)
def test_the_scores_are_those_of_a_direct_call(reply, truth):
    from rapidfuzz import fuzz
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF, TER

    class Ours:
        tokenize = staticmethod(tokens)

    bleu, rouge = measure("bleu", reply, truth), measure("rouge", reply, truth)
    direct = BLEU(tokenize=bleu.details["tokenizer"], effective_order=True).sentence_score(reply, [truth])
    assert bleu.score == pytest.approx(direct.score / 100, abs=1e-9)
    shared = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Ours()).score(truth, reply)
    assert rouge.score == pytest.approx(shared["rougeL"].fmeasure, abs=1e-9)
    if tokens(reply) != tokens(truth):
        assert rouge.details == {name: pytest.approx(of.fmeasure, abs=5e-5) for name, of in shared.items()}
    chrf = CHRF().sentence_score(reply, [truth]).score
    assert measure("chrf", reply, truth).score == pytest.approx(chrf / 100, abs=1e-9)
    rate = TER(case_sensitive=True).sentence_score(spaced(reply), [spaced(truth)]).score / 100
    ter = measure("ter", reply, truth)
    assert (ter.score, ter.details["ter"]) == pytest.approx((max(0, 1 - rate), rate), abs=5e-5)
    assert measure("similarity", reply, truth).score == pytest.approx(fuzz.ratio(reply, truth) / 100)


# Traps: every row for the metrics that it names, "all" for the six.

SAME = [
    "25587", "5", "-5", "0", "yes", "net cash", "No.", "...", "—", "€", "👍", "<skipped>", "&amp;", "a-\nb",
    "$", "净利润增长", "สวัสดี", "データ", "καθαρά", "مرحبا", "İstanbul", "ß", "e\u0301", "नमस्ते", "\u200b",
    " padded ", "𠀀", "ﬁ", "\ud800", "a\u0000b", "1,234.50", "The answer is 25587.\n\nIt rose by 5%.",
    "y" * 5000, "ab " * 500,
]  # fmt: skip


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("text", SAME, ids=range(len(SAME)))
def test_a_text_against_itself_is_exactly_one(metric, text):
    assert measure(metric, text, text).score == 1.0


NOTHING = [
    "",
    " ",
    "\n\n",
    "\t \u00a0\u3000",
    "...",
    "!",
    "—",
    "。",
    "، ؟",
    "\u200b",
    "***",
    "_",
    "|---|",
    "\u0000",
]


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("reply", NOTHING, ids=range(len(NOTHING)))
def test_a_reply_without_a_word_is_zero_and_measured(metric, reply):
    result = status({"type": metric}, reply, "cash rose... - \u200b! | _ ***")
    assert (result.status, result.score) == ("scored", 0.0)
    expected = "the reply is nothing but punctuation" if reply.strip() else "the reply is empty"
    assert result.reason == expected


@pytest.mark.parametrize("metric", NAMES)
def test_a_blank_reply_is_zero_even_where_the_truth_is_blank(metric):
    assert measure(metric, " ", " ").score == 0.0


WORDS = ("bleu", "rouge", "meteor", "ter")
CUTTING = ("rouge", "meteor")
TRAPS = [
    #  metrics  reply                       ground truth                score is
    (WORDS,     "25000",                    "25587",                    "= 0"),      # MET-01
    (NAMES,     "25000",                    "25587",                    "< 0.5"),
    (WORDS,     "25588",                    "25587",                    "= 0"),
    (CUTTING,   "25587.",                   "25587",                    "= 1"),      # a full stop is no word
    (CUTTING,   "**25587**",                "25587",                    "= 1"),
    (("ter",),  "25587.",                   "25587",                    "= 0"),      # here it is part of one
    (("bleu",), "25587.",                   "25587",                    "> 0.4"),
    (NAMES,     "The answer is 25587.",     "25587",                    "< 0.6"),
    (WORDS,     "-5",                       "5",                        "= 0"),      # rouge-score alone: 1
    (WORDS,     "5",                        "-5",                       "= 0"),
    (CUTTING,   "−5",                       "-5",                       "= 1"),      # one minus
    (CUTTING,   "-$5",                      "$-5",                      "= 1"),
    (CUTTING,   "14%",                      "14",                       "< 1"),      # rouge-score alone: 1
    (CUTTING,   "14 %",                     "14%",                      "= 1"),
    (CUTTING,   "€5",                       "$5",                       "< 1"),
    (WORDS,     "1.5",                      "15",                       "= 0"),
    (WORDS,     "1.5",                      "1 5",                      "= 0"),
    (WORDS,     "206588",                   "206,588",                  "= 0"),      # `numeric` knows
    (WORDS,     "25587.0",                  "25587",                    "= 0"),
    (NAMES,     "net debt",                 "net cash",                 "<= 0.5"),   # one word of two
    (("bleu",), "net debt",                 "net cash",                 "= 0.5"),
    (CUTTING,   "cash net",                 "net cash",                 "< 1"),      # the order counts
    (("chrf",), "netcash",                  "net cash",                 "= 1"),      # blanks do not
    (("similarity",), "netcash",            "net cash",                 "< 1"),
    (WORDS,     "Cash",                     "cash",                     "= 0"),      # case as written
    (NAMES,     "CASH ROSE",                "cash rose",                "< 0.2"),
    (("meteor",), "Increases",              "increase",                 "= 0"),      # nltk alone folds case
    (("meteor",), "it increases",           "it increased",             "> 0.9"),    # stems
    (("meteor",), "y" * 60 + "s",           "y" * 60,                   "= 0"),      # no word to be stemmed
    (("meteor",), "car",                    "automobile",               "= 0"),      # no synonyms
    (("meteor",), "25587 rose",             "25587 fell",               "< 0.5"),
    (CUTTING,   "Yes, it did!",             "Yes it did",               "= 1"),
    (CUTTING,   "cash\n\nrose",             "cash rose",                "= 1"),
    (("bleu", "chrf", "ter"), "cash\nrose", "cash rose",                "= 1"),
    (NAMES,     "cafe\u0301 net",           "caf\u00e9 net",            "= 1"),      # accents either way
    (CUTTING,   "cafe",                     "café",                     "= 0"),
    (WORDS,     "负债下降",                 "净利润增长",               "= 0"),      # MET-04
    (NAMES,     "负债下降",                 "净利润增长",               "< 0.3"),
    (WORDS,     "净利润下降",               "净利润增长",               "> 0.3"),    # 3 of 5 letters
    (NAMES,     "ขอบคุณมาก",                "สวัสดี",                     "< 0.3"),
    (NAMES,     "ありがとう",               "売上高増加",               "= 0"),
    (NAMES,     "売上高は25000円です",      "売上高は25587円です",      "< 0.95"),
    (CUTTING,   "売上高は25000円です",      "売上高は25587円です",      "> 0.7"),
    (NAMES,     "κακά νέα",                 "καθαρά μετρητά",           "< 0.6"),
    (WORDS,     "κακά νέα",                 "καθαρά μετρητά",           "= 0"),
    (WORDS,     "مرحبا",                    "شكرا",                     "= 0"),
    (CUTTING,   "مرحبا؟",                   "مرحبا",                    "= 1"),
    (NAMES,     "net cash",                 "净利润增长",               "= 0"),      # two scripts
    (NAMES,     "净利润增长",               "net cash",                 "= 0"),
    (CUTTING,   "👎",                       "👍",                       "= 0"),
    (CUTTING,   "cash rose",                "...",                      "= 0"),
    (NAMES,     "cash",                     "—",                        "= 0"),
    (WORDS[:3], "cash " * 50,               "cash",                     "< 0.3"),    # repeating earns little
    (("ter",),  "cash " * 50,               "cash",                     "= 0"),      # a rate above 1
    (NAMES,     "a " * 2000,                "b " * 2000,                "< 0.6"),    # blanks count
    (NAMES,     "the " * 300 + "cash",      "net cash",                 "< 0.2"),
    (("bleu",), "&lt;b&gt;",                "<b>",                      "= 1"),      # mteval reads entities
    (("bleu",), "<skipped>",                "cash",                     "= 0"),
]  # fmt: skip
ROWS = [(metric, *row) for metrics, *row in TRAPS for metric in metrics]
HOLDS = {
    "=": lambda score, bound: score == bound,
    "<": lambda score, bound: score < bound,
    ">": lambda score, bound: score > bound,
    "<=": lambda score, bound: score <= bound,
}


@pytest.mark.parametrize(("metric", "reply", "truth", "fact"), ROWS, ids=range(len(ROWS)))
def test_traps(metric, reply, truth, fact):
    sign, bound = fact.split()
    score = measure(metric, reply, truth).score
    assert HOLDS[sign](score, float(bound)), f"{metric}: {score}"


# Verdicts, paths, options.

VERDICTS = [
    #  configuration                             reply     truth     status            score
    ({"type": "bleu", "threshold": 0.5},         "25587",  "25587",  "passed",         1.0),
    ({"type": "bleu", "threshold": 0.5},         "25000",  "25587",  "failed",         0.0),
    ({"type": "bleu"},                           "25000",  "25587",  "scored",         0.0),
    ({"type": "rouge", "threshold": 1},          "25587",  "25587",  "passed",         1.0),
    ({"type": "meteor", "threshold": 1},         "25587",  "25587",  "passed",         1.0),
    ({"type": "ter", "threshold": 0.1},          "",       "25587",  "failed",         0.0),
    ({"type": "chrf"},                           "25587",  None,     "not_applicable", None),
    ({"type": "rouge", "response_path": "a"},    '{"a": "net cash"}', "net cash", "scored", 1.0),
    ({"type": "bleu", "response_path": "a"},     '{"a": 25587}', "25587", "scored",    1.0),
    ({"type": "bleu", "response_path": "a"},     '{"a": ""}', "25587", "scored",       0.0),
    ({"type": "rouge", "response_path": "b"},    '{"a": 1}', "1",    "failed",         0.0),
    ({"type": "rouge", "case_insensitive": True}, "CASH",  "cash",   "scored",         1.0),
    ({"type": "meteor", "case_insensitive": True}, "Cash Increased", "cash increases", "scored", 0.9375),
    ({"type": "ter", "case_insensitive": True},  "Straße", "STRASSE", "scored",        1.0),
]  # fmt: skip


@pytest.mark.parametrize(("config", "reply", "truth", "verdict", "score"), VERDICTS, ids=range(len(VERDICTS)))
def test_verdicts(config, reply, truth, verdict, score):
    result = status(config, reply, truth)
    assert (result.status, result.score) == (verdict, score)


def test_what_a_failing_reply_is_told():
    assert status({"type": "bleu", "threshold": 0.5}, "", "cash").reason == (
        "score 0.00 is below the threshold 0.50: the reply is empty"
    )
    assert status({"type": "rouge", "response_path": "b"}, "{}", "1").reason == (
        "response_path: b not found in the reply"
    )


def test_without_ground_truth_there_is_nothing_to_compare():
    with pytest.raises(NotApplicableError):
        measure("bleu", "cash", None)


def test_what_a_text_metric_is():
    metric = built("ter", name="edits", threshold=0.5, fail_on_error=True, timeout_ms=1500)
    assert (metric.id, metric.kind, metric.threshold, metric.fail_on_error) == (
        "edits",
        "standard",
        0.5,
        True,
    )
    assert (metric.timeout_s, metric.needs_ground_truth, metric.max_retries, metric.model) == (
        1.5,
        True,
        0,
        None,
    )
    assert built("ter").timeout_s is None
    assert [unavailable(CONFIG.validate_python({"type": name})) for name in NAMES] == [None] * 6


def test_details_in_full():
    reply, truth = "net cash rose by 5", "net cash fell by 5"
    assert {name: measure(name, reply, truth).details for name in NAMES} == {
        "bleu": {"tokenizer": "13a", "precisions": [0.8, 0.5, 0.1667, 0.125], "brevity_penalty": 1.0},
        "rouge": {"rouge1": 0.8, "rouge2": 0.5, "rougeL": 0.8},
        "meteor": {"synonyms": "none (no WordNet)"},
        "chrf": {"variant": "chrF2"},
        "ter": {"ter": 0.2, "edits": 1, "words": 5, "moves": True},
        "similarity": None,
    }


# Long texts.

LONG = " ".join(f"word{number % 300}" for number in range(20_000))


@pytest.mark.parametrize("metric", NAMES)
def test_long_texts_are_measured_in_seconds_and_let_the_loop_run(metric):
    other = LONG[:100_000] + LONG[:60_000]
    context = GraderContext("q", other, ground_truth=LONG)
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    async def play():
        ticking = asyncio.create_task(tick())
        try:
            return await built(metric).measure(context)
        finally:
            ticking.cancel()

    assert 0 < asyncio.run(play()).score < 1
    assert ticks


def test_ter_says_where_it_does_not_look_for_moved_blocks():
    words = [f"w{number}" for number in range(150)]
    result = measure("ter", " ".join(words[75:] + words[:75]), " ".join(words))
    assert result.score == 0.0  # 150 edits, where one moved block would have been one
    assert result.details == {"ter": 1.0, "edits": 150, "words": 150, "moves": False}
    assert result.reason == "150 words against 150: moved blocks are counted word by word"
    changed = measure("ter", " ".join([*words[:-3], "x", "y", "z"]), " ".join(words))
    assert (changed.score, changed.details["edits"]) == (0.98, 3)


def test_ter_of_a_long_reply_to_a_short_truth_looks_for_moved_blocks():
    result = measure("ter", LONG[:3000] + " cash net", "net cash")
    assert (result.score, result.details["moves"]) == (0.0, True)


TOO_LONG = "x" * 200_001


@pytest.mark.parametrize("metric", NAMES)
def test_a_text_beyond_all_measure_is_refused_and_told(metric):
    result = measure(metric, TOO_LONG, "x")
    assert (result.score, result.passed) == (0.0, False)
    assert result.reason == f"the reply has 200,001 characters, and {metric} compares at most 200,000"
    assert measure(metric, TOO_LONG, TOO_LONG).score == 1.0
    with pytest.raises(MetricError, match="the ground truth has 200,001 characters"):
        measure(metric, "x", TOO_LONG)


# Laws.

WILD = st.text(max_size=40) | st.text("aAbB 05.,-−$%\n…!é净ส์データ👍'’", max_size=40)
QUICK = settings(deadline=None, max_examples=150)


@QUICK
@given(WILD, WILD)
def test_any_two_texts_are_measured_between_0_and_1(reply, truth):
    for name in NAMES:
        result = measure(name, reply, truth)
        assert 0 <= result.score <= 1
        assert not math.isnan(result.score)
        json.dumps(result.details, allow_nan=False)


@QUICK
@given(WILD.filter(str.strip))
def test_identical_texts_are_one(text):
    assert {name: measure(name, text, text).score for name in NAMES} == dict.fromkeys(NAMES, 1.0)


@QUICK
@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abc")))
def test_the_longest_common_sequence_is_that_of_rouge_score(reply, truth):
    from rouge_score.rouge_scorer import RougeScorer

    reply, truth = " ".join(reply), " ".join(truth)
    direct = RougeScorer(["rougeL"]).score(truth, reply)["rougeL"].fmeasure
    if reply or truth:
        assert COMPARE["rouge"](reply, truth).score == pytest.approx(direct, abs=1e-9)


@QUICK
@given(st.text("abcxyz 059\n;:?!()", max_size=60))
def test_plain_english_is_cut_as_rouge_score_does(text):
    from rouge_score.tokenize import tokenize

    assert tokens(text) == tokenize(text, None)


@QUICK
@given(WILD)
def test_tokens_are_stable_and_hold_no_blank(text):
    found = tokens(text)
    assert all(token and not any(mark.isspace() for mark in token) for token in found)
    assert tokens(" ".join(found)) == found


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)
)
def test_without_moved_blocks_the_rate_is_never_lower(reply, truth):
    from holodeck_nb.metrics import text_scores

    reply, truth = " ".join(reply), " ".join(truth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scores, "_MOST_PAIRS_WITH_MOVES", -1)
        without = COMPARE["ter"](reply, truth).details["edits"]
    assert without >= COMPARE["ter"](reply, truth).details["edits"]


# What it costs, and what it must not do.


def test_building_a_text_metric_loads_no_library():
    code = f"""
import sys
from pydantic import TypeAdapter
from holodeck_nb.metrics.base import build_metrics
from holodeck_nb.schema.metrics import StandardMetric
import holodeck_nb.metrics.text
build_metrics(tuple(StandardMetric(metric=name) for name in {NAMES!r}), {{}})
heavy = {{"nltk", "numpy", "rapidfuzz", "regex", "rouge_score", "sacrebleu"}}
print(sorted(heavy & {{*sys.modules}}))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_all_six_load_at_once_in_a_fresh_process_without_network_data_or_warnings(tmp_path):
    code = f"""
import asyncio, socket, sys

def refused(*args, **kwargs):
    raise AssertionError("network")

async def play():
    from holodeck_nb.metrics.base import GraderContext, build_metrics
    from holodeck_nb.schema.metrics import StandardMetric

    socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
    metrics = build_metrics(tuple(StandardMetric(metric=name) for name in {NAMES!r}), {{}})
    for reply, truth in (("net cash rose", "net cash"), ("净利润", "净利润增长"), ("データは", "データ")):
        context = GraderContext("q", reply, ground_truth=truth)
        for result in await asyncio.gather(*(metric.measure(context) for metric in metrics * 4)):
            assert 0 <= result.score <= 1

asyncio.run(play())
print("done")
"""
    home = {
        "HOME": str(tmp_path),
        "NLTK_DATA": str(tmp_path),
        "SACREBLEU": str(tmp_path / "none"),
        "PATH": "",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=home
    )
    assert (done.stdout.strip(), done.stderr.strip()) == ("done", "")
    assert list(tmp_path.iterdir()) == []


def test_a_scorer_is_built_once_for_all_metrics(monkeypatch):
    built_now = []

    def load():
        built_now.append(1)
        return COMPARE["rouge"]

    monkeypatch.setattr(text_module, "_loaded", {})
    monkeypatch.setattr(text_module, "LOADERS", {"rouge": load})
    for _ in range(3):
        assert measure("rouge", "a b", "a c").score == 0.5
    assert text_module._load("rouge") is COMPARE["rouge"]  # a turn that waited while another one loaded
    assert built_now == [1]


def test_many_threads_at_once_get_the_same_scores():
    pairs = [(reply, truth) for reply in SENTENCES[:6] for truth in SENTENCES[:6]]
    metrics = {name: built(name) for name in NAMES}

    async def play():
        contexts = [GraderContext("q", f"{a} {'pad ' * 1200}", ground_truth=b) for a, b in pairs]
        return await asyncio.gather(*(metrics[name].measure(one) for name in NAMES for one in contexts))

    assert asyncio.run(play()) == asyncio.run(play())


def test_sacrebleu_keeps_no_text_alive():
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    measure("bleu", "net cash", "net debt")
    measure("ter", "net cash", "net debt")
    caches = [
        kind.__call__.cache_info().currsize for kind in (Tokenizer13a, TokenizerRegexp, TercomTokenizer)
    ]
    assert caches == [0, 0, 0]
