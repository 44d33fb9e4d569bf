"""`python -m hardwood` and the command `hardwood`."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # exit code, as in `hardwood.cli.console`, which takes a while to load


def main() -> None:
    """Run the command line, or say what it needs."""
    # Libraries take a second to load, and not all of them pass on an exception that comes from outside meanwhile. There
    # is nothing to tidy up yet.
    told = signal.getsignal(signal.SIGINT)
    if told is not signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, _leave)
    try:
        from hardwood.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"hardwood: the command line needs the package {error.name}; run: pip install 'hardwood[cli]'")
    signal.signal(signal.SIGINT, told)
    try:
        app()
    except KeyboardInterrupt:
        _leave()


def _leave(_signal: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    sys.stderr.write("hardwood: interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
