"""The messages of git, ssh and curl that tell why something failed, and what each means for a person.

Source: messages of git 2.39, 2.47 and 2.55, of OpenSSH and of libcurl with LC_ALL=C, provoked one by one and kept
in the test of `outcomes`. The rules are tried in order, each on the whole text, so a cause stands before what git says
in its wake (`Could not read from remote repository`). ssh says the same of a key that it could not read for want of a
passphrase and of a key that the server does not know: the sentence names both.

Every repeat in a pattern has a bound or ends at a character that cannot be in it: servers write part of the text.
"""

from dataclasses import dataclass
from typing import Final

from gitdash.model.ledger import Outcome, Reason


@dataclass(frozen=True, slots=True)
class MessageRule:
    """What one kind of message means."""

    pattern: str
    """Searched in the text; `^` is the start of a line, `.` ends at its end."""
    reason: Reason
    sentence: str
    """With the named groups of the pattern; `{line}` is the line that the match begins in."""
    outcome: Outcome = Outcome.FAILED


_NOTHING_ASKED: Final = "nothing can be typed here"
_URL_HOST: Final = r"'[a-z+]{1,32}://(?:[^/'@\n]{0,256}@)?(?P<host>[^/'\n]{1,256})(?=[/'])"
_HTTP: Final = rf"unable to access {_URL_HOST}[^'\n]{{0,1024}}': [^\n]{{0,200}}?"

