"""Read the user's configuration file into one value.

Source: TOML 1.0. Each key is a field here and a row in `keys`, which the README shows. Unknown keys are errors, so
that a misspelt threshold does not go unnoticed. Does not look at the roots, nor for git: who uses them says what is
wrong with them. Nothing of a scanned repository can set anything here.
"""

import os
from typing import Annotated, Final, Literal

import msgspec

from gitdash.config.bounds import policy_problem
from gitdash.config.dashboard import DashboardSettings, view_problem, wrong_entry
from gitdash.config.wording import in_words
from gitdash.errors import GitdashError
from gitdash.model.policy import Policy
from gitdash.model.view import View
from gitdash.units import printable

PositiveSeconds = Annotated[float, msgspec.Meta(gt=0, le=31_557_600)]

_MAXIMUM_BYTES: Final = 1 << 20


class ConfigError(GitdashError):
    """The configuration file is wrong; the text names the file and the key or line."""


class ScanSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[scan]`: what is searched, and with how much effort."""

    exclude: tuple[str, ...] = ("node_modules", "lost+found", ".snapshot", ".zfs")
    """Patterns of folders that are not searched, see `discovery.exclusion`."""
    depth: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Folders deeper below a root are not looked at; None is no limit."""
    one_file_system: bool = True
    workers: Annotated[int, msgspec.Meta(ge=1, le=64)] | None = None
    """Processes that read repositories; None is one for each processor."""
    time_limit_s: PositiveSeconds = 60.0
    """The most that reading one repository may take."""


class GitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[git]`: how git is run."""

    program: str | None = None
    """Path or name; None is the first `git` on PATH."""
    memory_limit_bytes: Annotated[int, msgspec.Meta(ge=1 << 26)] | None = None
    """Data that one git process may allocate; None is gitdash's own limit."""


class SizeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[size]`: how reachable sizes are measured."""

    strategy: Literal["auto", "bitmap", "walk", "union"] = "auto"
    time_limit_s: PositiveSeconds = 600.0
    """The most that one query may take."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=64)] | None = None
    """Queries at the same time; None is gitdash's own choice."""


class JobSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[jobs]`: how many fetches, maintenance tasks and measurements run at the same time."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=256)] = 4
    limit_per_host: Annotated[int, msgspec.Meta(ge=1, le=256)] = 2
    """Fetches from one host."""
    limit_per_volume: Annotated[int, msgspec.Meta(ge=1, le=256)] = 2
    """Maintenance on one file system."""
    host_pause_s: Annotated[float, msgspec.Meta(ge=0, le=3_600)] = 0.2
    """Between two starts on one host; doubled each time that the host refuses."""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[fetch]`: how fetches are made."""

    protocols: tuple[Literal["https", "ssh", "http", "git", "file"], ...] = ("https", "ssh")
    """What a remote may be fetched by."""
    alternate_refs: Literal["auto", "suppress", "use"] = "auto"
    """Whether a member offers the references of its lender."""
    time_limit_s: PositiveSeconds = 3_600.0
    """The most that one fetch may take. A fetch that is stopped starts at zero the next time."""


class MaintenanceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[maintenance]`: how maintenance is run."""

    time_limit_s: PositiveSeconds = 21_600.0
    """The most that one command of a task may take."""


class RootSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[root]]`: what differs below one folder."""

    path: str
    """Absolute, `~` expanded."""
    trust_owner: bool = False
    """Take repositories of other owners for trusted, everywhere below."""
    exclude: tuple[str, ...] = ()
    """More patterns, for this root alone."""
    policy: dict[str, int | float] = {}
    """Thresholds that differ from `[policy]`."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. Made by `load_settings`, which has checked it."""

    roots: tuple[str, ...] = ()
    """Opened if none is given; absolute, `~` expanded."""
    scan: ScanSettings = ScanSettings()
    git: GitSettings = GitSettings()
    size: SizeSettings = SizeSettings()
    jobs: JobSettings = JobSettings()
    fetch: FetchSettings = FetchSettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    policy: Policy = Policy()
    root: tuple[RootSettings, ...] = ()
    dashboard: DashboardSettings = DashboardSettings()
    keys: dict[str, str | tuple[str, ...]] = {}
    """Name of an action to the key or keys that do it, as people write them; none takes its keys away."""
    view: tuple[View, ...] = ()

    def policy_for(self, path: bytes) -> Policy:
        """Return the thresholds for a repository: those of the innermost `[[root]]` above it, else the general ones."""
        root = self._innermost_root(path)
        return self.policy if root is None or not root.policy else _overridden(self.policy, root.policy)

    def trusted_roots(self) -> frozenset[bytes]:
        """Return the folders whose owners the user vouches for."""
        return frozenset(os.fsencode(root.path) for root in self.root if root.trust_owner)

    def exclude(self) -> tuple[str, ...]:
        """Return all patterns, those of one root made absolute."""
        return self.scan.exclude + tuple(
            _below_root(root.path, pattern) for root in self.root for pattern in root.exclude
        )

    def _innermost_root(self, path: bytes) -> RootSettings | None:
        above = [root for root in self.root if _is_below(path, os.fsencode(root.path))]
        return max(above, key=lambda root: len(root.path), default=None)


