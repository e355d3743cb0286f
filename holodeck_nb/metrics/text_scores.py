"""The scores of the text metrics, each by the library that defines it, loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .text_tokens import script_tokenizer, spaced, tokens

__all__ = ["LOADERS", "Compare", "Comparison"]

# Above so many pairs of words sacrebleu's search for moved blocks takes seconds (100 x 100: up to 2 s).
_MOST_PAIRS_WITH_MOVES = 10_000
# A score that should be 1 comes out of logarithms as 1.0000000000000002.
_DIGITS = 12
_DIGITS_SHOWN = 4
# No English word is as long, and the rules of a stemmer go letter by letter.
_LONGEST_STEMMED = 50


class Comparison(NamedTuple):
    """What a comparison of two texts found; `reason` only where there is something to know about it."""

    score: float
    details: Mapping[str, Any] | None = None
    reason: str | None = None


Compare = Callable[[str, str], Comparison]
"""Reply and ground truth to their comparison. Texts come in NFC; any thread may call it at any time."""


def load_bleu() -> Compare:
    """Sentence BLEU by sacrebleu: words and runs of up to four words that both texts share, 0 to 1.

    With effective order: a text of fewer than four words is measured by the runs that it has, so that "25587"
    against itself is 1 and not 0. Two words of which one is right are still 0.5. Case is as written. The
    tokenizer follows the script of the ground truth and stands in the details; with it, sacrebleu's own
    `BLEU(tokenize=…, effective_order=True)` gives the same number times 100.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - 0.1 s that only those who use it pay
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415 - the same

    scorers = {name: BLEU(tokenize=name, effective_order=True) for name in ("13a", "zh", "char")}

    def bleu(reply: str, truth: str) -> Comparison:
        tokenizer = script_tokenizer(truth)
        found = scorers[tokenizer].sentence_score(reply, [truth])
        _forget(type(scorers[tokenizer].tokenizer), TokenizerRegexp)
        details = {
            "tokenizer": tokenizer,
            "precisions": [round(share / 100, _DIGITS_SHOWN) for share in found.precisions],
            "brevity_penalty": round(found.bp, _DIGITS_SHOWN),
        }
        return Comparison(_unit(found.score / 100), details)

    return bleu


