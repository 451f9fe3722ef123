"""How a service may treat field selection otherwise than the specification says (4.4 leaves its names open)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from starlette.responses import JSONResponse

from wms_sandbox.errors import ParameterError, bad_parameters, bad_request

Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FieldTreatment:
    """Tests set one on a sandbox.

    `refused` are parameters (`fields:order.brand`) and values (`fields:order=carrier`) that are answered with 400,
    which tells the offending one by its `key`, in its `message` or not at all. With `ignored` every parameter of field
    selection is passed over; with `drops_included` pages come without `included`.
    """

    refused: frozenset[str] = frozenset()
    told: Literal["key", "message", "nothing"] = "key"
    ignored: bool = False
    drops_included: bool = False

    def refusal(self, parameters: Parameters) -> JSONResponse | None:
        """The 400 for the first parameter that is refused."""
        for name, text in parameters:
            if name in self.refused:
                return self._told(name, f"Unknown parameter {name}.")
            for value in text.split(",") if name.split(":")[0] == "fields" else ():
                if f"{name}={value}" in self.refused:
                    return self._told(name, f"Unknown value '{value}' of {name}.")
        return None

    def _told(self, name: str, reason: str) -> JSONResponse:
        if self.told == "key":
            return bad_parameters(ParameterError(name, reason))
        return bad_request(reason if self.told == "message" else "The supplied parameters are invalid.")

    def heard(self, parameters: Parameters) -> Parameters:
        """The parameters that the service looks at."""
        return [one for one in parameters if one[0].split(":")[0] != "fields"] if self.ignored else parameters