def load_settings(path: str | None, *, home: str) -> Settings:
    """Read `path`, or the default file, which may be absent. Raises ConfigError.

    `home` replaces `~` at the start of paths.
    """
    chosen = default_config_path() if path is None else path
    try:
        with open(chosen, "rb") as file:
            data = file.read(_MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        if path is None:
            return Settings()
        raise ConfigError(f"{printable(chosen)}: no such file") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise ConfigError(f"{printable(chosen)}: cannot be read: {reason}") from error
    if len(data) > _MAXIMUM_BYTES:
        raise ConfigError(f"{printable(chosen)}: more than {_MAXIMUM_BYTES} bytes are no configuration")
    try:
        return read_settings(data, home=home)
    except ConfigError as error:
        raise ConfigError(f"{printable(chosen)}: {error}") from error


def default_config_path() -> str:
    """Return where the file lies if none is named."""
    from platformdirs import user_config_dir

    return os.path.join(user_config_dir("gitdash", appauthor=False), "config.toml")


def read_settings(data: bytes, *, home: str) -> Settings:
    """Return what the bytes of a file say. Raises ConfigError, whose text names the key or line."""
    try:
        tables = msgspec.toml.decode(data)
    except msgspec.DecodeError as error:
        raise ConfigError(f"not TOML: {_lower_first(printable(str(error)))}") from error
    try:
        settings = msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        message = str(error).replace("$.keys[...]", f"$.keys.{wrong_entry(tables.get('keys'))}")
        raise ConfigError(in_words(message, Settings)) from error
    settings = _expanded(settings, home)
    problem = _problem(settings)
    if problem is not None:
        raise ConfigError(problem)
    return settings


def _expanded(settings: Settings, home: str) -> Settings:
    return msgspec.structs.replace(
        settings,
        roots=tuple(_expand(path, home) for path in settings.roots),
        root=tuple(msgspec.structs.replace(root, path=_expand(root.path, home)) for root in settings.root),
    )


def _expand(path: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(path) if path.startswith("/") else path


def _problem(settings: Settings) -> str | None:
    """Return what the types cannot say, as a sentence that names the key."""
    paths = [(f"roots[{number}]", path) for number, path in enumerate(settings.roots)]
    paths += [(f"root[{number}].path", root.path) for number, root in enumerate(settings.root)]
    for key, path in paths:
        if not path.startswith("/") or "\0" in path:
            return f"{key} is {printable(path)!r}, which is not an absolute path"
    problem = policy_problem(settings.policy)
    if problem is not None:
        return f"policy.{problem}"
    for number, root in enumerate(settings.root):
        try:
            problem = policy_problem(_overridden(settings.policy, root.policy))
        except msgspec.ValidationError as error:
            problem = in_words(str(error), Policy)
        if problem is not None:
            return f"root[{number}].policy.{problem}"
    return view_problem(settings.view)


def _overridden(policy: Policy, overrides: dict[str, int | float]) -> Policy:
    return msgspec.convert(msgspec.structs.asdict(policy) | overrides, Policy)


def _below_root(root: str, pattern: str) -> str:
    if pattern.startswith("/"):
        return pattern
    return f"{root.rstrip('/')}/{'' if '/' in pattern.rstrip('/') else '**/'}{pattern}"


def _is_below(path: bytes, root: bytes) -> bool:
    return path == root or path.startswith(root.rstrip(b"/") + b"/")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
