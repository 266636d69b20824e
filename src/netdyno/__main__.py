"""Where the command starts: it hears signals before anything slow is imported."""

from netdyno.signals import leave_when_signalled, stop


def main() -> None:
    leave_when_signalled()
    from netdyno.cli.main import main as run

    try:
        run()
    except KeyboardInterrupt:  # after the command itself, which handles its own
        stop()


if __name__ == "__main__":
    main()
