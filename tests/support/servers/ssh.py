"""sshd on the loopback, one process for each connection, with keys made in the folder of the test.

Nothing of the user's own ssh is read: sshd has a configuration of its own, and the client gets `client_config`. A
program `ssh` for PATH stands for what ~/.ssh/config says, because ssh asks the password file, not HOME, for the home.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.repositories import GIT, clean_environment
from tests.support.servers.listening import LIMIT_S, Listener, listening, program

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
SSH = shutil.which("ssh")
PRIVILEGE_SEPARATION = Path("/run/sshd")
"""Where Debian's sshd wants an empty folder if root runs it; its own start-up makes it."""


@dataclass(frozen=True)
class SshServer:
    """An sshd that runs."""

    folder: Path
    listener: Listener
    log: Path
    """What sshd said."""

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def url(self, repository: Path) -> str:
        """Where a repository is."""
        return f"ssh://127.0.0.1:{self.listener.port}{repository}"


def make_key(file: Path, *, passphrase: str = "") -> Path:
    """Make a key pair; the public half is in `FILE.pub`."""
    _run(["ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", passphrase, "-C", "a key of a test", "-f", file])
    return file


@contextlib.contextmanager
def ssh_server(folder: Path, *allowed_keys: Path, password_only: bool = False) -> Iterator[SshServer]:
    """Let in who has one of the keys, and run for them what they ask for, in a clean environment."""
    folder.mkdir(exist_ok=True)
    host_key = make_key(folder / "host_key")
    forced = folder / "run"
    exports = " ".join(shlex.quote(f"{name}={value}") for name, value in _server_environment().items())
    forced.write_text(f'#!/bin/sh\nexec env -i {exports} GIT_PROTOCOL="$GIT_PROTOCOL" sh -c "$SSH_ORIGINAL_COMMAND"\n')
    forced.chmod(0o755)
    authorized = folder / "authorized_keys"
    lines = (f'command="{forced}",restrict {_public(key)}' for key in allowed_keys)
    authorized.write_text("".join(lines))
    config, log = folder / "sshd_config", folder / "sshd.log"
    config.write_text(
        f"HostKey {host_key}\nAuthorizedKeysFile {authorized}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
        f"PasswordAuthentication {'yes' if password_only else 'no'}\nKbdInteractiveAuthentication no\n"
        f"PubkeyAuthentication {'no' if password_only else 'yes'}\nAcceptEnv GIT_PROTOCOL\nPidFile none\nUseDNS no\n"
    )
    if os.geteuid() == 0:
        PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    assert SSHD is not None
    argv = [SSHD, "-i", "-e", "-f", os.fspath(config)]
    with listening(program(argv, {"PATH": os.defpath}, log=os.fspath(log))) as listener:
        server = SshServer(folder, listener, log)
        server.known_hosts.write_text(f"[127.0.0.1]:{listener.port} {_public(host_key)}")
        yield server


def client_config(file: Path, *, key: Path | None, known_hosts: Path, agent: bool = False) -> Path:
    """Write what a user's ~/.ssh/config would say about the server."""
    only = "no" if agent else "yes"
    lines = ["Host 127.0.0.1", f"UserKnownHostsFile {known_hosts}", "GlobalKnownHostsFile none"]
    lines += [f"IdentitiesOnly {only}", f"IdentityFile {key or 'none'}"]
    file.write_text("\n".join(lines) + "\n")
    return file


def ssh_with_config(folder: Path, config: Path) -> Path:
    """Make a folder for PATH with an `ssh` that reads `config` in place of the user's own; return the folder."""
    folder.mkdir(exist_ok=True)
    file = folder / "ssh"
    file.write_text(f'#!/bin/sh\nexec {SSH} -F {shlex.quote(os.fspath(config))} "$@"\n')
    file.chmod(0o755)
    return folder


@contextlib.contextmanager
def ssh_agent(folder: Path, *keys: Path) -> Iterator[Path]:
    """Run an agent that holds the keys, which have no passphrase; give its socket."""
    socket = folder / "agent"
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE, env={"PATH": os.defpath}, start_new_session=True
    )
    try:
        # It says where it listens once it does.
        assert process.stdout is not None
        assert process.stdout.readline()
        for key in keys:
            _run(["ssh-add", "-q", key], SSH_AUTH_SOCK=os.fspath(socket))
        yield socket
    finally:
        process.terminate()
        process.wait(LIMIT_S)
        process.stdout.close()


def _server_environment() -> dict[str, str]:
    """What git gets on the server; the git under test comes first."""
    environment = clean_environment()
    folder = os.path.dirname(GIT)
    return environment | {"PATH": f"{folder}:{environment['PATH']}" if folder else environment["PATH"]}


def _public(key: Path) -> str:
    return key.with_name(f"{key.name}.pub").read_text()


def _run(argv: list[str | Path], **variables: str) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath)} | variables
    subprocess.run(argv, check=True, capture_output=True, timeout=LIMIT_S, env=environment, stdin=subprocess.DEVNULL)
