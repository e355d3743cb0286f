import pytest

import holodeck_nb as hd


def add(a: float, b: float) -> float:
    """Add two numbers.

    And nothing else.
    """
    return a + b


@pytest.fixture
def suite():
    return hd.Suite(name="s", test_cases=[{"input": "q"}], model="ollama:m")


def test_functions_are_the_only_tools_and_stay_with_the_suite(suite):
    with_tool = suite.with_tools([print]).with_tools([add]).with_model("ollama:other").select(name="*")
    [tool] = with_tool.config.tools
    assert (tool.name, tool.description, tool.file) == ("add", "Add two numbers.", __file__)
    assert with_tool.with_tools([]).config.tools == ()
    assert suite.config.tools is None


def test_what_cannot_be_a_tool(suite):
    with pytest.raises(hd.ConfigError) as caught:
        suite.with_tools([add, add, 3, lambda: 1])
    assert [str(problem).splitlines()[0] for problem in caught.value.problems] == [
        "tools[1]: there is another tool 'add' already",
        "tools[2]: expected a function, got int",
        "tools[3]: a tool's name holds letters, digits and `_` alone, got '<lambda>'",
    ]


def test_a_suite_with_functions_of_a_file_can_be_written(suite, tmp_path):
    written = suite.with_tools([add]).to_yaml(tmp_path / "agent.yaml")
    [tool] = hd.Suite.from_yaml(written).config.tools
    assert (tool.file, tool.function) == (__file__, "add")


def test_a_function_that_no_file_can_name_cannot(suite, tmp_path):
    def inner():
        pass

    with pytest.raises(hd.ConfigError, match="the tool 'inner' is a function that no file can name"):
        suite.with_tools([inner]).to_yaml(tmp_path / "agent.yaml")
    assert not (tmp_path / "agent.yaml").exists()


def test_instructions_are_taken_literally(suite):
    asked = suite.with_instructions("say ${HOME} and $${x}")
    assert asked.config.instructions.inline == "say ${HOME} and $${x}"
    with pytest.raises(hd.ConfigError):
        suite.with_instructions(" ")
