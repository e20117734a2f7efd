import pytest

from gitdash.maintenance.fetching.ssh_command import ssh_environment

QUIET = "-oPasswordAuthentication=no"


@pytest.mark.parametrize(
    ("inherited", "core_ssh_command", "begins"),
    [
        ({}, None, "ssh "),
        ({}, "ssh -i ~/.ssh/work", "ssh -i ~/.ssh/work "),
        ({"GIT_SSH_COMMAND": "/opt/bin/ssh -4"}, "ssh -i no", "/opt/bin/ssh -4 "),
        ({"GIT_SSH_COMMAND": "LANG=C ssh"}, None, "LANG=C ssh "),
        ({"GIT_SSH": "/opt/my tools/ssh"}, None, "'/opt/my tools/ssh' "),
        ({"GIT_SSH": "/no"}, "ssh -6", "ssh -6 "),
        ({"GIT_SSH_COMMAND": "wrapper", "GIT_SSH_VARIANT": "ssh"}, None, "wrapper "),
    ],
)
def test_ssh_of_the_user_is_told_to_ask_for_no_password(
    inherited: dict[str, str], core_ssh_command: str | None, begins: str
) -> None:
    command = ssh_environment(inherited, core_ssh_command, None)["GIT_SSH_COMMAND"]
    assert command.startswith(begins)
    assert QUIET in command
    assert "StrictHostKeyChecking" not in command


@pytest.mark.parametrize(
    "own", ["plink -batch", "tsh ssh", "my-wrapper", "ssh -i a && true", "ssh $(cat opts)", "ssh 'unclosed", "ssh x #"]
)
def test_command_that_may_not_understand_the_options_is_left_as_it_is(own: str) -> None:
    assert ssh_environment({"GIT_SSH_COMMAND": own}, None, None) == {"GIT_SSH_COMMAND": own}


def test_variant_of_the_user_is_passed_on() -> None:
    assert ssh_environment({}, "plink", "plink") == {"GIT_SSH_COMMAND": "plink", "GIT_SSH_VARIANT": "plink"}
