"""The command `poise`: words in, an exit code out.

Exit codes: 0 done; 1 the motion failed a check, or fell where it should not; 2 bad input or usage. Beside that
contract: 70 a fault in Poise itself (never 1, which scripts read as a verdict on the motion), 130 interrupted, 141 the
reader of a pipe went away.

The overview and the version are printed before the parser is imported: that keeps `poise --help` a third as long.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from poise.errors import PoiseError

DONE, FAILED, BAD_INPUT, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. argv: the words after `poise`; those of the process if None."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    _survive_any_encoding()
    try:
        code = _run([word for word in words if word != "--debug"])
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return PIPE_CLOSED
    except PoiseError as error:
        return _fail(str(error), error.exit_code, debug)
    except OSError as error:
        return _fail(_describe(error), BAD_INPUT, debug)
    except Exception as error:
        hint = "" if debug else " Run it again with --debug for the traceback, and please report it."
        return _fail(f"a fault in Poise, not in your input: {type(error).__name__}: {error}.{hint}", FAULT, debug)


def _run(words: list[str]) -> int:
    from poise.cli.commands import overview

    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return DONE
    if words[0] == "--version":
        from poise import __version__

        print(__version__)
        return DONE
    from poise.cli.app import run
    from poise.cli.compiling import tell_compiling

    with tell_compiling(quiet="--quiet" in words):
        return run(words)


def _fail(sentence: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    print(f"poise: {' '.join(sentence.split())}", file=sys.stderr)
    return code


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def _survive_any_encoding() -> None:
    """A joint called 左足 is printed escaped, not refused, where the terminal's encoding lacks it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush stays quiet too."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output has no descriptor of its own, as under a test
        sys.stdout = sys.__stdout__ if sys.__stdout__ is not None else sys.stdout
