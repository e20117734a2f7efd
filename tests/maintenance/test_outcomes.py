"""What errors mean, by messages that git 2.39.5, 2.47.3 and 2.55.0, OpenSSH 9.2 and curl 7.88 were made to say.

`provoked_messages.json` holds them as they were said, over loopback, with LC_ALL=C. Only ports, object ids, process ids
and the folder were made equal, so that versions which say the same share an entry, and long messages were cut in the
middle.
"""

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitdash.gitcmd.git_error import GitError, GitFailure
from gitdash.maintenance.outcomes import classify, classify_text
from gitdash.model.ledger import Outcome, Reason
from gitdash.units import printable
from tests.support.speed import cpu_s, slowness

PROVOKED = json.loads((Path(__file__).parent / "provoked_messages.json").read_text(encoding="utf-8"))

NO_KEY = "root@127.0.0.1 took no key (publickey): if yours needs a passphrase, add it to the agent with ssh-add"
PASSWORD = "127.0.0.1:2222 needs a password, and nothing can be typed here: set up a credential helper"
CLOSED = "127.0.0.1 closed the connection before it began: too many connections, or it lets nobody in for now"
TOO_MANY_KEYS = "127.0.0.1 took none of the keys that were tried"
BROKE = "the connection broke: "
HELD = "another process holds /srv/lk/"
THERE = "the repository on the other side is damaged: "
HERE = "objects or their indexes are damaged: "
FULL = "the disk is full: "
READ_ONLY = "the file system is mounted read-only"
GONE = "the repository is not there any more, or cannot be entered"
UNKNOWN_KEY = "unknown host key of [127.0.0.1]:2222: log in once with ssh, or add it to known_hosts"

