"""Random valid suites, as data that Python could hold and as YAML."""

from hypothesis import strategies as st

# Text that a YAML reader could take for something else, beside any text at all.
AWKWARD = st.sampled_from([
    "no", "Yes", "null", "~", "0123", "1e3", "1_000", "2009-12-31", "1:30", "0o17", "0x1F", ".inf",
    ".nan", "true", "<<", "=", "- a", "a: b", "# a", "a #b", "'", '"', "@a", "%a", "&a", "*a", "!a", "${X}",
    "$${X}", "{a}", "[a]", "a\nb", "a\n\nb\n", " a", "a ", "\ta", "a\t", "a\r\nb", "\x85a", "a\u2028b",
    "\ufeffa",
    "a\x07", "\U0001f600", "\n a\nb", "a \nb", "?", "-", ":", "|", ">", "---", "...", "a, b", "é", "\xa0a",
])  # fmt: skip
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXT = AWKWARD | st.text(CHARACTERS, max_size=20)
SAID = TEXT.filter(lambda text: any(not c.isspace() and c not in "\x1c\x1d\x1e\x1f" for c in text))
NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
NUMBER = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False)
UNIT = st.floats(0, 1)
SCALAR = st.none() | st.booleans() | NUMBER | TEXT
ANYTHING = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FREE = st.dictionaries(TEXT, ANYTHING, max_size=3)


def some(required=None, **optional):
    """A mapping with all of the first keys and any of the others."""
    return st.fixed_dictionaries(required or {}, optional=optional)


LITERAL = ANYTHING.filter(
    lambda value: not (isinstance(value, dict) and {"exact", "fuzzy", "regex"} & value.keys())
)
MATCHER = (
    LITERAL
    | some({"exact": ANYTHING})
    | some({"fuzzy": TEXT}, min_ratio=st.floats(0, 100))
    | some({"regex": st.sampled_from(["a+", "[0-9]*", "^a$", "\\$ {2}"])})
)
EXPECTED = SAID | some(
    {"name": SAID},
    args=st.dictionaries(TEXT, MATCHER, max_size=3),
    count=st.integers(1, 5),
    match=st.sampled_from(["substring", "exact"]),
)
MODEL = st.just("ollama:qwen3:8b") | some(
    {"provider": st.sampled_from(["openai", "azure_openai", "ollama", "anthropic"]), "name": SAID},
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 9),
    api_key=SAID,
    endpoint=TEXT,
)
COMMON = {"enabled": st.booleans(), "fail_on_error": st.booleans(), "name": NAME.map("m_{}".format)}
METRIC = (
    some(
        {"type": st.sampled_from(["numeric", "equality", "bleu", "fluency"])},
        threshold=UNIT,
        absolute_tolerance=st.floats(0, 10),
        model=MODEL,
        custom_prompt=TEXT,
        **COMMON,
    )
    | some({"type": st.just("standard"), "metric": st.just("rouge")}, threshold=UNIT, **COMMON)
    | some({"metric_type": st.just("faithfulness")}, threshold=UNIT, **COMMON)
    | some({"criteria": SAID, "name": NAME.map("g_{}".format)}, evaluation_steps=st.lists(SAID, max_size=2))
    | some({"grader": st.just("os:getcwd")}, **COMMON)
    | some({"module": st.just("exact_match")}, result_key=TEXT, **COMMON)
)
FILE = some(
    {"url": SAID, "type": st.sampled_from(["pdf", "csv"])}, pages=st.lists(st.integers(1, 9), max_size=2)
)
TURN_KEYS = {
    "ground_truth": SAID,
    "expected_tools": st.lists(EXPECTED, max_size=2),
    "files": st.lists(FILE, max_size=2),
    "retrieval_context": st.lists(TEXT, max_size=2),
    "evaluations": st.lists(METRIC, max_size=2),
}
TURN = some({"input": SAID}, turn_config=FREE, **TURN_KEYS)
CASE = some({"input": SAID}, name=SAID, **TURN_KEYS) | some(
    {"turns": st.lists(TURN, min_size=1, max_size=3)}, name=SAID, evaluations=st.lists(METRIC, max_size=2)
)
TOOL = some(
    {"type": st.just("mcp"), "description": TEXT}, args=st.lists(TEXT, max_size=2), env=st.just({"A": "b"})
)
SUITE = some(
    {"name": SAID},
    description=TEXT,
    model=MODEL,
    instructions=st.fixed_dictionaries({"inline": SAID}),
    response_format=FREE,
    tools=st.lists(TOOL, max_size=2).map(lambda tools: [{**t, "name": f"t{n}"} for n, t in enumerate(tools)]),
    evaluations=some({"metrics": st.lists(METRIC, max_size=2)}, model=MODEL, optimizer=FREE),
    test_cases=st.lists(CASE, max_size=3),
    execution=some(max_retries=st.integers(0, 3), cache_enabled=st.booleans(), cache_dir=SAID),
    deployment=FREE,
    observability=FREE,
    claude=some(
        max_turns=st.integers(1, 9), agents=st.dictionaries(TEXT, some({"description": SAID}), max_size=1)
    ),
    openai=some(max_turns=st.integers(1, 9)),
)
