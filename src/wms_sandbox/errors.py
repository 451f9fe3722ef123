"""Error answers of the Global API (specification 7.1).

    {"errors": [{"type": "parameters", "message": "...", "details": [{"key": "limit", "message": "..."}]}]}

No other properties are present. The bodies of 401, 404 and 405 are not fixed by the specification: a small one is
given.
"""

from http import HTTPStatus

from starlette.responses import JSONResponse


class ParameterError(Exception):
    """A query parameter, or a key of a body, that the service refuses. `key` is the path to the offending key."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.message = message


def bad_parameters(*violations: ParameterError) -> JSONResponse:
    """Return 400 with the offending keys."""
    return _errors(400, "parameters", "The supplied parameters are invalid.", violations)


def bad_json(reason: str) -> JSONResponse:
    """Return 400 for a body that is not JSON."""
    return _errors(400, "parser", reason, ())


def unable_to_process(*violations: ParameterError) -> JSONResponse:
    """Return 422 with the keys that conflict with existing objects."""
    return _errors(422, "unable_to_process", "There was an error processing the request.", violations)


def failed(status: int, message: str = "Please try again later.", **headers: str) -> JSONResponse:
    """Return an error body of the service itself, which means that it did nothing; for tests.

    `Retry_After` is a header.
    """
    answer = _errors(status, "application", message, ())
    answer.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return answer


def _errors(status: int, kind: str, message: str, violations: tuple[ParameterError, ...]) -> JSONResponse:
    error: dict[str, object] = {"type": kind, "message": message}
    if violations:
        error["details"] = [{"key": violation.key, "message": violation.message} for violation in violations]
    return JSONResponse({"errors": [error]}, status_code=status)


def problem(status: int, **headers: str) -> JSONResponse:
    """Return 401, 404 or 405."""
    return JSONResponse({"message": HTTPStatus(status).phrase}, status_code=status, headers=headers)
