"""The page that explains ATTP tells of every function, and its own example works."""

from __future__ import annotations

import pytest

from memci.commands.attp.protocol import Status, read_answer
from memci.domain.language import Language, language_of
from memci.shapes.attp_guide import guide_in
from memci.shapes.tools import BY_NAME, TOOLS, tools_in_code


@pytest.mark.parametrize("language", Language)
def test_every_function_is_told_of_in_the_agent_s_language(language: Language):
    guide = guide_in(language)
    lines = guide.text.splitlines()
    for tool in tools_in_code():
        (line,) = (each for each in lines if each.startswith(f"- {tool.name}("))
        assert line.endswith(tool.description) is (language is Language.ENGLISH)
    assert language_of(guide.name + guide.description) is language
    assert not any(f"{tool.name}(" in guide.text for tool in TOOLS if not tool.for_agents)


@pytest.mark.parametrize("language", Language)
def test_its_example_is_a_call(language: Language):
    call = read_answer(guide_in(language).text.partition("thought =")[1:][0] + _rest(language))
    assert call.status is Status.SUCCESS
    assert call.target == "usr-12"


def _rest(language: Language) -> str:
    """Return what follows ``thought =`` in the example, up to the end of its code."""
    after = guide_in(language).text.partition("thought =")[2]
    return after[: after.index("\n'''\n") + 5]


def test_what_may_be_left_out_is_shown_with_its_default():
    assert "- update_page(index, name=None, description=None)" in guide_in(Language.ENGLISH).text
    assert "- create_contents_page(name, description='', parent, children=[])" in (
        guide_in(Language.ENGLISH).text
    )
    assert BY_NAME["create_contents_page"].request.model_fields["children"].is_required() is False
