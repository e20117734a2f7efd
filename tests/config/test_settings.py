"""The configuration file: what it sets, and the sentence for each mistake."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.config.dashboard import DashboardSettings
from gitdash.config.keys import SETTING_KEYS
from gitdash.config.settings import (
    ConfigError,
    FetchSettings,
    GitSettings,
    JobSettings,
    MaintenanceSettings,
    RootSettings,
    ScanSettings,
    Settings,
    SizeSettings,
    default_config_path,
    load_settings,
    read_settings,
)
from gitdash.model.policy import Policy
from gitdash.model.view import View

HOME = "/home/someone"


def read(text: str) -> Settings:
    return read_settings(text.encode(), home=HOME)


def test_empty_file_is_the_defaults() -> None:
    assert read("") == Settings()


def test_missing_default_file_is_the_defaults(isolated_environment: Path) -> None:
    assert default_config_path().startswith(str(isolated_environment))
    assert not Path(default_config_path()).exists()
    assert load_settings(None, home=HOME) == Settings()


def test_default_file_is_read_if_it_is_there() -> None:
    path = Path(default_config_path())
    path.parent.mkdir(parents=True)
    path.write_text("[scan]\ndepth = 3\n")
    assert load_settings(None, home=HOME).scan.depth == 3


def test_every_key_can_be_set() -> None:
    settings = read("""
        roots = ["~/src", "/srv/git/"]
        [scan]
        exclude = ["vendor"]
        depth = 4
        one_file_system = false
        workers = 3
        time_limit_s = 2.5
        [git]
        program = "/opt/git"
        memory_limit_bytes = 1_000_000_000
        [size]
        strategy = "walk"
        time_limit_s = 5
        workers = 1
        [policy]
        loose_limit = 5
        gc_log_age_s = 1
        [[root]]
        path = "~"
        trust_owner = true
        exclude = ["tmp"]
        [root.policy]
        loose_limit = 7
        [dashboard]
        theme = "nord"
        mouse = false
        glyphs = "ascii"
        read_only = true
        shell = "/bin/zsh"
        open_with = ["gitui"]
        [keys]
        filter = "ctrl+f"
        rescan = ["F5", "r"]
        quit = []
        [[view]]
        name = "big"
        filter = "=disk > 1e9"
        sort = "-disk"
        columns = ["name", "disk"]
        group = "root"
    """)
    assert settings == Settings(
        roots=(f"{HOME}/src", "/srv/git"),
        scan=ScanSettings(exclude=("vendor",), depth=4, one_file_system=False, workers=3, time_limit_s=2.5),
        git=GitSettings(program="/opt/git", memory_limit_bytes=1_000_000_000),
        size=SizeSettings(strategy="walk", time_limit_s=5.0, workers=1),
        policy=Policy(loose_limit=5, gc_log_age_s=1.0),
        root=(RootSettings(path=HOME, trust_owner=True, exclude=("tmp",), policy={"loose_limit": 7}),),
        dashboard=DashboardSettings(
            theme="nord", mouse=False, glyphs="ascii", read_only=True, shell="/bin/zsh", open_with=("gitui",)
        ),
        keys={"filter": "ctrl+f", "rescan": ("F5", "r"), "quit": ()},
        view=(View(name="big", filter="=disk > 1e9", sort="-disk", columns=("name", "disk"), group="root"),),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[scan]\nexclud = []", "scan.exclud is not a known key; did you mean 'exclude'?"),
        (
            "colour = 1",
            "colour is not a known key; there are roots, scan, git, size, jobs, fetch, maintenance,"
            " policy, root, dashboard, keys, view",
        ),
        ("[polcy]\nx = 1", "polcy is not a known key; did you mean 'policy'?"),
        ("[policy]\nlose_limit = 1", "policy.lose_limit is not a known key; did you mean 'loose_limit'?"),
        ("[[root]]\npath = '/x'\ntrust = true", "root[0].trust is not a known key; did you mean 'trust_owner'?"),
        (
            "[[root]]\npath = '/x'\n[root.policy]\nlose_limit = 1",
            "root[0].policy.lose_limit is not a known key; did you mean 'loose_limit'?",
        ),
        ("[scan]\ndepth = 'x'", "scan.depth: expected a whole number, got a text"),
        ("[scan]\ndepth = -1", "scan.depth: expected a whole number of at least 0"),
        ("[scan]\nworkers = 0", "scan.workers: expected a whole number of at least 1"),
        ("[scan]\nworkers = 65", "scan.workers: expected a whole number of at most 64"),
        ("[scan]\ntime_limit_s = 1e9", "scan.time_limit_s: expected a number of at most 31557600"),
        ("[scan]\none_file_system = 1", "scan.one_file_system: expected true or false, got a whole number"),
        ("[scan]\nexclude = 'a'", "scan.exclude: expected a list, got a text"),
        ("[scan]\nexclude = [1]", "scan.exclude[0]: expected a text, got a whole number"),
        ("scan = 1", "scan: expected a table, got a whole number"),
        ("[[root]]", "root[0].path is missing"),
        ("[size]\nstrategy = 'fast'", "size.strategy is 'fast', and must be 'auto', 'bitmap', 'union' or 'walk'"),
        ("[size]\ntime_limit_s = nan", "size.time_limit_s: expected a number above 0"),
        ("[policy]\nloose_limit = -1", "policy.loose_limit is -1, which is not a number from 0 on"),
        ("[policy]\nlock_age_s = inf", "policy.lock_age_s is inf, which is not a number from 0 on"),
        (
            "[policy]\nloose_references_log_base = 1",
            "policy.loose_references_log_base is 1.0, and the base of a logarithm must be above 1",
        ),
        ("[policy]\nreftable_factor = 0", "policy.reftable_factor is 0, and must be 1 or more"),
        (
            "[[root]]\npath = '/x'\npolicy.loose_limit = 1.5",
            "root[0].policy.loose_limit: expected a whole number, got a number",
        ),
        (
            "[[root]]\npath = '/x'\n[[root]]\npath = '/y'\npolicy.lock_age_s = -1",
            "root[1].policy.lock_age_s is -1.0, which is not a number from 0 on",
        ),
        ("roots = ['src']", "roots[0] is 'src', which is not an absolute path"),
        ("[[root]]\npath = '~user/x'", "root[0].path is '~user/x', which is not an absolute path"),
        ('roots = ["/a\\u0000b"]', "roots[0] is '/a\\\\x00b', which is not an absolute path"),
        (
            "[dashboard]\ncolour = 1",
            "dashboard.colour is not a known key; there are theme, mouse, glyphs, read_only, shell, open_with",
        ),
        ("[dashboard]\nglyphs = 'emoji'", "dashboard.glyphs is 'emoji', and must be 'ascii', 'auto' or 'unicode'"),
        ("[dashboard]\nmouse = 'no'", "dashboard.mouse: expected true or false, got a text"),
        ("[dashboard]\nopen_with = 'tig'", "dashboard.open_with: expected a list, got a text"),
        ("keys = 'emacs'", "keys: expected a table, got a text"),
        ("[keys]\nquit = 'q'\nfilter = 1", "keys.filter: expected a text or a list, got a whole number"),
        ("[keys]\nquit = 'q'\nrescan = ['r', 5]", "keys.rescan[1]: expected a text, got a whole number"),
        ("[[view]]\nfilter = 'x'", "view[0].name is missing"),
        ("[[view]]\nname = ' '", "view[0].name is empty"),
        ("[[view]]\nname = 'a'\n[[view]]\nname = 'a'", "view[1].name is 'a', as that of another view"),
        (
            "[[view]]\nname = 'a'\n[[view]]\nname = 'b'\ngroup = 'size'",
            "view[1].group is 'size', and must be 'findings', 'none', 'pool', 'root' or 'state'",
        ),
        ("[[view]]\nname = 'a'\ncolum = 1", "view[0].colum is not a known key; did you mean 'columns'?"),
        ("[scan\n", "not TOML: expected ']' at the end of a table declaration (at line 1, column 6)"),
        ("[scan]\ndepth = 1\ndepth = 2\n", "not TOML: cannot overwrite a value (at line 3, column 10)"),
    ],
)
def test_mistake_is_one_sentence_that_names_the_key_or_the_line(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert str(caught.value) == sentence


def test_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine\x1b.toml"
    path.write_text("[policy]\nx = 1\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(str(path), home=HOME)
    assert str(caught.value) == f"{tmp_path}/mine\\x1b.toml: policy.x is not a known key"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "no such file"),
        (lambda path: path.mkdir(), "cannot be read: is a directory"),
        (lambda path: path.symlink_to(path), "cannot be read: too many levels of symbolic links"),
        (lambda path: path.write_bytes(b"\xff"), "not TOML: 'utf-8' codec can't decode byte 0xff in position 0"),
    ],
)
def test_file_that_was_named_and_cannot_be_read_is_an_error(tmp_path: Path, make, reason: str) -> None:
    path = tmp_path / "config.toml"
    make(path)
    with pytest.raises(ConfigError) as caught:
        load_settings(str(path), home=HOME)
    assert str(caught.value).startswith(f"{path}: {reason}")


def test_name_that_is_no_path_is_an_error() -> None:
    with pytest.raises(ConfigError, match="not a path"):
        load_settings("a\0b", home=HOME)


def test_file_without_end_is_an_error() -> None:
    with pytest.raises(ConfigError, match="more than 1048576 bytes"):
        load_settings("/dev/zero", home=HOME)


def test_file_may_come_through_a_pipe() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"scan.depth = 3\n")
    os.close(writer)
    try:
        assert load_settings(f"/dev/fd/{reader}", home=HOME).scan.depth == 3
    finally:
        os.close(reader)


@settings(max_examples=100, deadline=None, database=None)
@given(st.one_of(st.binary(max_size=60), st.text("[]=\n\"'.,scanroot0x{} \ud800", max_size=40)))
def test_any_bytes_are_settings_or_one_printable_sentence(data: bytes | str) -> None:
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    try:
        sentence = repr(read_settings(raw, home=HOME))
    except ConfigError as error:
        sentence = str(error)
    assert sentence
    assert sentence.isprintable()


def test_innermost_root_decides_the_policy() -> None:
    chosen = read("""
        policy.loose_limit = 1
        policy.pack_limit = 9
        [[root]]
        path = "/srv/git"
        policy.loose_limit = 2
        [[root]]
        path = "/srv"
        policy.loose_limit = 3
        [[root]]
        path = "/srv/git/plain"
    """)
    expected = {
        b"/srv/git/x.git": 2,
        b"/srv/git": 2,
        b"/srv/x": 3,
        b"/srv/gitx": 3,
        b"/else": 1,
        b"/srv/git/plain/x": 1,
    }
    assert {path: chosen.policy_for(path).loose_limit for path in expected} == expected
    assert {chosen.policy_for(path).pack_limit for path in expected} == {9}


def test_exclusions_of_a_root_are_made_absolute() -> None:
    chosen = read("""
        scan.exclude = ["everywhere"]
        [[root]]
        path = "/srv/"
        exclude = ["name", "a/b", "/x/y", "dir/"]
    """)
    assert chosen.exclude() == ("everywhere", "/srv/**/name", "/srv/a/b", "/x/y", "/srv/**/dir/")


def test_trusted_roots_are_those_that_say_so() -> None:
    chosen = read("[[root]]\npath = '/a'\ntrust_owner = true\n[[root]]\npath = '/b'\n")
    assert chosen.trusted_roots() == {b"/a"}


def test_nothing_is_trusted_by_default() -> None:
    assert Settings().trusted_roots() == frozenset()


def all_keys() -> set[str]:
    names = {"roots", "keys.ACTION"}
    for table, kind in {
        "scan": ScanSettings,
        "git": GitSettings,
        "size": SizeSettings,
        "jobs": JobSettings,
        "fetch": FetchSettings,
        "maintenance": MaintenanceSettings,
        "root": RootSettings,
        "policy": Policy,
        "dashboard": DashboardSettings,
        "view": View,
    }.items():
        names |= {f"{table}.{field.name}" for field in msgspec.structs.fields(kind)}
    return names


def test_every_key_is_explained_once_and_every_explained_key_exists() -> None:
    explained = [key.name for key in SETTING_KEYS]
    assert len(explained) == len(set(explained))
    assert set(explained) == all_keys()
    assert all(key.meaning.endswith(".") for key in SETTING_KEYS)
    assert {field.name for field in msgspec.structs.fields(Settings)} == {name.partition(".")[0] for name in all_keys()}
