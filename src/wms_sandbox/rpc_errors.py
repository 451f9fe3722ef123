"""Error codes of the Merchant API (specification 7.3) and of JSON-RPC 2.0."""


class RpcError(Exception):
    """An answer `{code, message}`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def parse_error(reason: str) -> RpcError:
    """No JSON."""
    return RpcError(-32700, f"Parse error. {reason}")


def invalid_request(reason: str) -> RpcError:
    """JSON, but no request."""
    return RpcError(-32600, f"Invalid Request. {reason}")


def unknown_method(name: str) -> RpcError:
    """Neither a method nor, for `call`, an inner one."""
    return RpcError(-32601, f"Method not found: {name}.")


def invalid_params(reason: str) -> RpcError:
    """Not what the method takes."""
    return RpcError(-32602, f"Invalid params. {reason}")


def access_denied() -> RpcError:
    """Wrong credentials."""
    return RpcError(2, "Access denied.")


def parameter_missing() -> RpcError:
    """A login without a username or key."""
    return RpcError(6, "Required parameter is missing.")


def session_expired() -> RpcError:
    """Also for a session that never was."""
    return RpcError(-32005, "Session expired. Try to relogin.")


def not_found(what: str) -> RpcError:
    """The object of an `info` method. Its code is not shown in the specification."""
    return RpcError(101, f"{what} does not exist.")


def invalid_filters(reason: str) -> RpcError:
    """Filters of a search. The code is the vendor's (service-facts, "JSON-RPC")."""
    return RpcError(108, f"Invalid filters given. {reason}")
