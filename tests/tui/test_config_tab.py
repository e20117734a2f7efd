"""The Config of a repository: concerns with what gitdash does about them, remotes, format, and what git always gets."""

import msgspec
import pytest

from gitdash.gitcmd.environment import CONFIG_OVERRIDES, VARIABLES
from gitdash.model.config_facts import ConfigConcern, ConfigEffect, ConfigFacts, Remote
from gitdash.model.repository import Unreadable
from gitdash.tui.repository.config import config_page
from tests.tui.fixture_fleet import report
from tests.tui.repository_pages import HOSTILE_TEXTS, entry, inspected, longest_line, texts_of, view_of


def texts_with(width: int = 120, **changed: object) -> list[str]:
    facts = inspected(entry()).config
    assert isinstance(facts, ConfigFacts)
    return texts_of(config_page(view_of(entry(config=msgspec.structs.replace(facts, **changed))), width))


def concern(key: str, value: str, effect: ConfigEffect = ConfigEffect.RUNS_PROGRAM) -> ConfigConcern:
    return ConfigConcern(key=key, value=value, source="config.worktree", effect=effect, answer="it is overridden")


def test_concern_has_key_value_effect_file_and_answer() -> None:
    texts = texts_with(concerns=(concern("core.fsmonitor", "/tmp/x"), concern("hooks/update", "")))
    assert texts[1:4] == ["core.fsmonitor = /tmp/x", "runs a program  in config.worktree", "> it is overridden"]
    assert texts[4] == "hooks/update"


def test_config_without_concerns_says_so() -> None:
    assert texts_with()[1] == "Nothing in it could run a program, lead elsewhere or lose objects."


@pytest.mark.parametrize("effect", ConfigEffect)
def test_every_effect_has_words_of_its_own(effect: ConfigEffect) -> None:
    shown = {texts_with(concerns=(concern("a.b", "c", one),))[2] for one in ConfigEffect}
    assert len(shown) == len(ConfigEffect)
    assert effect.value not in texts_with(concerns=(concern("a.b", "c", effect),))[2]


def test_remotes_have_their_url_and_marks() -> None:
    remotes = (
        Remote(name="origin", url="https://***@host/x.git", mirror=True),
        Remote(name="far", url="", promisor=True),
    )
    texts = texts_with(remotes=remotes)
    start = texts.index("Remotes")
    assert texts[start + 1 : start + 5] == ["origin  mirror", "https://***@host/x.git", "far  promisor", "has no URL"]
    assert texts_with()[texts_with().index("Remotes") + 1] == "none"


def test_facts_that_change_what_git_does_are_told() -> None:
    texts = " ".join(
        texts_with(
            width=400,
            gc_auto=0,
            unknown_extensions=("future",),
            precious_objects=True,
            partial_clone=True,
            multi_pack_index_disabled=True,
            bitmaps_disabled=True,
            commit_graph_disabled=True,
            commit_graph_generation_version=1,
            scalar_enlistment=True,
            gc_prune_expire="never",
            maintenance_auto=False,
        )
    )
    for words in (
        "gc.auto      0: git never starts gc",
        "future: git of this format",
        "preciousObjects",
        "objects may be missing on purpose",
        "core.multiPackIndex=false",
        "bitmaps      switched off",
        "core.commitGraph=false",
        "commitGraph.generationVersion=1",
        "Scalar",
        "gc.pruneExpire=never",
        "maintenance.auto=false",
    ):
        assert words in texts, words


@pytest.mark.parametrize("width", [79, 119, 199])
def test_everything_that_git_gets_is_listed_with_its_reason(width: int) -> None:
    joined = "".join("".join(texts_with(width)).split())
    for setting, reason in [
        *((f"{one.key}={one.value}", one.reason) for one in CONFIG_OVERRIDES),
        *((f"{one.name}={one.value}", one.reason) for one in VARIABLES),
    ]:
        if width < 150:
            # beside each other lines of both sides alternate
            assert "".join(setting.split()) in joined
            assert "".join(reason.split()) in joined
        else:
            assert "".join(setting.split())[:20] in joined
            assert reason.split()[0] in joined


def test_config_that_cannot_be_read_leaves_what_git_gets() -> None:
    texts = texts_of(config_page(view_of(entry(config=Unreadable("permission denied"))), 120))
    assert texts[0] == "Its config is unreadable: permission denied"
    assert any("core.hooksPath" in text for text in texts)
    unread = texts_of(config_page(view_of(report(b"a.git", Unreadable("gone"))), 120))
    assert any("core.hooksPath" in text for text in unread)


@pytest.mark.safety
@pytest.mark.parametrize("width", [59, 79, 199])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_any_value_stays_within_the_width(text: str, width: int) -> None:
    facts = inspected(entry()).config
    assert isinstance(facts, ConfigFacts)
    changed = msgspec.structs.replace(
        facts,
        concerns=(concern(text, text),),
        remotes=(Remote(name=text, url=text, mirror=True),),
        unknown_extensions=(text,),
        gc_prune_expire=text,
    )
    assert longest_line(config_page(view_of(entry(config=changed)), width)) <= width


@pytest.mark.safety
def test_only_the_first_of_very_many_are_listed() -> None:
    remotes = tuple(Remote(name=f"r{number}", url=f"https://example.org/{number}") for number in range(20_000))
    texts = texts_with(remotes=remotes, concerns=tuple(concern(f"a.k{number}", "v") for number in range(5_000)))
    assert "r99" in texts
    assert "r100" not in texts
    assert "and 19,900 more" in texts
    assert "a.k99 = v" in texts
    assert "and 4,900 more" in texts
