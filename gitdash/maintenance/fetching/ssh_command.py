"""The ssh of a fetch: the user's own, told to ask nobody.

Source: git(1) `GIT_SSH`, `GIT_SSH_COMMAND`, git-config(1) `core.sshCommand`, `ssh.variant`, ssh_config(5). Pure.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Final

SSH_OPTIONS: Final = (
    "-oPasswordAuthentication=no -oKbdInteractiveAuthentication=no -oNumberOfPasswordPrompts=1"
    " -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4"
)
"""Asks nobody for a password, and notices a peer that has gone. BatchMode would do the former, but would not say that a
key needs a passphrase: that, and whether to trust a host key, goes to SSH_ASKPASS, which is ours and answers nothing.
What the user's ssh config says of host keys stays in force."""

_SHELL_SIGNS: Final = re.compile(r"[|&;<>()`#\n]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def ssh_environment(
    inherited: Mapping[str, str], core_ssh_command: str | None, ssh_variant: str | None
) -> dict[str, str]:
    """Return the variables by which git finds ssh.

    Args:
        inherited: The user's environment; GIT_SSH_COMMAND wins, then `core.sshCommand`, then GIT_SSH, as for git.
        core_ssh_command: What the user's or the system's config says.
        ssh_variant: The same; GIT_SSH_VARIANT of the environment wins.
    """
    own = inherited.get("GIT_SSH_COMMAND") or core_ssh_command
    variant = inherited.get("GIT_SSH_VARIANT") or ssh_variant
    if own is None and inherited.get("GIT_SSH"):
        own = shlex.quote(inherited["GIT_SSH"])
    if own is None:
        return {"GIT_SSH_COMMAND": f"ssh {SSH_OPTIONS}", "GIT_SSH_VARIANT": "ssh"}
    is_openssh = (variant == "ssh" or (variant in {None, "auto"} and _is_ssh(own))) and not _SHELL_SIGNS.search(own)
    named = {} if variant is None else {"GIT_SSH_VARIANT": variant}
    return {"GIT_SSH_COMMAND": f"{own} {SSH_OPTIONS}" if is_openssh else own, **named}


def _is_ssh(command: str) -> bool:
    """Tell whether a command line starts OpenSSH: another program might take `-o` for something else."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    words = [word for word in words if not _ASSIGNMENT.match(word)]
    return bool(words) and words[0].rpartition("/")[2] == "ssh"