def load_rouge() -> Compare:
    """ROUGE by rouge-score: F1 of shared words, pairs of words, and the longest common sequence (the score).

    The tokenizer is ours: rouge-score's own knows only a-z and 0-9, so that "-5" equals "5" and Japanese is
    nothing. Case is as written. Equal tokens are 1 in all three, also a single word, which has no pairs.
    """
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - 20 ms that only those who use it pay
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - 0.3 s, cold 2 s
    from rouge_score.scoring import fmeasure  # noqa: PLC0415 - the same

    class Cut:
        """Hands on what is cut already, so that each text is cut once."""

        def tokenize(self, text: list[str]) -> list[str]:
            return text

    scorer = RougeScorer(["rouge1", "rouge2"], tokenizer=Cut())

    def rouge(reply: str, truth: str) -> Comparison:
        said, wanted = tokens(reply), tokens(truth)
        if said == wanted:
            return Comparison(1.0, {"rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0})
        shared = scorer.score(wanted, said)
        # rouge-score fills a table of Python ints: minutes and gigabytes for two long texts. The longest
        # common sequence has one length, whoever finds it.
        common = LCSseq.similarity(*_numbered(said, wanted))
        longest = fmeasure(common / max(len(said), 1), common / max(len(wanted), 1))
        details = {
            "rouge1": round(shared["rouge1"].fmeasure, _DIGITS_SHOWN),
            "rouge2": round(shared["rouge2"].fmeasure, _DIGITS_SHOWN),
            "rougeL": round(longest, _DIGITS_SHOWN),
        }
        return Comparison(_unit(longest), details)

    return rouge


def load_meteor() -> Compare:
    """METEOR by nltk without synonyms: words and word stems that both texts share, and how far they scatter.

    nltk takes synonyms from WordNet, which would have to be downloaded: here no word has any, and the details
    say so. Numbers are thus not those of a METEOR with WordNet. Stems are English (Porter); case is as
    written, where nltk alone would fold it. nltk's formula counts the shared words as one block that
    scatters, so that a perfect single word is 0.5 and two perfect words are 0.94: here equal tokens are 1.
    """
    from nltk.stem.porter import PorterStemmer  # noqa: PLC0415 - 0.3 s that only those who use it pay
    from nltk.translate.meteor_score import meteor_score  # noqa: PLC0415 - the same

    class NoSynonyms:
        """A WordNet without words."""

        def synsets(self, word: str) -> tuple[()]:  # noqa: ARG002 - nltk hands it over
            return ()

    class CaseKept:
        """Porter's stems without folding case."""

        def __init__(self) -> None:
            self._porter = PorterStemmer()

        def stem(self, word: str) -> str:
            if len(word) > _LONGEST_STEMMED:
                return word
            return str(self._porter.stem(word, to_lowercase=False))

    stemmer, wordnet = CaseKept(), NoSynonyms()

    def meteor(reply: str, truth: str) -> Comparison:
        said, wanted = tokens(reply), tokens(truth)
        details = {"synonyms": "none (no WordNet)"}
        if said == wanted:
            return Comparison(1.0, details)
        score = meteor_score([wanted], said, preprocess=str, stemmer=stemmer, wordnet=wordnet)
        return Comparison(_unit(score), details)

    return meteor


def load_chrf() -> Compare:
    """The score chrF2 by sacrebleu: runs of up to six characters that both texts share, 0 to 1.

    Blanks do not count ("netcash" equals "net cash"), recall counts more than precision, case is as written.
    A number with a wrong sign or digit stays near ("-5" against "5" is 0.83): `numeric` is for those.
    """
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415 - 0.1 s that only those who use it pay

    scorer = CHRF()

    def chrf(reply: str, truth: str) -> Comparison:
        found = scorer.sentence_score(reply, [truth])
        return Comparison(_unit(found.score / 100), {"variant": found.name})

    return chrf


def load_ter() -> Compare:
    """1 less the translation edit rate by sacrebleu, and at least 0: the higher, the nearer.

    The rate is edits (a word put in, left out, exchanged, or a block moved) per word of the ground truth; it
    stands in the details as `ter` and may exceed 1. Words are what blanks part, punctuation included, and
    single letters in scripts without blanks; case is as written. Looking for moved blocks takes seconds from
    100 words on: above 10,000 pairs of words (reply times ground truth) a moved word counts as two edits, and
    details (`moves`) and reason say so. Such a score is never too high.
    """
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - 20 ms that only those who use it pay
    from sacrebleu.metrics.ter import TER  # noqa: PLC0415 - 0.1 s
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: PLC0415 - the same

    scorer = TER(case_sensitive=True)

    def ter(reply: str, truth: str) -> Comparison:
        said, wanted = spaced(reply).split(), spaced(truth).split()
        moves = len(said) * len(wanted) <= _MOST_PAIRS_WITH_MOVES
        if moves:
            edits = scorer.sentence_score(" ".join(said), [" ".join(wanted)]).num_edits
            _forget(TercomTokenizer)
        else:
            edits = Levenshtein.distance(*_numbered(said, wanted))
        rate = edits / max(len(wanted), 1)
        details = {"ter": round(rate, _DIGITS_SHOWN), "edits": edits, "words": len(wanted), "moves": moves}
        note = f"{len(said):,} words against {len(wanted):,}: moved blocks are counted word by word"
        return Comparison(_unit(max(0.0, 1 - rate)), details, None if moves else note)

    return ter


def load_similarity() -> Compare:
    """The ratio by RapidFuzz: the share of characters that stay where one text is made the other, 0 to 1.

    It cannot tell digits apart: 206588 against the right 206589 is 0.83, and against "206,588" 0.92. Use
    `numeric` where the answer is a number. Case and blanks count as written.
    """
    from rapidfuzz import fuzz  # noqa: PLC0415 - 20 ms that only those who use it pay

    def similarity(reply: str, truth: str) -> Comparison:
        return Comparison(_unit(fuzz.ratio(reply, truth) / 100))

    return similarity


LOADERS: Mapping[str, Callable[[], Compare]] = {
    "bleu": load_bleu,
    "rouge": load_rouge,
    "meteor": load_meteor,
    "chrf": load_chrf,
    "ter": load_ter,
    "similarity": load_similarity,
}


def _unit(score: float) -> float:
    return min(1.0, round(float(score), _DIGITS))


def _numbered(*texts: list[str]) -> list[list[int]]:
    """Each word as a number, the same in all texts: RapidFuzz compares words by their hash alone."""
    numbers: dict[str, int] = {}
    return [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]


def _forget(*tokenizers: Any) -> None:
    """Empty sacrebleu's caches, which would keep the last 65,536 texts for as long as the kernel lives."""
    for tokenizer in tokenizers:
        tokenizer.__call__.cache_clear()
