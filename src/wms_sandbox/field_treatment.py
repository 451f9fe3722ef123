"""Ways in which a service may treat field selection differently from the specification (4.4 leaves its names open)."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import JSONResponse

from wms_sandbox.errors import ParameterError, bad_parameters

Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FieldTreatment:
    """A treatment that tests set on a sandbox.

    `refused` are parameters that are answered with 400. With `ignored` all field selection parameters are ignored; with
    `drops_included` pages come without `included`.
    """

    refused: frozenset[str] = frozenset()
    ignored: bool = False
    drops_included: bool = False

    def refusal(self, parameters: Parameters) -> JSONResponse | None:
        """Return the 400 for the first refused parameter; None if there is none."""
        for name, _ in parameters:
            if name in self.refused:
                return bad_parameters(ParameterError(name, f"Unknown parameter {name}."))
        return None

    def heard(self, parameters: Parameters) -> Parameters:
        """Return the parameters that the service does not ignore."""
        return (
            [parameter for parameter in parameters if parameter[0].split(":")[0] != "fields"]
            if self.ignored
            else parameters
        )