EXPECTED: dict[str, tuple[Reason, str]] = {
    "http 400": (Reason.OTHER, "The requested URL returned error: 400"),
    "http 401": (Reason.PASSWORD, PASSWORD),
    "http 401 no askpass": (Reason.PASSWORD, PASSWORD),
    "http 401 user": (Reason.PASSWORD, PASSWORD),
    "http 401 user no askpass": (Reason.PASSWORD, PASSWORD),
    "http 401 user:pw": (Reason.AUTHENTICATION, "127.0.0.1:2222 refused the name or password"),
    "http 403": (Reason.AUTHENTICATION, "127.0.0.1:2222 does not allow it (HTTP 403)"),
    "http 404": (Reason.NOT_FOUND, "no such repository there"),
    "http 407": (Reason.AUTHENTICATION, "the proxy on the way to 127.0.0.1:2222 needs a password"),
    "http 410": (Reason.NOT_FOUND, "127.0.0.1:2222 has no such repository (HTTP 410)"),
    "http 429": (Reason.SERVER_REFUSED, "127.0.0.1:2222 lets nobody in for now (HTTP 429)"),
    "http 500": (Reason.OTHER, "The requested URL returned error: 500"),
    "http 502": (Reason.SERVER_REFUSED, "HTTP 502"),
    "http 503": (Reason.SERVER_REFUSED, "HTTP 503"),
    "http 504": (Reason.SERVER_REFUSED, "HTTP 504"),
    "http slow": (Reason.NETWORK, "too slow: Operation too slow. Less than 1000 bytes/sec"),
    "http empty": (Reason.NETWORK, BROKE + "Empty reply from server"),
    "http reset": (Reason.NETWORK, BROKE + "Recv failure: Connection reset by peer"),
    "http redirect": (Reason.REFUSED, "refused: the server leads to the protocol ftp"),
    "http unresolved": (Reason.NETWORK, "there is no host nosuch.invalid"),
    "http refused": (Reason.NETWORK, "127.0.0.1 port 2222 cannot be reached: "),
    "http proxy": (Reason.NETWORK, "127.0.0.1 port 2222 cannot be reached: "),
    "http proxy407": (Reason.NETWORK, BROKE),
    "https self-signed": (Reason.HOST_KEY, "the certificate of 127.0.0.1:2222 cannot be verified: server certificate"),
    "https wrong host": (Reason.HOST_KEY, "does not match target host name 'localhost'"),
    "https no CA file": (Reason.HOST_KEY, "the file of trusted ones cannot be read"),
    "https to http port": (Reason.NETWORK, "no secure connection to 127.0.0.1:2222: gnutls_handshake() failed"),
    "http helper does not run": (Reason.OTHER, "a program that git needs does not run: remote helper 'http'"),
    "git refused": (Reason.NETWORK, "127.0.0.1: Connection refused"),
    "git unresolved": (Reason.NETWORK, "there is no host nosuch.invalid"),
    "git not exported": (Reason.NOT_FOUND, "or the server does not export it: /src/.git"),
    "git missing": (Reason.NOT_FOUND, "or the server does not export it: /none.git"),
    "git close": (Reason.NETWORK, "the other side closed the connection without an answer"),
    "git reset": (Reason.NETWORK, BROKE),
    "git garbage": (Reason.OTHER, "what answers there is no git server: "),
    "ssh unknown key": (Reason.HOST_KEY, UNKNOWN_KEY),
    "ssh unknown key batch only": (Reason.HOST_KEY, "the host key is unknown or not the one in known_hosts"),
    "ssh changed key": (Reason.HOST_KEY, "the host key of [127.0.0.1]:2222 is not the one in known_hosts"),
    "ssh no such repo": (Reason.NOT_FOUND, "no repository there: /srv/none"),
    "ssh wrong key": (Reason.AUTHENTICATION, NO_KEY),
    "ssh passphrase": (Reason.AUTHENTICATION, NO_KEY),
    "ssh passphrase asked": (Reason.AUTHENTICATION, NO_KEY),
    "ssh no key file": (Reason.AUTHENTICATION, NO_KEY),
    "ssh loose key": (Reason.AUTHENTICATION, "ssh cannot use the key /srv/loose: bad permissions"),
    "ssh bad key": (Reason.AUTHENTICATION, "ssh cannot use the key /srv/badkey: error in libcrypto"),
    "ssh key or password": (Reason.AUTHENTICATION, "root@127.0.0.1 took no key (publickey,password)"),
    "ssh password alone": (Reason.PASSWORD, "root@127.0.0.1 needs a password (password)"),
    "ssh password only": (Reason.AUTHENTICATION, TOO_MANY_KEYS),
    "ssh too many failures 2": (Reason.AUTHENTICATION, TOO_MANY_KEYS),
    "ssh refused": (Reason.NETWORK, "127.0.0.1 port 2222 cannot be reached: Connection refused"),
    "ssh unresolved": (Reason.NETWORK, "there is no host nosuch.invalid"),
    "ssh close at once": (Reason.SERVER_REFUSED, CLOSED),
    "ssh garbage": (Reason.SERVER_REFUSED, CLOSED),
    "ssh maxstartups": (Reason.SERVER_REFUSED, CLOSED),
    "ssh silent": (Reason.NETWORK, "127.0.0.1 port 2222 does not answer"),
    "ssh timeout": (Reason.NETWORK, "10.255.255.1 port 22 does not answer"),
    "ssh bad option": (
        Reason.OTHER,
        "the configuration of ssh is wrong: command-line: line 0: Bad configuration option",
    ),
    "ssh missing program": (Reason.OTHER, "a program that git needs does not run: "),
    "ssh no upload-pack": (Reason.NOT_FOUND, "no repository there: /x"),
    "ssh upload-pack missing": (Reason.NOT_FOUND, "there is no git-upload-pack on the remote host"),
    "local missing": (Reason.NOT_FOUND, "no repository there: /srv/none"),
    "local not repo": (Reason.NOT_FOUND, "no repository there: /srv/src/.git/refs"),
    "local file url missing": (Reason.NOT_FOUND, "no repository there: /srv/none"),
    "local dubious": (Reason.PERMISSION, "another user owns /srv/foreign/r.git"),
    "dubious own": (Reason.PERMISSION, "another user owns /srv/foreign/r.git"),
    "ext": (Reason.REFUSED, "refused: the protocol ext is not among those that are allowed"),
    "protocol off": (Reason.REFUSED, "refused: the protocol git is not among those that are allowed"),
    "missing ref": (Reason.NOT_FOUND, "the remote has no refs/heads/nope"),
    "bad remote": (Reason.NOT_FOUND, "no repository there: nosuchremote"),
    "non-ff": (Reason.REJECTED, "main was not updated: non-fast-forward"),
    "df conflict": (Reason.REJECTED, ""),
    "checked out": (Reason.REJECTED, "refs/heads/main is checked out at /srv/div"),
    "tag clobber": (Reason.REJECTED, "v1 was not updated: would clobber existing tag"),
    "ref lock": (Reason.LOCK_HELD, HELD + "./refs/remotes/o/main.lock"),
    "pack-refs lock": (Reason.LOCK_HELD, HELD + "./packed-refs.lock"),
    "prune refs lock": (Reason.LOCK_HELD, HELD + "./packed-refs.lock"),
    "shallow lock depth": (Reason.LOCK_HELD, HELD + "shallow.lock"),
    "midx lock": (Reason.LOCK_HELD, HELD + "./objects/pack/multi-pack-index.lock"),
    "commit-graph lock": (Reason.LOCK_HELD, HELD + "./objects/info/commit-graph.lock"),
    "commit-graph chain lock": (Reason.LOCK_HELD, HELD + "./objects/info/commit-graphs/commit-graph-chain.lock"),
    "gc.pid": (Reason.LOCK_HELD, "skipped: git gc runs as process 4711 on host1"),
    "config lock": (Reason.LOCK_HELD, "another process holds config.lock"),
    "HEAD lock": (Reason.LOCK_HELD, HELD + "./HEAD.lock"),
    "reftable lock": (Reason.LOCK_HELD, "another process holds the lock of the references"),
    "reftable pack-refs lock": (Reason.LOCK_HELD, "another process holds the lock of the reftables"),
    "is at": (Reason.LOCK_HELD, "another process changed refs/heads/main at the same time: try again"),
    "midx verify byte": (Reason.CORRUPT, HERE + "incorrect checksum"),
    "midx verify cut": (Reason.CORRUPT, HERE + "improper chunk offset(s)"),
    "commit-graph verify byte": (Reason.CORRUPT, HERE),
    "commit-graph verify cut": (Reason.CORRUPT, HERE + "commit-graph file is too small"),
    "corrupt pack-byte: fetch from (file)": (Reason.CORRUPT, HERE + "inflate: data stream error"),
    "stream cut early": (Reason.NETWORK, BROKE + "fetch-pack: unexpected disconnect"),
    "stream cut pack": (Reason.NETWORK, BROKE + "fetch-pack: unexpected disconnect"),
    "stream cut pack index-pack": (Reason.NETWORK, BROKE + "fetch-pack: unexpected disconnect"),
    "stream flip pack": (Reason.CORRUPT, HERE),
    "missing lender repack": (Reason.CORRUPT, "a lender is missing: /none/objects"),
    "enospc index-pack": (Reason.DISK_FULL, FULL + "write error: No space left on device"),
    "enospc unpack": (Reason.DISK_FULL, FULL + "unable to write loose object file"),
    "enospc repack": (Reason.DISK_FULL, FULL),
    "enospc pack-refs": (Reason.DISK_FULL, FULL + "unable to write new packed-refs"),
    "enospc commit-graph": (Reason.DISK_FULL, FULL),
    # Git does not say why it could not write.
    "enospc update-ref": (Reason.OTHER, "couldn't write '/srv/mnt/r/./refs/heads/q.lock'"),
    "perm fetch unpack": (Reason.PERMISSION, ""),
    "perm fetch index-pack": (Reason.PERMISSION, ""),
    "perm repack": (Reason.PERMISSION, "permission denied: Unable to create temporary file"),
    "perm pack-refs": (Reason.PERMISSION, "permission denied: Unable to create '/srv/np/r/./packed-refs.lock'"),
    "perm midx": (Reason.PERMISSION, "permission denied: "),
    "perm commit-graph": (Reason.PERMISSION, "permission denied: "),
    "perm update-ref": (Reason.PERMISSION, "permission denied: "),
    "perm unreadable objects": (Reason.VANISHED, GONE),
    "perm unreadable repo": (Reason.PERMISSION, "permission denied: cannot change to '/srv/np/r'"),
    "perm unreadable git-dir": (Reason.VANISHED, GONE),
    "vanished git-dir": (Reason.VANISHED, GONE),
    "vanished repack": (Reason.VANISHED, GONE),
    "vanished -C": (Reason.VANISHED, GONE),
    "unknown extension": (Reason.OTHER, "this git does not know the extension nosuch"),
    "precious": (Reason.OTHER, "cannot delete packs in a precious-objects repo"),
    "broken config": (Reason.OTHER, "bad config line 9 in file ./config"),
    "memory": (Reason.OTHER, "unable to create thread: Resource temporarily unavailable"),
    "file limit": (Reason.OTHER, "write error: File too large"),
    "descriptors": (Reason.OTHER, "Too many open files"),
}
FAMILIES = {  # Names that begin alike, for what differs only in how the damage was done.
    "read-only fs": (Reason.PERMISSION, READ_ONLY),
}
OUTCOMES = {
    "gc.pid": Outcome.SKIPPED,
    "ext": Outcome.REFUSED,
    "protocol off": Outcome.REFUSED,
    "http redirect": Outcome.REFUSED,
}
"""Of those that are not simply failures."""


