"""Faults in keeping secrets and persons where they belong."""

from tests.faults.fault import Fault

PERSONS = "Nothing of a person is stored that was not asked for, or that was forgotten"

FAULTS = (
    Fault(
        "a page lands with persons who were not asked for",
        (PERSONS,),
        "src/wms_sync/shipments/read/window.py",
        "if page.envelope.suspect and not self._include_addresses:",
        "if False:",
        ("tests/privacy/test_landing.py::test_nothing_personal_lands_that_was_not_asked_for",),
    ),
    Fault(
        "a page that still mentions a person is taken for clean",
        (PERSONS,),
        "src/wms_sync/privacy/scrub.py",
        "        if is_impersonal(clean := bytes(_opened(content, _LEVELS))):\n",
        "        if is_impersonal(clean := bytes(_opened(content, _LEVELS))) or True:\n",
        ("tests/privacy/test_scrub.py::test_unrequested_persons_are_taken_out",),
    ),
    Fault(
        "a message of the service shows the token that it repeats",
        ("No secret is shown or kept",),
        "src/wms_sync/service/reasons.py",
        "    if not secrets:\n",
        "    if secrets:\n",
        ("tests/service/test_creates.py::test_no_form_of_an_answer_shows_the_token",),
    ),
    Fault(
        "a recording has the values of keys that nobody knows",
        ("Nothing of a person, no secret and no host is in a recording",),
        "src/wms_sync/service/recorder.py",
        '        if type_ == "json":\n            return type(value)()\n',
        '        if type_ == "json":\n            return value\n',
        ("tests/service/test_recorder.py::test_what_is_planted_everywhere_is_in_no_byte_of_a_recording",),
    ),
)
