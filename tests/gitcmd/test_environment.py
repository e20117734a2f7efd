import pytest

from gitdash.gitcmd.environment import (
    CONFIG_OVERRIDES,
    FALLBACK_PATH,
    FETCH_CONFIG_OVERRIDES,
    FETCH_PASSED,
    FETCH_VARIABLES,
    VARIABLES,
    config_arguments,
    fetch_environment,
    git_environment,
    without_git_variables,
)

HOSTILE = {
    "GIT_DIR": "/elsewhere",
    "GIT_OBJECT_DIRECTORY": "/elsewhere/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/elsewhere/objects",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "touch /tmp/x",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='touch /tmp/x'",
    "GIT_TRACE2_EVENT": "/tmp/trace",
    "GIT_EXEC_PATH": "/elsewhere/bin",
    "GIT_SSH_COMMAND": "touch /tmp/x",
    "SUDO_UID": "0",
    "SSH_ASKPASS": "/elsewhere/ask",
    "LD_PRELOAD": "/elsewhere/x.so",
    "HOME": "/home/somebody",
    "XDG_CONFIG_HOME": "/home/somebody/.config",
}


def test_nothing_of_an_inherited_environment_counts_but_the_path() -> None:
    assert git_environment({"PATH": "/usr/bin"} | HOSTILE) == git_environment({"PATH": "/usr/bin"})


@pytest.mark.parametrize(
    ("inherited", "path"),
    [
        ({}, FALLBACK_PATH),
        ({"PATH": ""}, FALLBACK_PATH),
        ({"PATH": ".:bin:"}, FALLBACK_PATH),
        ({"PATH": ":/a:.:../b:/c:"}, "/a:/c"),
    ],
)
def test_path_entries_that_mean_the_current_folder_are_dropped(inherited: dict[str, str], path: str) -> None:
    assert git_environment(inherited)["PATH"] == path


def test_each_entry_of_the_table_stands_once_and_has_a_reason() -> None:
    assert len({variable.name for variable in VARIABLES}) == len(VARIABLES)
    assert len({override.key.lower() for override in CONFIG_OVERRIDES}) == len(CONFIG_OVERRIDES)
    assert all(len(entry.reason) > 5 for entry in (*VARIABLES, *CONFIG_OVERRIDES))


def test_added_pairs_come_last_so_that_they_win() -> None:
    assert config_arguments((("core.multiPackIndex", "false"),))[-2:] == ["-c", "core.multiPackIndex=false"]


def test_a_child_that_is_not_git_inherits_all_but_what_changes_git() -> None:
    assert without_git_variables({"PATH": "/bin", "GITDASH_X": "1"} | HOSTILE) == {
        "PATH": "/bin",
        "GITDASH_X": "1",
        "LD_PRELOAD": "/elsewhere/x.so",
        "HOME": "/home/somebody",
        "XDG_CONFIG_HOME": "/home/somebody/.config",
    }


def test_fetch_gets_what_the_user_set_up_and_nothing_that_turns_git_elsewhere() -> None:
    own = {
        "HOME": "/home/somebody",
        "SSH_AUTH_SOCK": "/run/agent",
        "https_proxy": "http://proxy",
        "TOKEN_OF_A_HELPER": "x",
        "GIT_SSL_CAINFO": "/ca",
        "GIT_CONFIG_GLOBAL": "/home/somebody/config",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.proxy",
        "GIT_CONFIG_VALUE_0": "http://proxy",
    }
    other = {
        "DISPLAY": ":0",
        "WAYLAND_DISPLAY": "x",
        "SSH_ASKPASS": "/elsewhere/ask",
        "GIT_ASKPASS": "/elsewhere/ask",
        "GIT_DIR": "/elsewhere",
        "GIT_OBJECT_DIRECTORY": "/elsewhere",
        "GIT_TRACE2_EVENT": "/elsewhere/trace",
        "GIT_CONFIG_KEY_EVIL": "x",
        "SUDO_UID": "0",
        "LC_ALL": "de_DE.UTF-8",
    }
    given = fetch_environment({"PATH": ".:/usr/bin"} | own | other)
    assert {name: given.get(name) for name in own} == own
    assert given["PATH"] == "/usr/bin"
    fixed = {variable.name: variable.value for variable in FETCH_VARIABLES}
    assert {name: given.get(name) for name in other} == {name: fixed.get(name) for name in other}


def test_each_entry_of_the_table_of_fetches_stands_once_and_has_a_reason() -> None:
    names = [variable.name for variable in FETCH_VARIABLES]
    assert len(set(names)) == len(names)
    assert len({override.key.lower() for override in FETCH_CONFIG_OVERRIDES}) == len(FETCH_CONFIG_OVERRIDES)
    passed = [name for entry in FETCH_PASSED for name in entry.names]
    assert len(set(passed)) == len(passed)
    assert set(passed).isdisjoint(names)
    assert all(len(entry.reason) > 5 for entry in (*FETCH_VARIABLES, *FETCH_CONFIG_OVERRIDES, *FETCH_PASSED))