def expected(name: str) -> tuple[set[Reason], str]:
    if name in EXPECTED:
        reason, part = EXPECTED[name]
        return {reason}, part
    for beginning, (reason, part) in FAMILIES.items():
        if name.startswith(beginning):
            return {reason}, part
    if name == "ssh reset at once":  # Whether the reset arrives before ssh has connected is a race.
        return {Reason.NETWORK, Reason.SERVER_REFUSED}, "127.0.0.1"
    assert name.startswith("corrupt "), f"nothing is expected of {name!r}"
    if ": fetch" not in name:
        return {Reason.CORRUPT}, HERE
    # A tip that cannot be read is one that the other side says it does not have.
    lost_tip = name.startswith(("corrupt missing-tip", "corrupt pack-cut"))
    return ({Reason.NOT_FOUND}, "the remote does not have") if lost_tip else ({Reason.CORRUPT}, THERE)


@pytest.mark.parametrize("message", PROVOKED, ids=[f"{one['name']} ({one['git'][0]})" for one in PROVOKED])
def test_message_that_was_provoked_is_understood(message: dict[str, str]) -> None:
    error = GitError(
        "git fetch failed", kind=GitFailure.FAILED, exit_code=int(message["exit_code"]), stderr=message["stderr"]
    )
    reasons, part = expected(message["name"])
    verdict = classify(error)
    assert verdict.reason in reasons
    assert part in verdict.sentence
    assert verdict.outcome is OUTCOMES.get(message["name"], Outcome.FAILED)
    assert verdict.sentence == printable(verdict.sentence)


