"""Error answers of the Global API (specification 7.1).

    {"errors": [{"type": "parameters", "message": "...", "details": [{"key": "limit", "message": "..."}]}]}

No other properties are present. The bodies of 401 and 404 are not fixed by the specification: a small one is given.
"""

from starlette.responses import JSONResponse


class ParameterError(Exception):
    """A query parameter that the service refuses. `key` is the path to the offending key."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.message = message


def bad_parameters(*offences: ParameterError) -> JSONResponse:
    """400, with the offending keys."""
    details = [{"key": offence.key, "message": offence.message} for offence in offences]
    error = {"type": "parameters", "message": "The supplied parameters are invalid.", "details": details}
    return JSONResponse({"errors": [error]}, status_code=400)


def unauthorized() -> JSONResponse:
    """401."""
    return JSONResponse({"message": "Unauthorized"}, status_code=401, headers={"WWW-Authenticate": "Bearer"})


def not_found() -> JSONResponse:
    """404."""
    return JSONResponse({"message": "Not Found"}, status_code=404)


def method_not_allowed(allowed: str) -> JSONResponse:
    """405."""
    return JSONResponse({"message": "Method Not Allowed"}, status_code=405, headers={"Allow": allowed})
