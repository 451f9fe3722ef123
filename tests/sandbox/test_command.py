"""`python -m wms_sandbox`: what it cannot serve. That it serves is shown by `test_tutorial.py`."""

import pytest

from wms_sandbox.__main__ import main
from wms_sandbox.server import listen


@pytest.mark.parametrize(("wrong", "why"), [({}, "in use"), ({"--shipments": "-5"}, ">= 0")])
def test_what_it_cannot_serve_is_wrong_usage(wrong, why, capfd):
    with listen(0) as taken:
        options = {"--port": str(taken.getsockname()[1]), **wrong}
        with pytest.raises(SystemExit, match="2"):
            main([word for option in options.items() for word in option])
    assert why in capfd.readouterr().err