def test_every_message_that_is_expected_was_provoked() -> None:
    assert set(EXPECTED) - {message["name"] for message in PROVOKED} == set()


@pytest.mark.parametrize(  # From the sources and manuals of the programs: they could not be provoked here.
    ("stderr", "reason", "part"),
    [
        ("fatal: write error: Disk quota exceeded\n", Reason.DISK_FULL, "the disk quota is used up"),
        (
            'Load key "/home/a/.ssh/id_rsa": incorrect passphrase supplied to decrypt private key\n',
            Reason.PASSPHRASE,
            "needs a passphrase, and nothing can be typed here: add the key to the agent",
        ),
        (
            'sign_and_send_pubkey: signing failed for ED25519 "a" from agent: agent refused operation\n',
            Reason.AUTHENTICATION,
            "the ssh agent would not sign",
        ),
        (
            "fatal: unable to access 'https://a.example/r/': SSL certificate problem: self-signed certificate\n",
            Reason.HOST_KEY,
            "the certificate of a.example cannot be verified: SSL certificate problem",
        ),
        (
            "remote: Repository not found.\nfatal: repository 'https://a.example/r/' not found\n",
            Reason.NOT_FOUND,
            "no such repository there",
        ),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.\n", Reason.NOT_FOUND, "no such"),
        ("error: RPC failed; curl 18 transfer closed\nfatal: early EOF\n", Reason.NETWORK, "the connection broke"),
        ("ssh: connect to host a port 22: Connection timed out\r\n", Reason.NETWORK, "cannot be reached"),
        ("git-upload-pack: command not found\n", Reason.NOT_FOUND, "there is no git-upload-pack"),
        ("Receiving objects: 10%\rReceiving objects: 11%\rfatal: early EOF\n", Reason.NETWORK, "broke: early EOF"),
        (
            "error: cannot lock ref 'refs/remotes/o/x': is at 1111 but expected 2222\n"
            " ! 1111..2222  x -> o/x  (unable to update local ref)\n",
            Reason.LOCK_HELD,
            "another process changed refs/remotes/o/x",
        ),
    ],
)
def test_message_from_the_sources_is_understood(stderr: str, reason: Reason, part: str) -> None:
    verdict = classify_text(stderr)
    assert (verdict.reason, verdict.outcome) == (reason, Outcome.FAILED)
    assert part in verdict.sentence


