"""Repositories for tests, built by git itself with a fixed clock and a clean environment; never stored.

`GITDASH_TEST_GIT` names another git to run the whole suite with.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

GIT = os.environ.get("GITDASH_TEST_GIT") or shutil.which("git") or "git"
CLOCK_START_S = 1_700_000_000
_WHOLE_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\n")


def clean_environment(**more: str) -> dict[str, str]:
    """An environment without the user's: no HOME, no system config, a fixed identity."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.com",
        "GIT_COMMITTER_NAME": "C O Mitter",
        "GIT_COMMITTER_EMAIL": "committer@example.com",
    }
    return environment | more


def git_version() -> tuple[int, ...]:
    """The version of the git under test, such as (2, 39, 5)."""
    text = subprocess.run([GIT, "version"], capture_output=True, text=True, check=True, env=clean_environment()).stdout
    numbers = []
    for part in text.split()[2].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def _run_git_init(path: Path, kind: Iterable[str]) -> None:
    command = [GIT, "init", "--quiet", "--initial-branch=main", "--template=", *kind, os.fspath(path)]
    subprocess.run(command, check=True, env=clean_environment(), capture_output=True)


@functools.cache
def _pristine(kind: tuple[str, ...]) -> dict[str, bytes | None]:
    """What lies in a new repository that git has made: folders, in front of what is in them, as None."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "r"
        _run_git_init(made, kind)
        return {
            os.fspath(path.relative_to(made)): None if path.is_dir() else path.read_bytes()
            for path in sorted(made.rglob("*"))
        }


def _write_pristine(path: Path, kind: tuple[str, ...]) -> None:
    path.mkdir(parents=True)
    for name, content in _pristine(kind).items():
        if content is None:
            (path / name).mkdir()
        else:
            (path / name).write_bytes(content)


@dataclass
class GitRepository:
    """A repository that a test builds. `path` is the work tree, or the git directory if it is bare."""

    path: Path
    clock_s: int = CLOCK_START_S
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def init(
        cls,
        path: Path,
        *,
        bare: bool = True,
        object_format: str = "sha1",
        reference_backend: str | None = None,
    ) -> "GitRepository":
        """Do as `git init` with `main` as the first branch and without templates.

        Git makes one of each kind in a process of the tests; the others are copies of it.
        """
        kind = [f"--object-format={object_format}"]
        if reference_backend:
            kind.append(f"--ref-format={reference_backend}")
        if bare:
            kind.append("--bare")
        if path.exists():
            _run_git_init(path, kind)
        else:
            _write_pristine(path, tuple(kind))
        return cls(path)

    @property
    def git_dir(self) -> Path:
        """The git directory."""
        dot_git = self.path / ".git"
        return dot_git if dot_git.is_dir() else self.path

    def git(self, *arguments: str | os.PathLike[str], stdin: bytes = b"", check: bool = True, **env: str) -> str:
        """Run git here and return its output without the last newline."""
        return (
            self.git_bytes(*arguments, stdin=stdin, check=check, **env).decode("utf-8", "surrogateescape").rstrip("\n")
        )

    def git_bytes(
        self, *arguments: str | os.PathLike[str], stdin: bytes = b"", check: bool = True, **env: str
    ) -> bytes:
        """Run git here and return its output."""
        dates = {"GIT_AUTHOR_DATE": f"{self.clock_s} +0000", "GIT_COMMITTER_DATE": f"{self.clock_s} +0000"}
        finished = subprocess.run(
            [GIT, "-C", os.fspath(self.path), *map(os.fspath, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            env=clean_environment(**dates) | self.environment | env,
        )
        if check and finished.returncode:
            raise AssertionError(
                f"git {arguments} -> {finished.returncode}: {finished.stderr.decode(errors='replace')}"
            )
        return finished.stdout

    def commit(
        self,
        files: dict[str, bytes | str],
        *,
        message: str = "message",
        reference: str = "refs/heads/main",
        parents: list[str] | None = None,
    ) -> str:
        """Make a commit with exactly these files (flat names or `a/b`), without index or work tree; return its id.

        The parent is what `reference` points to, unless `parents` is given. The clock advances by 60 s.
        """
        self.clock_s += 60
        if parents is None:
            tip = self._tip(reference)
            parents = [tip] if tip else []
        lines = [f"commit {reference}", "mark :1", f"committer C O Mitter <committer@example.com> {self.clock_s} +0000"]
        body = message.encode()
        stream = "\n".join(lines).encode() + b"\ndata %d\n" % len(body) + body + b"\n"
        stream += b"".join(
            (b"from " if number == 0 else b"merge ") + parent.encode() + b"\n" for number, parent in enumerate(parents)
        )
        stream += b"deleteall\n"
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            stream += b"M 100644 inline " + name.encode() + b"\ndata %d\n" % len(data) + data + b"\n"
        stream += b"get-mark :1\n"
        return self.git("-c", "fastimport.unpackLimit=1000000", "fast-import", "--quiet", "--force", stdin=stream)

    def _tip(self, reference: str) -> str:
        """What a reference points to, empty if it does not exist; git is asked only if it is not there to be read."""
        try:
            content = (self.git_dir / reference).read_text()
        except OSError:
            is_in_files_alone = (self.git_dir / "refs" / "heads").is_dir()
            if reference.startswith("refs/") and is_in_files_alone and not (self.git_dir / "packed-refs").exists():
                return ""
        else:
            if _WHOLE_ID.fullmatch(content):
                return content[:-1]
        return self.git("rev-parse", "--verify", "--quiet", reference, check=False)

    def blob(self, content: bytes) -> str:
        """Write a loose blob and return its id."""
        return self.git("hash-object", "-w", "--stdin", stdin=content)

    def repack(self, *arguments: str) -> None:
        """Run `git repack -a -d -q` with more arguments."""
        self.git("repack", "-a", "-d", "-q", *arguments)

    def borrow_from(self, lender: "GitRepository", *, relative: bool = False) -> None:
        """Append the lender's objects directory to this repository's alternates."""
        target = os.fspath(lender.git_dir / "objects")
        if relative:
            target = os.path.relpath(target, self.git_dir / "objects")
        alternates = self.git_dir / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        with alternates.open("ab") as file:
            file.write(os.fsencode(target) + b"\n")

    def packs(self) -> list[Path]:
        """The pack files, sorted by name."""
        return sorted((self.git_dir / "objects" / "pack").glob("*.pack"))

    def age(self, path: Path, age_s: float, now_s: float) -> None:
        """Set a file's modification time to `age_s` before `now_s`."""
        os.utime(path, (now_s - age_s, now_s - age_s), follow_symlinks=False)
