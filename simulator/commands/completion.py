"""`collsim completion`."""

from __future__ import annotations

import os
from typing import Final

import click
from click.shell_completion import (
    BashComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from simulator.commands.sections import VARIABLE

NAME: Final = "collsim"

# Bash takes "library:" and what follows for words of their own: what stands before the last colon is
# taken from what comes back. The words are told apart by click, from the line.
_BASH: Final = """\
%(complete_func)s() {
    local line="${COMP_LINE:0:COMP_POINT}" word type value before=""
    word="${line##*[[:space:]]}"
    [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && before="${word%%"${word##*:}"}"
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$before"}") ;;
        esac
    done < <(COMP_WORDS="$line" %(complete_var)s=bash_complete "$1" 2> /dev/null)
    [[ ${COMPREPLY[0]} == *[:/] ]] && compopt -o nospace
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Bash's script, with words that hold a colon."""

    source_template = _BASH

    def source(self) -> str:
        """The script; which bash will run it is not known here."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """Words of the line, and the one that is begun."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        return (words, "") if not words or line[-1:].isspace() else (words[:-1], words[-1])


add_completion_class(Bash)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the script by which a shell completes words.

    For this session of bash: eval "$(collsim completion bash)". The manual says where to keep it.
    """
    known = get_completion_class(shell)
    root = context.find_root().command
    if known is None:
        raise click.UsageError(f"click knows no {shell}")
    click.echo(known(root, {}, NAME, VARIABLE).source(), nl=False)