@pytest.mark.parametrize(
    ("kind", "outcome", "reason"),
    [
        (GitFailure.TIMED_OUT, Outcome.TIMED_OUT, Reason.TIMED_OUT),
        (GitFailure.CANCELLED, Outcome.CANCELLED, Reason.CANCELLED),
        (GitFailure.MISSING, Outcome.FAILED, Reason.OTHER),
        (GitFailure.TOO_OLD, Outcome.FAILED, Reason.OTHER),
        (GitFailure.NOT_STARTED, Outcome.FAILED, Reason.OTHER),
        (GitFailure.REFUSED, Outcome.REFUSED, Reason.REFUSED),
    ],
)
def test_end_that_git_does_not_tell_is_told_by_the_error(kind: GitFailure, outcome: Outcome, reason: Reason) -> None:
    # What git printed before it was stopped is no cause.
    error = GitError("git fetch was stopped", kind=kind, stderr="fatal: early EOF\n")
    assert classify(error) == (outcome, reason, "git fetch was stopped")


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, Reason.DISK_FULL),
        (errno.EDQUOT, Reason.DISK_FULL),
        (errno.EACCES, Reason.PERMISSION),
        (errno.EROFS, Reason.PERMISSION),
        (errno.ENOENT, Reason.VANISHED),
        (errno.EEXIST, Reason.LOCK_HELD),
        (errno.ECONNREFUSED, Reason.NETWORK),
        (errno.EIO, Reason.OTHER),
    ],
)
def test_error_of_the_system_is_told_by_its_number(number: int, reason: Reason) -> None:
    verdict = classify(OSError(number, "It Failed", b"/srv/a\xff\x1b"))
    assert verdict == (Outcome.FAILED, reason, r"/srv/a\xff\x1b: it failed")
    assert classify(OSError(number, "It Failed")).sentence == "it failed"


def test_error_without_words_is_told_by_its_name() -> None:
    assert classify(KeyError()) == (Outcome.FAILED, Reason.OTHER, "KeyError")
    assert classify(RuntimeError("what\nit says")).sentence == "what it says"


def test_given_text_counts_more_than_that_of_the_error() -> None:
    error = GitError("git repack failed", kind=GitFailure.FAILED, stderr="fatal: early EOF\n")
    assert classify(error, stderr="fatal: write error: No space left on device\n").reason is Reason.DISK_FULL
    assert classify(RuntimeError("x"), stderr="Host key verification failed.").reason is Reason.HOST_KEY


def test_failure_without_a_message_is_told_by_the_error() -> None:
    error = GitError("git repack failed with signal 11", kind=GitFailure.FAILED, exit_code=-11)
    assert classify(error) == (Outcome.FAILED, Reason.OTHER, "git repack failed with signal 11")


@pytest.mark.safety
def test_server_cannot_choose_the_reason_by_what_it_prints() -> None:
    lie = "remote: fatal: write error: No space left on device\nremote: Host key verification failed.\n"
    assert classify_text(f"{lie}fatal: early EOF\n").reason is Reason.NETWORK


@pytest.mark.safety
@pytest.mark.parametrize(
    "stderr",
    [
        "fatal: unable to access 'https://joe:s3cr3t-word@a.example/r/': Failed to connect to a.example port 443\n",
        "fatal: Authentication failed for 'https://joe:s3cr3t-word@a.example/r/'\n",
        "fatal: 'https://joe:s3cr3t-word@a.example/r' does not appear to be a git repository\n",
        "fatal: something about https://joe:s3cr3t-word@a.example/r" + "x" * 400,
    ],
)
def test_sentence_holds_no_password(stderr: str) -> None:
    assert "s3cr3t-word" not in classify_text(stderr).sentence


@pytest.mark.safety
def test_sentence_can_be_printed_and_is_short() -> None:
    stderr = "fatal: '\x1b[2J" + "a" * 5000 + "' does not appear to be a git repository\n"
    verdict = classify_text(stderr)
    assert verdict.reason is Reason.NOT_FOUND
    assert len(verdict.sentence) == 300
    assert verdict.sentence.startswith(r"no repository there: \x1b[2J")


@pytest.mark.safety
@given(st.text())
def test_any_text_gets_a_verdict_that_can_be_printed(stderr: str) -> None:
    verdict = classify_text(stderr)
    assert verdict.sentence == printable(verdict.sentence)
    assert verdict.sentence


@pytest.mark.safety
@pytest.mark.parametrize(
    "piece",
    [
        "a" * 64,
        "a: ",
        "fatal: unable to access 'https://a",
        "fatal: unable to access 'https://a/': ",
        "fatal: unable to access 'https://a/': \n",
        "could not read Username for 'https://a@",
        "Permission denied (a",
        "Connection to a port ",
        " ! [rejected] a -> ",
        "cannot lock ref '",
        "kex_exchange_identification: Connection closed\n",
        "error: unable to normalize alternate object path: ",
        "object file a",
        "Received disconnect from a port 1",
        "\n",
        " ",
    ],
)
def test_long_hostile_text_is_read_quickly(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert cpu_s(lambda: classify_text(text), runs=1) < 2.0 * slowness()


def test_a_server_without_a_name_in_the_message_is_called_that() -> None:
    said = "kex_exchange_identification: Connection closed by remote host\nfatal: the remote end hung up"
    assert classify_text(said).sentence.startswith("the server closed the connection before it began: ")
