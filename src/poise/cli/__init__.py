"""The command `poise`: words in, an exit code out.

Exit codes: 0 done; 1 the motion failed a check, or fell where it should not; 2 bad input or usage. Beside that
contract: 70 a fault in Poise itself (never 1, which scripts read as a verdict on the motion); 129, 130, 143 stopped by
a signal (hang-up, interrupt, terminate); 141 the reader of a pipe went away, after all the work was done.

The overview and the version are printed before the parser is imported: that keeps `poise --help` a third as long.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from poise.cli import streams
from poise.cli.stopping import Stopped, stop_on_signals
from poise.errors import PoiseError

DONE, FAILED, BAD_INPUT, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. argv: the words after `poise`; those of the process if None."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    streams.prepare()
    if argv is None and not debug:  # Python's warnings are for whoever debugs; Poise's own are sentences
        warnings.simplefilter("ignore")
    try:
        with stop_on_signals():
            code = _attempt([word for word in words if word != "--debug"], debug)
            return _leave(code)
    except Stopped as stopped:
        return stopped.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def _attempt(words: list[str], debug: bool) -> int:
    try:
        return _run(words)
    except BrokenPipeError as error:
        streams.give_up(error)
        return DONE
    except PoiseError as error:
        return _fail(str(error), error.exit_code, debug)
    except OSError as error:
        return _fail(_describe(error), BAD_INPUT, debug)
    except MemoryError:
        return _fail("there is not enough memory for this. Split the recording, or ask for less.", BAD_INPUT, debug)
    except Exception as error:
        hint = "" if debug else " Run it again with --debug for the traceback, and please report it."
        told = " ".join(str(error).split())
        return _fail(f"a fault in Poise, not in your input: {type(error).__name__}: {told}.{hint}", FAULT, debug)


def _leave(code: int) -> int:
    """The exit code, once standard output has taken what was told it. An error's own code stays."""
    trouble = streams.find_trouble()
    if trouble is None or code not in (DONE, FAILED):
        return code
    if isinstance(trouble, BrokenPipeError):
        return PIPE_CLOSED
    reason = trouble.strerror or str(trouble)
    streams.mutter(f"poise: standard output cannot be written: {reason}. The files that were asked for are whole.")
    return BAD_INPUT


def _run(words: list[str]) -> int:
    from poise.cli.commands import overview

    if not words or words[0] in ("-h", "--help"):
        streams.tell(overview())
        return DONE
    if words[0] == "--version":
        from poise import __version__

        streams.tell(__version__)
        return DONE
    from poise.cli.console import tell_compiling
    from poise.cli.parser import run

    with tell_compiling(quiet="--quiet" in words):
        return run(words)


def _fail(sentence: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        streams.mutter_lines(traceback.format_exc())
    streams.mutter(f"poise: {sentence}")
    return code


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."
