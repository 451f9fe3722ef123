"""`python -m wms_sandbox`: serve the sandbox until it is stopped."""

import argparse
from contextlib import suppress
from pathlib import Path

from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.replay import Replay
from wms_sandbox.server import HOST, listen, make_server

PROGRAM = "python -m wms_sandbox"


def main(arguments: list[str] | None = None) -> None:
    """Serve until the process is told to stop."""
    parser = _parser()
    options = parser.parse_args(arguments)
    replay: Replay | None = None
    try:
        replay = None if options.replay is None else Replay(options.replay)
        config = SandboxConfig(
            options.shipments,
            options.seed,
            options.token,
            options.days,
            odd_values=options.odd_values,
            unasked_telephones=options.unasked_telephones,
        )
        listener = listen(options.port)
    except (OSError, OverflowError, ValueError) as error:
        what = options.replay or f"{options.shipments} shipments"
        parser.exit(2, f"{options.called}: cannot serve {what} on port {options.port}: {error}\n")
    with suppress(KeyboardInterrupt):
        server = make_server(replay or Sandbox(config))
        print(f"sandbox: http://{HOST}:{listener.getsockname()[1]} token {config.token}", flush=True)  # noqa: T201 - the line that callers wait for
        if replay is not None:
            settings = " ".join(f"{name}={value}" for name, value in replay.settings.items())
            print(f"recorded with: {settings}", flush=True)  # noqa: T201 - for whoever replays it
        server.run(sockets=[listener])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    parser.add_argument("--called", default=PROGRAM, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=8808, help="0 picks a free one")
    parser.add_argument("--shipments", type=int, default=SandboxConfig.shipments)
    parser.add_argument("--seed", type=int, default=SandboxConfig.seed)
    parser.add_argument("--token", default=SandboxConfig.token)
    parser.add_argument("--days", type=int, default=SandboxConfig.days, help="span of the data before now")
    parser.add_argument("--odd-values", action="store_true", help="difficult data in place of a plausible business")
    parser.add_argument("--replay", type=Path, help="serve this recording instead of made-up shipments")
    parser.add_argument("--unasked-telephones", action="store_true", help="one in each address, not selected")
    return parser


if __name__ == "__main__":
    main()
