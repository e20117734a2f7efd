import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitdash.gitcmd.masking import MASK, mask_credentials, presentable, presentable_bytes
from tests.support.speed import cpu_s

CANARY = "s3cr3tCANARY"

LEAKS = [
    f"https://user:{CANARY}@host/x.git",
    f"https://{CANARY}@host/x.git",
    f"https://user:{CANARY}@host:8443/x.git",
    f"https://user:pa/{CANARY}@host/x.git",
    f"https://user:pa@{CANARY}@host/x.git",
    f"https://:{CANARY}@host/x",
    f"ssh://user:{CANARY}@host:22/x",
    f"ext+foo://u:{CANARY}@h",
    f"user:{CANARY}@host:path/x.git",
    f"fatal: unable to access 'https://u:{CANARY}@h/': no",
    f"https://host/x?private_token={CANARY}",
    f"https://host/x?a=1&token={CANARY}&b=2",
    f"https://host/x?{CANARY}",
    f"https://host/x#access_token={CANARY}",
    f"https://host/x?X-Amz-Signature={CANARY}",
    f"Authorization: Basic {CANARY}",
    f"authorization: Bearer {CANARY}",
    f"> PRIVATE-TOKEN: {CANARY}",
    f"-c http.extraHeader=PRIVATE-TOKEN: {CANARY}",
    f"http.https://h/.extraheader=Authorization: Basic {CANARY}",
    f"Job-Token:{CANARY}",
    f"X-Api-Key: {CANARY}",
    f"Set-Cookie: session={CANARY}",
    f"Proxy-Authorization: Digest {CANARY}",
    f"password={CANARY}",
    f"GITLAB_TOKEN={CANARY}",
    f"client_secret = {CANARY}",
    f"header Bearer {CANARY}",
    f"gho_{CANARY}",
    f"ghp_{CANARY}",
    f"ghs_{CANARY}",
    f"github_pat_11ABC_{CANARY}",
    f"glpat-{CANARY}",
    f"npm_{CANARY}",
    f"remote: your token glpat-{CANARY} expires",
    f"https://oauth2:glpat-{CANARY}@gitlab.example/x.git",
    f"two https://a:{CANARY}@h/1 and https://b:{CANARY}@h/2",
    f"/srv/git/objects/https:/bob:{CANARY}@host/x.git",
    f"/srv/git/objects/https:/{CANARY}@host/x.git",
    f"/srv/git/objects/https:/host/x?private_token={CANARY}",
    f"/srv/git/objects/bob:{CANARY}@host:x.git",
    f"refs/heads/https://bob:{CANARY}@host/x",
    f"curl -u bob:{CANARY} https://host/",
    f"curl -ubob:{CANARY} https://host/",
    f"curl --user 'bob:{CANARY}' https://host/",
    f"curl --proxy-user=bob:{CANARY} https://host/",
    f"glab --private-token {CANARY} fetch",
    f"sshpass -p {CANARY} ssh",
    f"SMTP_PASS={CANARY} program",
]

PLAIN = [
    "",
    "fatal: not a git repository: '/srv/git/x.git'",
    "https://host:8443/group/project.git",
    "https://host:8443/group/project@v2",
    "ssh://git@github.com/owner/name.git",
    "git@github.com:owner/name.git",
    "error: refs/heads/token does not point to a valid object!",
    "warning: unable to find all commit-graph files",
    "rev-list --objects --disk-usage --stdin",
    "commit ghost_writer",
    "refs/heads/npm_modules-of-everyone",
    "/srv/git/hf_transformers-fork.git: not a folder",
    "bypass = true",
    "git push -u origin main",
]


@pytest.mark.parametrize("text", LEAKS)
def test_no_form_of_a_credential_survives(text: str) -> None:
    masked = mask_credentials(text)
    assert CANARY not in masked
    assert MASK in masked


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_a_credential_is_returned_as_it_is(text: str) -> None:
    assert mask_credentials(text) == text


def test_what_is_no_secret_in_a_url_stays_readable() -> None:
    assert mask_credentials(f"https://u:{CANARY}@host/x.git?a={CANARY}#f") == "https://***@host/x.git?a=***#f"


def test_text_to_be_shown_is_masked_before_it_is_made_visible() -> None:
    assert presentable(f"a\x1b https://u:{CANARY}@h/") == "a\\x1b https://***@h/"
    assert presentable_bytes(b"\xff https://u:" + CANARY.encode() + b"@h/") == "\\xff https://***@h/"


@pytest.mark.parametrize("text", LEAKS)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask_credentials(text)
    assert mask_credentials(once) == once


@given(before=st.text(max_size=60), after=st.text(max_size=60), leak=st.sampled_from(LEAKS))
@settings(max_examples=150, deadline=None, database=None)
def test_a_credential_on_a_line_of_its_own_is_masked_whatever_stands_around(before: str, after: str, leak: str) -> None:
    assert CANARY not in mask_credentials(f"{before}\n{leak}\n{after}")


@pytest.mark.parametrize(
    "piece",
    [
        *("://", "://a:b", "a:", "token", "token:", "a-", "x://a?", "=", "?", "-eyJa", "basic ", "://?=", "ghp_"),
        *("@:", "-u", "-u a:", "--token", "--token ", "abc:/", "abc:/a:", "sshpass -p", "pass", "pass="),
    ],
)
def test_masking_takes_time_in_proportion_to_the_text(piece: str) -> None:
    few, many = (piece * (size_bytes // len(piece)) for size_bytes in (8 * 1024, 64 * 1024))
    # in proportion it is 8 times as long, in proportion to the square 64 times
    assert cpu_s(lambda: mask_credentials(many), runs=1) < 24 * cpu_s(lambda: mask_credentials(few)) + 0.02
