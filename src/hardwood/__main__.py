"""`python -m hardwood` and the command `hardwood`."""

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from hardwood.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"hardwood: the command line needs the package {error.name}; run: pip install 'hardwood[cli]'")
    app()


if __name__ == "__main__":
    main()
