"""Entry point of `python -m hardwood` and of the command `hardwood`."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # exit code, as in `hardwood.cli.console`, which is slow to import


def main() -> None:
    """Run the command line; if one of its packages is missing, print how to install it."""
    # Libraries take a second to load, and some of them swallow a KeyboardInterrupt meanwhile. Nothing needs to be
    # cleaned up yet, so Ctrl-C ends the process at once.
    handler = signal.getsignal(signal.SIGINT)
    if handler is not signal.SIG_IGN:  # a shell ignores the signal for commands in the background
        signal.signal(signal.SIGINT, _exit)
    try:
        from hardwood.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"hardwood: the command line needs the package {error.name}; run: pip install 'hardwood[cli]'")
    signal.signal(signal.SIGINT, handler)
    try:
        app()
    except KeyboardInterrupt:
        _exit()


def _exit(_signal: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    sys.stderr.write("hardwood: interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
