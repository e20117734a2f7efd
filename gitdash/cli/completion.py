"""Completion scripts: click's, for both names of the program and for `git dash`; and the names of columns.

Source: the scripts that click makes, git's own bash completion, which calls `_git_dash` with `words`, `cword` and maybe
`__git_cmd_idx` set, and fish's completion of `git`, to which other files may add.
"""

from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

_PROGRAM: Final = "gitdash"
_VARIABLE: Final = "_GITDASH_COMPLETE"

_BASH: Final = r"""
complete -o nosort -F _gitdash_completion git-dash

_git_dash() {
    local first=${__git_cmd_idx:-1}
    local -a COMP_WORDS=(gitdash "${words[@]:first+1}")
    local COMP_CWORD=$((cword - first))
    COMPREPLY=()
    _gitdash_completion gitdash
}
"""
_FISH: Final = """
complete --no-files --command git-dash --arguments "(_gitdash_completion)";
"""


def completion_script(command: click.Command, shell: str) -> str:
    """Return the script for `bash`, `zsh` or `fish`."""
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise click.UsageError(f"no completion for '{shell}'")
    source = completion_class(command, {}, _PROGRAM, _VARIABLE).source().strip() + "\n"
    match shell:
        case "bash":
            return source + _BASH
        case "zsh":
            both = f"{_PROGRAM} git-dash"
            named = source.replace(f"#compdef {_PROGRAM}\n", f"#compdef {both}\n")
            return named.replace(f"compdef _gitdash_completion {_PROGRAM}", f"compdef _gitdash_completion {both}")
        case _:
            # A list of columns has commas in it.
            return source.replace('string split ","', 'string split --max 1 ","') + _FISH


def complete_column(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the columns that begin like what was typed."""
    from gitdash.export.columns import COLUMNS

    return [CompletionItem(column.key, help=column.help) for column in COLUMNS if column.key.startswith(incomplete)]


def complete_columns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the columns for the last place of a comma-separated list, with what stands before it."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [
        CompletionItem(f"{before}{comma}{item.value}", help=item.help)
        for item in complete_column(context, parameter, last)
        if item.value not in named
    ]
