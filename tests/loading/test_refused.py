# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""What is refused, and in which words: each block is a suite (after `name: x`) and the whole message."""

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_suite

# `> ` begins a line of the suite; `|> ` begins one that stands without `name: x` before it.
REFUSED = r"""
|> name: x
> name: y
agent.yaml:2: name: repeated key 'name', first on line 1

|> - a
agent.yaml:1: expected a mapping with `name` and `test_cases`, got a list

|> just text
agent.yaml:1: expected a mapping with `name` and `test_cases`, got 'just text'

|> name:
agent.yaml:1: name: expected text, got nothing

|> name: '  '
agent.yaml:1: name: cannot be blank

|> name: [a]
agent.yaml:1: name: expected text, got a list

|> {}
agent.yaml:1: name: required, but missing

> modle: {}
agent.yaml:2: modle: not a known field
    hint: did you mean 'model'?

> nme: y
> test_case: []
2 problems
agent.yaml:2: nme: not a known field
    hint: did you mean 'name'?
agent.yaml:3: test_case: not a known field
    hint: did you mean 'test_cases'?

> test_cases: {a: 1}
agent.yaml:2: test_cases: expected a list, got a mapping

> test_cases: one
agent.yaml:2: test_cases: expected a list, got 'one'
    hint: write `test_cases: [one]`

> test_cases: [null]
agent.yaml:2: test case 'case 1', test_cases[0]: expected a mapping, got nothing

> test_cases: [hello]
agent.yaml:2: test case 'case 1', test_cases[0]: expected a mapping, got 'hello'

> response_format: 5
agent.yaml:2: response_format: expected a mapping, or the path of a .json or .yaml file, got '5'

> response_format: free text
agent.yaml:2: response_format: expected a mapping, or the path of a .json or .yaml file, got 'free text'

> response_format: schema.json
agent.yaml:2: response_format: file 'schema.json' not found
    hint: a relative path starts in the folder of the file that names it

> model: gpt-4o
agent.yaml:2: model: expected a mapping or `provider:name`, got 'gpt-4o'

> model: [a]
agent.yaml:2: model: expected a mapping, got a list

> model: {provider: openai}
agent.yaml:2: model.name: a model of provider 'openai' needs a name

> model: {name: m}
agent.yaml:2: model.provider: required, but missing

> model: {provider: open_ai, name: m}
agent.yaml:2: model.provider: 'open_ai' is not a known provider
    hint: did you mean 'openai'?

> model: {provider: zzz, name: m}
agent.yaml:2: model.provider: 'zzz' is not a known provider
    hint: it is one of openai, azure_openai, ollama, anthropic, scripted

> model: olama:qwen3
agent.yaml:2: model: 'olama' is not a known provider
    hint: did you mean 'ollama'?

> model: {provider: openai, name: m, temperature: hot}
agent.yaml:2: model.temperature: expected a number, got 'hot'

> model: {provider: openai, name: m, temperature: 3}
agent.yaml:2: model.temperature: expected at most 2, got 3

> model: {provider: openai, name: m, temperature: .nan}
agent.yaml:2: model.temperature: expected a number, got '.nan'

> model: {provider: openai, name: m, max_tokens: 1_000}
agent.yaml:2: model.max_tokens: expected a number, got '1_000'

> model: {provider: openai, name: m, max_tokens: 0}
agent.yaml:2: model.max_tokens: expected at least 1, got 0

> model: {provider: openai, name: m, max_tokens: 1.5}
agent.yaml:2: model.max_tokens: expected a whole number, got '1.5'

> model: {provider: openai, name: m, max_tokens: 1e999}
agent.yaml:2: model.max_tokens: expected a number, got '1e999'

> model: {provider: openai, name: m, top_p: 1.5}
agent.yaml:2: model.top_p: expected at most 1, got 1.5

> model: {provider: openai, name: m, api_key: [k]}
agent.yaml:2: model.api_key: expected text

> model: {provider: openai, name: m, auth_provider: magic}
agent.yaml:2: model.auth_provider: expected one of api_key, oauth_token, bedrock, vertex, foundry, custom; got 'magic'

> model: {provider: openai, name: m, script: replies.yaml}
agent.yaml:2: model.script: a script goes with provider 'scripted' alone

> model: {provider: scripted, script: replies.yaml}
agent.yaml:2: model.script: file 'replies.yaml' not found
    hint: a relative path starts in the folder of the file that names it

> model: {provider: openai, name: m, temprature: 0}
agent.yaml:2: model.temprature: not a known field
    hint: did you mean 'temperature'?

> instructions: be kind
agent.yaml:2: instructions: expected a mapping, got 'be kind'
    hint: write the text under `inline:`, or a path under `file:`

> instructions: {}
agent.yaml:2: instructions: instructions have either `file` or `inline`, got neither

> instructions: {file: a.md, inline: b}
2 problems
agent.yaml:2: instructions: instructions have either `file` or `inline`, got both
agent.yaml:2: instructions.file: file 'a.md' not found
    hint: a relative path starts in the folder of the file that names it

> instructions: {file: a.md}
agent.yaml:2: instructions.file: file 'a.md' not found
    hint: a relative path starts in the folder of the file that names it

> instructions: {inline: ' '}
agent.yaml:2: instructions.inline: cannot be blank

> tools: [hammer]
agent.yaml:2: tools[0]: expected a mapping with `type`, got 'hammer'
    hint: it is one of function, mcp, prompt, vectorstore, hierarchical_document

> tools: [{name: t, description: d}]
agent.yaml:2: tools[0]: a tool needs a `type`
    hint: it is one of function, mcp, prompt, vectorstore, hierarchical_document

> tools: [{type: functon, name: t, description: d}]
agent.yaml:2: tools[0].type: 'functon' is not a kind of tool
    hint: did you mean 'function'?

> tools: [{type: function, name: my-tool, description: d, file: tools.py, function: f}]
2 problems
agent.yaml:2: tools[0].name: a tool's name holds letters, digits and `_` alone, got 'my-tool'
agent.yaml:2: tools[0].file: file 'tools.py' not found
    hint: a relative path starts in the folder of the file that names it

> tools: [{type: function, name: t, description: d, function: f}]
agent.yaml:2: tools[0].file: required, but missing

> tools: [{type: function, name: t, description: d, file: nowhere.py, function: f}]
agent.yaml:2: tools[0].file: file 'nowhere.py' not found
    hint: a relative path starts in the folder of the file that names it

> tools:
> - {type: mcp, name: t, description: d}
> - {type: mcp, name: t, description: d}
agent.yaml:4: tools[1].name: two tools are called 't', the first is tools[0]

> tools: [{type: mcp, name: t, description: d, transport: pigeon}]
agent.yaml:2: tools[0].transport: expected one of stdio, sse, websocket, http; got 'pigeon'

> tools: [{type: mcp, name: t, description: d, timeout: 0}]
agent.yaml:2: tools[0].timeout: expected more than 0, got 0

> tools: [{type: vectorstore, name: t, description: d, source: s, top_k: 0}]
agent.yaml:2: tools[0].top_k: expected at least 1, got 0

> tools: [{type: vectorstore, name: t, description: d, source: s, database: {provider: oracle}}]
agent.yaml:2: tools[0].database.provider: expected one of postgres, azure-ai-search, qdrant, weaviate, chromadb, faiss, azure-cosmos-mongo, azure-cosmos-nosql, sql-server, pinecone, in-memory; got 'oracle'

> tools: [{type: hierarchical_document, name: t, description: d, source: s, semantic_weight: 2}]
agent.yaml:2: tools[0].semantic_weight: expected at most 1, got 2

> tools: [{type: prompt, name: t, description: d}]
agent.yaml:2: tools[0].parameters: required, but missing

> execution: {llm_timeout: 0}
agent.yaml:2: execution.llm_timeout: expected more than 0, got 0

> execution: {llm_timeout: -5}
agent.yaml:2: execution.llm_timeout: expected more than 0, got -5

> execution: {max_retries: -1}
agent.yaml:2: execution.max_retries: expected at least 0, got -1

> execution: {parallel_test_cases: 0}
agent.yaml:2: execution.parallel_test_cases: expected at least 1, got 0

> execution: {cache_enabled: maybe}
agent.yaml:2: execution.cache_enabled: expected true or false, got 'maybe'

> execution: {timeout: 5}
agent.yaml:2: execution.timeout: not a known field
    hint: did you mean 'llm_timeout'?

> claude: {permission_mode: ask}
agent.yaml:2: claude.permission_mode: expected one of manual, acceptEdits, acceptAll; got 'ask'

> claude: {extended_thinking: {budget_tokens: 10}}
agent.yaml:2: claude.extended_thinking.budget_tokens: expected at least 1000, got 10

> openai: {max_turns: 0}
agent.yaml:2: openai.max_turns: expected at least 1, got 0

> openai: {effort: huge}
agent.yaml:2: openai.effort: expected one of low, medium, high, max; got 'huge'

> evaluations: [numeric]
agent.yaml:2: evaluations: expected a mapping, got a list
    hint: write the list under `metrics:`

> evaluations: {metrics: [numeric]}
agent.yaml:2: evaluations.metrics[0]: 'numeric' is a bare name, and the metrics of the agent are defined here
    hint: write `- type: numeric`

> evaluations: {metrics: [numeri]}
agent.yaml:2: evaluations.metrics[0]: 'numeri' is a bare name, and the metrics of the agent are defined here
    hint: write a mapping with `type`

> evaluations: {metrics: [{type: numeri}]}
agent.yaml:2: evaluations.metrics[0].type: 'numeri' is not a kind of metric
    hint: did you mean 'numeric'?

> evaluations: {metrics: [{metric: numeri}]}
agent.yaml:2: evaluations.metrics[0].metric: expected one of equality, numeric, bleu, rouge, meteor, chrf, ter, similarity, groundedness, relevance, coherence, fluency; got 'numeri'
    hint: did you mean 'numeric'?

> evaluations: {metrics: [{type: standard}]}
agent.yaml:2: evaluations.metrics[0].metric: required, but missing

> evaluations: {metrics: [{type: numeric, metric: bleu}]}
agent.yaml:2: evaluations.metrics[0]: `type: numeric` and `metric: bleu` disagree
    hint: leave one of the two out

> evaluations: {metrics: [{type: numeric, absolute_tolerance: -1}]}
agent.yaml:2: evaluations.metrics[0].absolute_tolerance: expected at least 0, got -1

> evaluations: {metrics: [{type: numeric, relative_tolerance: .inf}]}
agent.yaml:2: evaluations.metrics[0].relative_tolerance: expected a number, got '.inf'

> evaluations: {metrics: [{type: numeric, accept_percent: 2}]}
agent.yaml:2: evaluations.metrics[0].accept_percent: expected true or false, got '2'

> evaluations: {metrics: [{type: numeric, select: middle}]}
agent.yaml:2: evaluations.metrics[0].select: expected one of first, last, only; got 'middle'

> evaluations: {metrics: [{type: bleu, threshold: 1.1}]}
agent.yaml:2: evaluations.metrics[0].threshold: expected at most 1, got 1.1: bleu scores from 0 to 1

> evaluations: {metrics: [{type: bleu, threshold: -0.1}]}
agent.yaml:2: evaluations.metrics[0].threshold: expected at least 0, got -0.1

> evaluations: {metrics: [{type: fluency, threshold: 6}]}
agent.yaml:2: evaluations.metrics[0].threshold: expected at most 5, got 6: a judge scores from 1 to 5

> evaluations: {metrics: [{type: fluency, scale: 3, threshold: 4}]}
agent.yaml:2: evaluations.metrics[0].threshold: expected at most 3, got 4: a judge scores from 1 to 3

> evaluations: {metrics: [{type: fluency, scale: 1}]}
agent.yaml:2: evaluations.metrics[0].scale: expected at least 2, got 1: a judge scores from 1 to the scale's end

> evaluations: {metrics: [{type: faithfulness, threshold: 2}]}
agent.yaml:2: evaluations.metrics[0].threshold: expected at most 1, got 2

> evaluations: {metrics: [{type: rag, metric_type: recall}]}
agent.yaml:2: evaluations.metrics[0].metric_type: expected one of faithfulness, contextual_relevancy, contextual_precision, contextual_recall, answer_relevancy; got 'recall'

> evaluations: {metrics: [{type: geval, name: g}]}
agent.yaml:2: evaluations.metrics[0].criteria: required, but missing

> evaluations: {metrics: [{criteria: be right}]}
agent.yaml:2: evaluations.metrics[0].name: required, but missing

> evaluations: {metrics: [{type: evaluate}]}
agent.yaml:2: evaluations.metrics[0].module: required, but missing

> evaluations: {metrics: [{type: numeric, name: reason}]}
agent.yaml:2: evaluations.metrics[0].name: 'reason' is a column of the results already
    hint: give the metric another `name`

> evaluations: {metrics: [{type: numeric, response_path: $.a}]}
agent.yaml:2: evaluations.metrics[0].response_path: '$.a' is not a path into a JSON reply
    hint: write keys and places like `result.items[0].value`

> evaluations: {metrics: [{type: numeric, model: {provider: opanai, name: m}}]}
agent.yaml:2: evaluations.metrics[0].model.provider: 'opanai' is not a known provider
    hint: did you mean 'openai'?

> evaluations: {metrics: [{grader: nocolon}]}
agent.yaml:2: evaluations.metrics[0].grader: expected `module.path:function`, got 'nocolon'

> evaluations: {metrics: [{grader: 'm::f'}]}
agent.yaml:2: evaluations.metrics[0].grader: expected `module.path:function`, got 'm::f'

> evaluations: {metrics: [{type: numeric, timeout_ms: 0}]}
agent.yaml:2: evaluations.metrics[0].timeout_ms: expected more than 0, got 0

> evaluations: {metrics: [{type: numeric, model: {provider: openai}}]}
agent.yaml:2: evaluations.metrics[0].model.name: a model of provider 'openai' needs a name

> test_cases: [{}]
agent.yaml:2: test case 'case 1', test_cases[0]: a test case needs `input` or `turns`

> test_cases: [{name: a}]
agent.yaml:2: test case 'a', test_cases[0]: a test case needs `input` or `turns`

> test_cases: [{input: ''}]
agent.yaml:2: test case 'case 1', test_cases[0].input: cannot be blank

> test_cases: [{input: a, ground_truth: ' '}]
agent.yaml:2: test case 'case 1', test_cases[0].ground_truth: cannot be blank

> test_cases: [{turns: []}]
agent.yaml:2: test case 'case 1', test_cases[0].turns: empty: a conversation has at least one turn

> test_cases: [{turns: [{input: a}], input: b, files: []}]
agent.yaml:2: test case 'case 1', test_cases[0]: `turns` does not go with `input`, `files`
    hint: write them on a turn, or write the whole case with `input`

> test_cases: [{name: c, turns: {input: a}}]
agent.yaml:2: test case 'c', test_cases[0].turns: expected a list, got a mapping

> test_cases: [{turns: [{input: a}, null]}]
agent.yaml:2: test case 'case 1', test_cases[0].turns[1]: expected a mapping, got nothing

> test_cases: [{turns: [{ground_truth: a}]}]
agent.yaml:2: test case 'case 1', test_cases[0].turns[0].input: required, but missing

> test_cases: [{turns: [{inptu: a}]}]
agent.yaml:2: test case 'case 1', test_cases[0].turns[0].inptu: not a known field
    hint: did you mean 'input'?

> test_cases: [{turns: [{input: a, turn_program: p}]}]
agent.yaml:2: test case 'case 1', test_cases[0].turns[0].turn_program: not a known field
    hint: did you mean 'turn_config'?

> test_cases: [{turns: [{input: a, turn_config: [p]}]}]
agent.yaml:2: test case 'case 1', test_cases[0].turns[0].turn_config: expected a mapping, got a list

> test_cases: [{input: {a: b}}]
agent.yaml:2: test case 'case 1', test_cases[0].input: expected text, got a mapping

> test_cases: [{input: a, evaluations: [numeric]}]
agent.yaml:2: test case 'case 1', test_cases[0].evaluations[0]: the agent's metrics have none called 'numeric'
    hint: write `- type: numeric` to define it here

> evaluations: {metrics: [{type: numeric}]}
> test_cases: [{input: a, evaluations: [numric]}]
agent.yaml:3: test case 'case 1', test_cases[0].evaluations[0]: the agent's metrics have none called 'numric'
    hint: did you mean 'numeric'?

> test_cases: [{input: a, evaluations: [accuracy]}]
agent.yaml:2: test case 'case 1', test_cases[0].evaluations[0]: the agent's metrics have none called 'accuracy'
    hint: the agent has no metrics: define them under `evaluations: metrics:`

> test_cases: [{input: a, evaluations: ['']}]
agent.yaml:2: test case 'case 1', test_cases[0].evaluations[0]: the name of a metric cannot be blank

> test_cases: [{input: a, evaluations: [null]}]
agent.yaml:2: test case 'case 1', test_cases[0].evaluations[0]: expected a metric: a mapping with `type`, got nothing

> test_cases: [{input: a, retrieval_context: one passage}]
agent.yaml:2: test case 'case 1', test_cases[0].retrieval_context: expected a list, got 'one passage'
    hint: write `retrieval_context: [one passage]`

> test_cases: [{input: a, expected_tools: subtract}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools: expected a list, got 'subtract'
    hint: write `expected_tools: [subtract]`

> test_cases: [{input: a, expected_tools: ['']}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].name: cannot be blank

> test_cases: [{input: a, expected_tools: [{name: ' '}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].name: cannot be blank

> test_cases: [{input: a, expected_tools: [null]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0]: expected a tool's name, or a mapping with `name`, got nothing

> test_cases: [{input: a, expected_tools: [[a]]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0]: expected a tool's name, or a mapping with `name`, got a list

> test_cases: [{input: a, expected_tools: [{args: {}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].name: required, but missing

> test_cases: [{input: a, expected_tools: [{name: s, count: 0}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].count: expected at least 1, got 0

> test_cases: [{input: a, expected_tools: [{name: s, count: many}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].count: expected a number, got 'many'

> test_cases: [{input: a, expected_tools: [{name: s, match: fuzzy}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].match: expected one of substring, exact; got 'fuzzy'

> test_cases: [{input: a, expected_tools: [{name: s, args: [1]}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args: expected a mapping, got a list

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {regex: '('}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a.regex: cannot compile '(': missing ), unterminated subpattern at position 0

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {regex: '\p{L}'}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a.regex: cannot compile '\\p{L}': bad escape \p at position 0

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {fuzzy: x, regex: y}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a: one matcher is allowed, got fuzzy and regex

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {fuzzy: x, extra: 1}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a: `fuzzy` does not go with `extra`
    hint: a matcher holds `fuzzy` alone; write a literal mapping under `exact:`

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {regex: y, min_ratio: 5}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a: `regex` does not go with `min_ratio`
    hint: a matcher holds `regex` alone; write a literal mapping under `exact:`

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {fuzzy: x, min_ratio: 101}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a.min_ratio: expected at most 100, got 101

> test_cases: [{input: a, expected_tools: [{name: s, args: {a: {fuzzy: null}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args.a.fuzzy: expected text, got nothing

> test_cases: [{input: a, expected_tools: [{name: s, args: {'net cash': {regex: '['}}}]}]
agent.yaml:2: test case 'case 1', test_cases[0].expected_tools[0].args["net cash"].regex: cannot compile '[': unterminated character set at position 0

> test_cases: [{input: a, files: report.pdf}]
agent.yaml:2: test case 'case 1', test_cases[0].files: expected a list, got 'report.pdf'
    hint: write `files: [{path: report.pdf, type: …}]`

> test_cases: [{input: a, files: [report.pdf]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0]: expected a mapping, got 'report.pdf'
    hint: write `{path: report.pdf, type: …}`

> test_cases: [{input: a, files: [{path: report.pdf}]}]
2 problems
agent.yaml:2: test case 'case 1', test_cases[0].files[0].type: required, but missing
agent.yaml:2: test case 'case 1', test_cases[0].files[0].path: file 'report.pdf' not found
    hint: a relative path starts in the folder of the file that names it

> test_cases: [{input: a, files: [{type: pdf}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0]: a file has either `path` or `url`, got neither

> test_cases: [{input: a, files: [{path: a, url: b, type: pdf}]}]
2 problems
agent.yaml:2: test case 'case 1', test_cases[0].files[0]: a file has either `path` or `url`, got both
agent.yaml:2: test case 'case 1', test_cases[0].files[0].path: file 'a' not found
    hint: a relative path starts in the folder of the file that names it

> test_cases: [{input: a, files: [{path: nowhere.pdf, type: pdf}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0].path: file 'nowhere.pdf' not found
    hint: a relative path starts in the folder of the file that names it

> test_cases: [{input: a, files: [{url: u, type: video}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0].type: expected one of image, pdf, text, excel, word, powerpoint, csv; got 'video'

> test_cases: [{input: a, files: [{url: u, type: pdf, pages: [0]}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0].pages[0]: expected at least 1, got 0

> test_cases: [{input: a, files: [{url: u, type: pdf, pages: 3}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files[0].pages: expected a list, got '3'
    hint: write `pages: [3]`

> test_cases: [{input: a, files: [{url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}, {url: u, type: pdf}]}]
agent.yaml:2: test case 'case 1', test_cases[0].files: expected at most 10 items, got 11

> description: !!python/object:os.system {}
agent.yaml:2: description: the tag !!python/object:os.system is not allowed
    hint: write the value without it

> description: !secret abc
agent.yaml:2: description: the tag !secret is not allowed
    hint: write the value without it

> test_cases:
> - input: a
>   turn_config: {? [a] : b}
agent.yaml:4: test case 'case 1', test_cases[0].turn_config: a key must be text, got a list or a mapping

> <<: 5
agent.yaml:2: ["<<"]: `<<` takes a mapping, or a list of mappings

> test_cases: [{input: a, turn_config: {a: 1, a: 2}}]
2 problems
agent.yaml:2: test case 'case 1', test_cases[0].turn_config.a: repeated key 'a', first on line 2
agent.yaml:2: test case 'case 1', test_cases[0].turn_config: not a known field
    hint: it is one of name, input, ground_truth, expected_tools, files, retrieval_context, evaluations, turns

> deployment: {a: 1, a: 2}
agent.yaml:2: deployment.a: repeated key 'a', first on line 2

> model: {provider: openai, name: '${UNSET_NAME_XYZ}'}
agent.yaml:2: model.name: the environment variable UNSET_NAME_XYZ is not set
    hint: set it, put it into a .env file beside the suite, or write ${UNSET_NAME_XYZ:-default}
"""


def blocks():
    for block in REFUSED.strip().split("\n\n"):
        lines = block.splitlines()
        suite = [line.partition("> ")[2] for line in lines if line.startswith(("> ", "|> "))]
        message = "\n".join(line for line in lines if not line.startswith(("> ", "|> ")))
        first = [] if block.startswith("|") else ["name: x"]
        yield pytest.param("\n".join(first + suite), message, id="; ".join(suite)[:80])


@pytest.mark.parametrize(("text", "message"), list(blocks()))
def test_a_mistake_is_told_with_its_place(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.yaml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_suite("agent.yaml")
    assert str(refused.value) == message
