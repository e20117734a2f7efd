"""What the user's own and the system's git config say that matters to a fetch.

git reads it again itself: here stands what decides how git is called. Conditions (`includeIf`) are about the
repository, for which a stand-in is put; so where the user's config has any, git is asked in the repository what the
user's config says there, and gets it again by its environment. Source: git-config(1) "Conditional includes",
`GIT_CONFIG_COUNT`. The repository's config is listed with it, and left out.
"""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitdash.gitcmd.environment import FETCH_CONFIG_OVERRIDES
from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.gitcmd.git_program import GitProgram
from gitdash.gitcmd.runner import run_git
from gitdash.inspection.config_includes import include_problem
from gitdash.inspection.config_values import parse_bool

_TIME_LIMIT_S: Final = 20.0
_STDOUT_LIMIT_BYTES: Final = 8 << 20
_KEPT_S: Final = 30.0
"""For so long one answer stands for all repositories: a run over hundreds asks once or twice."""
_OF_THE_USER: Final = frozenset({"system", "global", "command"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UserConfig:
    """The keys of the user's and the system's config, in git's order; values may be secrets."""

    pairs: tuple[tuple[str, str | None], ...]
    """Key, with section and name in lower case, and value; None for a key without `=`."""
    depends_on_repository: bool = False
    """It was read for one repository, and git does not find it by itself."""

    def last(self, key: str) -> str | None:
        """Return the value that counts; None if there is none."""
        return next((value for name, value in reversed(self.pairs) if name == key), None)

    def flag(self, key: str) -> bool | None:
        """Return a boolean; None if it is not set, or is none."""
        values = [value for name, value in self.pairs if name == key]
        return parse_bool(None if values[-1] is None else os.fsencode(values[-1])) if values else None

    @property
    def rewrites(self) -> tuple[tuple[str, str], ...]:
        """Base and prefix of each `url.<base>.insteadOf`."""
        return tuple(
            (key.removeprefix("url.").removesuffix(".insteadof"), value)
            for key, value in self.pairs
            if value is not None and key.startswith("url.") and key.endswith(".insteadof")
        )

    @property
    def has_conditions(self) -> bool:
        """Whether some of it depends on the repository."""
        return any(key.startswith("includeif.") for key, _ in self.pairs)

    @property
    def limits_http_speed(self) -> bool:
        """Whether it says when a slow server is given up."""
        return any(key.startswith("http.") and ".lowspeed" in key for key, _ in self.pairs)

    @property
    def lets_headers_follow(self) -> bool:
        """Whether it sends headers, such as a token, that git would send again to wherever the server leads it."""
        names = {key.rpartition(".")[2] for key, _ in self.pairs if key.startswith("http.")}
        return "extraheader" in names and "followredirects" not in names

    @property
    def keeps_to_host(self) -> bool:
        """Whether a server may not send git on to another: a header or cookies of the user's would go there, too."""
        keys = {key for key, _ in self.pairs}
        return not keys.isdisjoint({"http.extraheader", "http.cookiefile"}) and "http.followredirects" not in keys

    def environment(self) -> dict[str, str]:
        """Return the variables that give it to git; none if git finds it by itself."""
        if not self.depends_on_repository:
            return {}
        given = [(key, value) for key, value in self.pairs if not key.startswith(("include.", "includeif."))]
        variables = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_CONFIG_COUNT": str(len(given)),
        }
        for number, (key, value) in enumerate(given):
            variables[f"GIT_CONFIG_KEY_{number}"] = key
            variables[f"GIT_CONFIG_VALUE_{number}"] = "true" if value is None else value
        return variables


def parse_listing(data: bytes) -> Iterator[tuple[str, str, str | None]]:
    """Yield scope, key and value of each entry of `git config --list -z --show-scope`."""
    fields = data.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, newline, value = entry.partition("\n")
        yield scope, key, value if newline else None


_lock: Final = threading.Lock()
_PLACES: Final = (b"HOME", b"XDG_CONFIG_HOME")
_kept: Final[dict[tuple[str, tuple[tuple[bytes, bytes], ...]], tuple[float, UserConfig]]] = {}


def read_user_config(program: GitProgram, git_dir: bytes, common_dir: bytes) -> UserConfig:
    """Return what the user's and the system's config say, for one repository where they make a difference.

    git is asked in the repository only if they have conditions. Raises GitError, as where the user's config cannot be
    read, or if git would wait for a file that the repository's config includes.
    """
    everywhere = _read_everywhere(program)
    if not everywhere.has_conditions:
        return everywhere
    problem = include_problem(git_dir, common_dir)
    if problem is not None:
        raise GitError(problem, kind=GitFailure.REFUSED)
    return UserConfig(pairs=_listed(program, {"GIT_DIR": os.fsdecode(git_dir)}), depends_on_repository=True)


def _read_everywhere(program: GitProgram) -> UserConfig:
    names = (name for name in os.environb if name.startswith(b"GIT_") or name in _PLACES)
    relevant = tuple(sorted((name, os.environb.get(name, b"")) for name in names))
    key = (program.path, relevant)
    with _lock:
        read_s, config = _kept.get(key, (0.0, None))
        if config is None or time.monotonic() - read_s > _KEPT_S:
            config = UserConfig(pairs=_listed(program, {}))
            _kept.clear()
            _kept[key] = (time.monotonic(), config)
    return config


def _listed(program: GitProgram, environment: dict[str, str]) -> tuple[tuple[str, str | None], ...]:
    output = run_git(
        program,
        ["config", "--list", "-z", "--show-scope"],
        environment=environment,
        for_fetch=True,
        time_limit_s=_TIME_LIMIT_S,
        stdout_limit_bytes=_STDOUT_LIMIT_BYTES,
    )
    pairs = [(key, value) for scope, key, value in parse_listing(output.stdout) if scope in _OF_THE_USER]
    # those of the call itself come last
    return tuple(pairs[: len(pairs) - len(FETCH_CONFIG_OVERRIDES)])
