"""How the dashboard looks: what the command line says holds, else what the configuration says."""

from pathlib import Path

import pytest

from gitdash.cli.commands import make_command_line
from gitdash.cli.session import Session
from gitdash.config.dashboard import DashboardSettings

CONFIG = """
[dashboard]
theme = "nord"
mouse = true
glyphs = "unicode"
shell = "/bin/zsh"
"""
CONFIGURED = DashboardSettings(theme="nord", glyphs="unicode", shell="/bin/zsh")


def opened(*arguments: str) -> DashboardSettings:
    """What the dashboard finds that these arguments open."""
    sessions: list[Session] = []

    def dashboard(session: Session, roots: tuple[bytes, ...]) -> int:
        sessions.append(session)
        return 0

    def serve(*arguments, **options) -> None:
        raise AssertionError(arguments)

    with pytest.raises(SystemExit) as caught:
        make_command_line(dashboard, serve).main(["--served", *arguments])
    assert caught.value.code == 0
    return sessions[0].dashboard


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], CONFIGURED),
        (["--theme", "textual-light"], DashboardSettings(theme="textual-light", glyphs="unicode", shell="/bin/zsh")),
        (["--no-mouse"], DashboardSettings(theme="nord", mouse=False, glyphs="unicode", shell="/bin/zsh")),
        (["--ascii"], DashboardSettings(theme="nord", glyphs="ascii", shell="/bin/zsh")),
        (["--read-only"], DashboardSettings(theme="nord", glyphs="unicode", shell="/bin/zsh", read_only=True)),
    ],
)
def test_option_holds_over_the_configuration(arguments: list[str], expected: DashboardSettings, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    assert opened("--config", str(config), *arguments, str(tmp_path)) == expected


def test_without_options_and_configuration_the_defaults_hold(tmp_path: Path) -> None:
    assert opened(str(tmp_path)) == DashboardSettings()
