"""``pymluops completion``: a script for a shell that completes subcommands, options and choices.

The scripts are made of the parser, so that they know what this version knows. What is no word of
the parser is completed as a file.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["register", "run"]

_DESCRIPTION = """\
Print a script that completes the words of pymluops in a shell. bash: eval "$(pymluops completion bash)" in ~/.bashrc.
zsh: pymluops completion zsh > FOLDER/_pymluops, a folder of $fpath. fish: pymluops completion fish >
~/.config/fish/completions/pymluops.fish.
"""


@dataclass(frozen=True)
class _Option:
    """An option, the words that may follow it, and what it is for."""

    names: tuple[str, ...]
    takes_value: bool
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class _Place:
    """A point of the command line: the words of the program and of its subcommands so far."""

    path: str
    commands: dict[str, str]
    options: tuple[_Option, ...]
    choices: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """All words that may follow."""
        return [*self.commands, *self.choices, *(name for option in self.options for name in option.names)]


def register(subparsers: Any) -> None:
    """Add the ``completion`` subcommand."""
    text = "print a script that completes words in a shell"
    parser = subparsers.add_parser("completion", help=text, description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("shell", choices=list(_SCRIPTS), metavar="SHELL", help=", ".join(_SCRIPTS))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from pymluops.cli import build_parser

    print(_SCRIPTS[args.shell](list(_places(build_parser()))))
    return 0


# ---- The parser ----------------------------------------------------------------------------------


def _places(parser: argparse.ArgumentParser) -> Iterator[_Place]:
    """Yield the places of a parser and of its subparsers."""
    actions: list[argparse.Action] = parser._actions  # pyright: ignore[reportPrivateUsage]
    options: list[_Option] = []
    commands: dict[str, str] = {}
    choices: tuple[str, ...] = ()
    below: list[argparse.ArgumentParser] = []
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            named: dict[str, argparse.ArgumentParser] = dict(action.choices)  # pyright: ignore
            below += named.values()
            helps = {one.dest: one.help or "" for one in action._choices_actions}  # pyright: ignore
            commands = {name: str(helps.get(name, "")) for name in named}
        elif action.option_strings:
            takes = action.nargs != 0
            words = tuple(map(str, action.choices or ()))
            options.append(_Option(tuple(action.option_strings), takes, words, _help(action)))
        else:
            choices += tuple(map(str, action.choices or ()))
    yield _Place(parser.prog, commands, tuple(options), choices)
    for parser_below in below:
        yield from _places(parser_below)


def _help(action: argparse.Action) -> str:
    text = " ".join((action.help or "").split())
    return text.replace("%%", "%") if "%(" not in text else ""


# ---- Shells --------------------------------------------------------------------------------------


def _quoted(words: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, words))


def _either(words: Iterable[str]) -> str:
    return "|".join(map(shlex.quote, words))


def _cases(places: list[_Place], found: str) -> Iterator[str]:
    """Yield the lines of a case statement on where and behind which word the cursor is; `found` takes the words."""
    for place in places:
        for option in place.options:
            if option.takes_value:
                ways = _either(f"{place.path} {name}" for name in option.names)
                yield f"    {ways}) {found.format(_quoted(option.choices)) if option.choices else 'return'} ;;"
    for place in places:
        yield f"    {shlex.quote(place.path)}' '*) {found.format(_quoted(place.words))} ;;"


def _paths(places: list[_Place]) -> list[str]:
    return [f"{place.path} {name}" for place in places for name in place.commands]


def _bash(places: list[_Place]) -> str:
    # Longer paths first: the pattern of a shorter one matches their words too.
    ordered = sorted(places, key=lambda place: -len(place.path.split()))
    cases = "\n".join(_cases(ordered, "words=({})"))
    return f"""# Completion of pymluops for bash.
_pymluops() {{
  local place=pymluops words=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place ${{COMP_WORDS[i]}}" in
    {_either(_paths(places))}) place+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$place ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{cases}
  esac
  mapfile -t COMPREPLY < <(compgen -W "${{words[*]}}" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o bashdefault -o default -F _pymluops pymluops"""


def _zsh(places: list[_Place]) -> str:
    ordered = sorted(places, key=lambda place: -len(place.path.split()))
    cases = "\n".join(_cases(ordered, "found=({})")).replace(") return ;;", ") _files; return ;;")
    return f"""#compdef pymluops
# Completion of pymluops for zsh.
_pymluops() {{
  local place=pymluops i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$place ${{words[i]}}" in
    {_either(_paths(places))}) place+=" ${{words[i]}}" ;;
    esac
  done
  case "$place ${{words[CURRENT - 1]}}" in
{cases}
  esac
  compadd -- $found
  [[ ${{words[CURRENT]}} == -* ]] || _files
}}
if [[ $funcstack[1] == _pymluops ]]; then _pymluops "$@"; else compdef _pymluops pymluops; fi"""


def _fish(places: list[_Place]) -> str:
    lines = [
        "# Completion of pymluops for fish.",
        "function __pymluops_place",
        "  set -l place pymluops",
        "  for word in (commandline -opc)[2..]",
        f'    contains -- "$place $word" {_quoted(_paths(places))}; and set place "$place $word"',
        "  end",
        "  echo $place",
        "end",
    ]
    for place in places:
        start = f"complete -c pymluops -n {shlex.quote(f'test (__pymluops_place) = {shlex.quote(place.path)}')}"
        lines += [f"{start} -f -a {name} -d {_fish_text(text)}" for name, text in place.commands.items()]
        if place.choices:
            lines.append(f"{start} -f -a {shlex.quote(' '.join(place.choices))}")
        for option in place.options:
            names = " ".join(f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.names)
            value = " -r" if option.takes_value else ""
            value += f" -f -a {shlex.quote(' '.join(option.choices))}" if option.choices else ""
            lines.append(f"{start} {names}{value} -d {_fish_text(option.help)}")
    return "\n".join(lines)


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