MESSAGE_RULES: Final = (
    # The volume, before what breaks because of it.
    MessageRule(r"No space left on device|[Oo]ut of disk ?space", Reason.DISK_FULL, "the disk is full: {line}"),
    MessageRule(r"[Qq]uota exceeded", Reason.DISK_FULL, "the disk quota is used up: {line}"),
    MessageRule(r"Read-only file system", Reason.PERMISSION, "the file system is mounted read-only"),
    # Locks, and others at the same place.
    MessageRule(
        r"gc is already running on machine '(?P<host>[^'\n]*)' pid (?P<pid>\d+)",
        Reason.LOCK_HELD,
        "skipped: git gc runs as process {pid} on {host}",
        Outcome.SKIPPED,
    ),
    MessageRule(
        r"Unable to create '(?P<path>[^\n]*\.lock)': File exists",
        Reason.LOCK_HELD,
        "another process holds {path}, or left it behind",
    ),
    MessageRule(
        r"could not lock config file (?P<path>[^\n]*): File exists",
        Reason.LOCK_HELD,
        "another process holds {path}.lock, or left it behind",
    ),
    MessageRule(r"cannot lock references", Reason.LOCK_HELD, "another process holds the lock of the references"),
    MessageRule(
        r"cannot lock ref '(?P<name>[^'\n]{1,1024})': "
        r"(?:is at \S+ but expected|reference already exists)",
        Reason.LOCK_HELD,
        "another process changed {name} at the same time: try again",
    ),
    # Who the other end is, before whether it lets us in.
    MessageRule(
        r"^Host key for (?P<host>\S{1,256}) has changed and you have requested",
        Reason.HOST_KEY,
        "the host key of {host} is not the one in known_hosts: ask its keeper before you replace it",
    ),
    MessageRule(
        r"^No \S{1,64} host key is known for (?P<host>\S{1,256}) and you have requested",
        Reason.HOST_KEY,
        "unknown host key of {host}: log in once with ssh, or add it to known_hosts",
    ),
    MessageRule(
        r"Host key verification failed",
        Reason.HOST_KEY,
        "the host key is unknown or not the one in known_hosts: log in once with ssh, or add it",
    ),
    MessageRule(
        rf"{_HTTP}(?:certificate verification failed|SSL certificate|certificate subject name|SSL: no alternative)",
        Reason.HOST_KEY,
        "the certificate of {host} cannot be verified: {line}",
    ),
    MessageRule(
        rf"{_HTTP}SSL CA cert",
        Reason.HOST_KEY,
        "the certificate of {host} cannot be verified: the file of trusted ones cannot be read",
    ),
    # Keys and passwords.
    MessageRule(
        r"incorrect passphrase supplied to decrypt|Enter passphrase for",
        Reason.PASSPHRASE,
        f"needs a passphrase, and {_NOTHING_ASKED}: add the key to the agent with ssh-add",
    ),
    MessageRule(
        r"Load key \"(?P<path>[^\"\n]*)\": (?P<why>[^\n]*)",
        Reason.AUTHENTICATION,
        "ssh cannot use the key {path}: {why}",
    ),
    MessageRule(
        r"signing failed|agent refused operation",
        Reason.AUTHENTICATION,
        "the ssh agent would not sign: unlock it, or confirm the use of the key",
    ),
    MessageRule(
        r"^(?P<who>\S{1,256}): Permission denied \((?P<ways>[^)\n]{0,64}publickey[^)\n]*)\)",
        Reason.AUTHENTICATION,
        f"{{who}} took no key ({{ways}}): if yours needs a passphrase, add it to the agent with ssh-add,"
        f" for {_NOTHING_ASKED}",
    ),
    MessageRule(
        r"^(?P<who>\S{1,256}): Permission denied \((?P<ways>[^)\n]{1,128})\)",
        Reason.PASSWORD,
        f"{{who}} needs a password ({{ways}}), and {_NOTHING_ASKED}: use a key",
    ),
    MessageRule(
        r"^Received disconnect from (?P<host>\S{1,256}) port \d+:\d+: Too many authentication failures",
        Reason.AUTHENTICATION,
        "{host} took none of the keys that were tried, and ended before the others: name one with IdentityFile",
    ),
    MessageRule(
        rf"could not read (?P<what>Username|Password) for {_URL_HOST}",
        Reason.PASSWORD,
        f"{{host}} needs a password, and {_NOTHING_ASKED}: set up a credential helper",
    ),
    MessageRule(
        rf"Authentication failed for {_URL_HOST}",
        Reason.AUTHENTICATION,
        "{host} refused the name or password that it was given",
    ),
    MessageRule(
        rf"{_HTTP}(?:error: |response )407", Reason.AUTHENTICATION, "the proxy on the way to {host} needs a password"
    ),
    MessageRule(
        rf"{_HTTP}error: (?P<code>401|403)",
        Reason.AUTHENTICATION,
        "{host} does not allow it (HTTP {code}): the account may not have the right",
    ),
    # What the other end says.
    MessageRule(
        rf"{_HTTP}error: (?P<code>429|502|503|504)",
        Reason.SERVER_REFUSED,
        "{host} lets nobody in for now (HTTP {code})",
    ),
    MessageRule(
        r"kex_exchange_identification: (?:read: )?Connection (?:closed|reset)[^\n]*\n"
        r"(?:[^\n]*(?:by|to) (?P<host>\S{1,256}) port)?",
        Reason.SERVER_REFUSED,
        "{host} closed the connection before it began: too many connections, or it lets nobody in for now",
    ),
    MessageRule(r"Exceeded MaxStartups", Reason.SERVER_REFUSED, "the server has too many connections"),
    MessageRule(rf"{_HTTP}error: (?P<code>404|410)", Reason.NOT_FOUND, "{host} has no such repository (HTTP {code})"),
    MessageRule(
        r"repository '(?P<url>[^'\n]*)' not found|[Rr]epository not found",
        Reason.NOT_FOUND,
        "no such repository there, or the account may not see it",
    ),
    MessageRule(
        r"(?:access denied or repository not exported|remote error: (?:no such repository|repository not exported)): "
        r"(?P<path>[^\n]*)",
        Reason.NOT_FOUND,
        "no such repository there, or the server does not export it: {path}",
    ),
    MessageRule(
        r"'(?P<path>[^\n]*)' does not appear to be a git repository", Reason.NOT_FOUND, "no repository there: {path}"
    ),
    MessageRule(r"couldn't find remote ref (?P<name>[^\n]*)", Reason.NOT_FOUND, "the remote has no {name}"),
    MessageRule(
        r"upload-pack: not our ref (?P<name>\S+)", Reason.NOT_FOUND, "the remote does not have {name} any more"
    ),
    MessageRule(
        r"(?P<program>[^\s:]{0,256}git-upload-pack): (?:No such file or directory|(?:command )?not found)"
        r"|command not found: git-upload-pack",
        Reason.NOT_FOUND,
        "there is no git-upload-pack on the remote host",
    ),
    MessageRule(
        r"transport '(?P<name>[^'\n]*)' not allowed",
        Reason.REFUSED,
        "refused: the protocol {name} is not among those that are allowed",
        Outcome.REFUSED,
    ),
    MessageRule(
        r"Protocol \"(?P<name>[^\"\n]*)\" (?:not supported or )?disabled",
        Reason.REFUSED,
        "refused: the server leads to the protocol {name}, which is not among those that are allowed",
        Outcome.REFUSED,
    ),
    # The way there.
    MessageRule(
        r"(?:[Cc]ould not resolve host(?:name)?|unable to look up):? (?P<host>[^\s:]+)",
        Reason.NETWORK,
        "there is no host {host}, or names cannot be looked up",
    ),
    MessageRule(
        r"Failed to connect to (?P<host>\S{1,256}) port (?P<port>\d+)",
        Reason.NETWORK,
        "{host} port {port} cannot be reached: {line}",
    ),
    MessageRule(
        r"connect to host (?P<host>\S{1,256}) port (?P<port>\d+): (?P<why>[^\n]*)",
        Reason.NETWORK,
        "{host} port {port} cannot be reached: {why}",
    ),
    MessageRule(r"unable to connect to (?P<host>\S+?):?\n[^\n]*errno=(?P<why>[^\n]*)", Reason.NETWORK, "{host}: {why}"),
    MessageRule(
        r"Connection to (?P<host>\S{1,256}) port (?P<port>\d+) timed out",
        Reason.NETWORK,
        "{host} port {port} does not answer",
    ),
    MessageRule(r"Operation too slow|[Oo]peration timed out|Connection timed out", Reason.NETWORK, "too slow: {line}"),
    MessageRule(
        r"Connection (?:reset|closed)|[Bb]roken pipe|Empty reply from server|unexpected disconnect|early EOF"
        r"|hung up unexpectedly|RPC failed|Network is unreachable|No route to host"
        r"|expected flush after (?:capabilities|ref listing)",
        Reason.NETWORK,
        "the connection broke: {line}",
    ),
    MessageRule(rf"{_HTTP}(?:handshake|TLS|SSL)", Reason.NETWORK, "no secure connection to {host}: {line}"),
    # Objects.
    MessageRule(
        r"possible repository corruption on the remote side|did not send all necessary objects",
        Reason.CORRUPT,
        "the repository on the other side is damaged: {line}",
    ),
    MessageRule(
        r"^error: unable to normalize alternate object path: (?P<path>[^\n]{1,4096})",
        Reason.CORRUPT,
        "a lender is missing: {path}",
    ),
    MessageRule(
        r"inflate: data stream|inflate returned|does not match index|invalid sha1 pointer"
        r"|sha1 mismatch|hash mismatch|SHA1 COLLISION|is corrupt|likely corrupt|incorrect checksum|checksum mismatch"
        r"|improper chunk|failed to parse|is too small|pack is corrupted|pack has bad object|packed object|loose object"
        r"|bad object|bad tree object|bad packed object|unable to unpack|object file [^\n]{1,512} is empty"
        r"|unable to read [0-9a-f]{40}|^(?:[a-z]{1,16}: )?missing (?:blob|tree|commit|tag)|broken link"
        r"|Could not read [0-9a-f]{40}"
        r"|unresolved deltas|final sha1 did not match|size_t overflow|pack signature mismatch|reference broken",
        Reason.CORRUPT,
        "objects or their indexes are damaged: {line}",
    ),
    # References.
    MessageRule(
        r"^ ! \[(?:remote )?rejected\] {1,64}(?P<name>\S{1,1024}) {1,64}-> \S{1,1024} {1,64}\((?P<why>[^)\n]{1,256})\)",
        Reason.REJECTED,
        "{name} was not updated: {why}",
    ),
    MessageRule(
        r"refusing to fetch into branch '(?P<name>[^'\n]*)' checked out at '(?P<path>[^\n]*)'",
        Reason.REJECTED,
        "{name} is checked out at {path}, and so was not updated",
    ),
    MessageRule(
        r"cannot lock ref '(?P<name>[^'\n]{1,1024})': '(?P<other>[^'\n]*)' exists",
        Reason.REJECTED,
        "{name} cannot be there beside {other}: prune what the remote does not have any more",
    ),
    MessageRule(
        r"some local refs could not be updated|unable to update local ref",
        Reason.REJECTED,
        "some references could not be updated: {line}",
    ),
    # Rights, and the repository itself.
    MessageRule(
        r"dubious ownership in repository at '(?P<path>[^\n]*)'",
        Reason.PERMISSION,
        "another user owns {path}, and git reads it only if safe.directory names it",
    ),
    MessageRule(
        r"insufficient permission|Permission denied|Operation not permitted",
        Reason.PERMISSION,
        "permission denied: {line}",
    ),
    MessageRule(
        r"not a git repository:? ?(?P<path>[^\n]*)|cannot change to '(?P<folder>[^\n]*)': No such file",
        Reason.VANISHED,
        "the repository is not there any more, or cannot be entered",
    ),
    MessageRule(
        r"\A(?:fatal: )?Could not read from remote repository",
        Reason.NETWORK,
        "the other side closed the connection without an answer",
    ),
    MessageRule(
        r"remote helper '(?P<name>[^'\n]*)' aborted session"
        r"|cannot (?:run|exec) '?(?P<program>[^\n':]*)'?: No such file",
        Reason.OTHER,
        "a program that git needs does not run: {line}",
    ),
    MessageRule(
        r"Bad configuration option|terminating, \d+ bad configuration options",
        Reason.OTHER,
        "the configuration of ssh is wrong: {line}",
    ),
    MessageRule(
        r"unknown repository extensions? found:\s{1,4}(?P<name>\S{1,256})",
        Reason.OTHER,
        "this git does not know the extension {name} that the repository uses",
    ),
    MessageRule(
        r"^fatal: remote error: (?P<why>[^\n]{1,1024})",
        Reason.SERVER_REFUSED,
        "the server answers with an error: {why}",
    ),
    MessageRule(
        r"bad line length character|protocol error", Reason.OTHER, "what answers there is no git server: {line}"
    ),
)
