"""Functions that a table names with their last arguments; the first ones come when the table is played."""

from collections.abc import Callable


def deferred(does: Callable[..., object]) -> Callable[..., Callable[..., object]]:
    """``refused("limit")`` in a table is called with a response and a service, ``covered(-1)`` with an installation."""

    def named(*last: object, **options: object) -> Callable[..., object]:
        return lambda *first: does(*first, *last, **options)

    return named
