"""Error codes of the Merchant API (specification 7.3) and of JSON-RPC 2.0."""


class RpcError(Exception):
    """An answer `{code, message}`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def parse_error(reason: str) -> RpcError:
    """Return the error for a body that is not JSON."""
    return RpcError(-32700, f"Parse error. {reason}")


def invalid_request(reason: str) -> RpcError:
    """Return the error for JSON that is not a request."""
    return RpcError(-32600, f"Invalid Request. {reason}")


def unknown_method(name: str) -> RpcError:
    """Return the error for an unknown method, or an unknown inner method of `call`."""
    return RpcError(-32601, f"Method not found: {name}.")


def invalid_params(reason: str) -> RpcError:
    """Return the error for parameters that the method does not accept."""
    return RpcError(-32602, f"Invalid params. {reason}")


def access_denied() -> RpcError:
    """Return the error for wrong credentials."""
    return RpcError(2, "Access denied.")


def parameter_missing() -> RpcError:
    """Return the error for a login without a username or key."""
    return RpcError(6, "Required parameter is missing.")


def session_expired() -> RpcError:
    """Return the error for an expired session, or one that never existed."""
    return RpcError(-32005, "Session expired. Try to relogin.")


def not_found(what: str) -> RpcError:
    """Return the error for an `info` method without its object. The specification does not show the code."""
    return RpcError(101, f"{what} does not exist.")


def invalid_filters(reason: str) -> RpcError:
    """Return the error for the filters of a search. The code is the vendor's (service-facts, "JSON-RPC")."""
    return RpcError(108, f"Invalid filters given. {reason}")
