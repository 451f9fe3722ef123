"""Faults in keeping secrets and persons where they belong."""

from tests.faults.fault import Fault

PERSONS = "Nothing of a person is stored that was not asked for, or that was forgotten"
SECRETS = "No secret is shown or kept"

FAULTS = (
    Fault(
        "a page lands with persons who were not asked for",
        (PERSONS,),
        "src/wms_sync/shipments/read/listing.py",
        "if page.envelope.suspect and not self._include_addresses:",
        "if False:",
        ("tests/privacy/test_landing.py::test_nothing_personal_lands_that_was_not_asked_for",),
    ),
    Fault(
        "persons are requested though the setting is off",
        (PERSONS,),
        "src/wms_sync/shipments/read/field_selection.py",
        "Selection.whole(include_addresses=settings.include_addresses)",
        "Selection.whole(include_addresses=True)",
        ("tests/privacy/test_landing.py::test_nothing_personal_lands_that_was_not_asked_for",),
    ),
    Fault(
        "a value in quarantine names a person",
        (PERSONS,),
        "src/wms_sync/shipments/flatten/page.py",
        "return WITHHELD if personal else as_text(value)",
        "return as_text(value)",
        ("tests/shipments/flatten/test_personal.py",),
    ),
    Fault(
        "forget leaves the raw pages",
        (PERSONS,),
        "src/wms_sync/upkeep/forget.py",
        "pages = _clean_pages(layout, store, order_ids, asked)",
        "pages = 0",
        ("tests/upkeep/test_forget.py::test_nothing_of_a_forgotten_order_is_left",),
    ),
    Fault(
        "forget leaves the Parquet files",
        (PERSONS,),
        "src/wms_sync/upkeep/forget.py",
        "parquet_files = _clean_parquet(layout, store, connection)",
        "parquet_files = 0",
        ("tests/upkeep/test_forget.py::test_nothing_of_a_forgotten_order_is_left",),
    ),
    Fault(
        "forget leaves the tables",
        (PERSONS,),
        "src/wms_sync/upkeep/forget.py",
        "[target for target in (former, target_of(settings)) if target is not None]",
        "[target for target in (former,) if target is not None]",
        ("tests/upkeep/test_forget.py::test_nothing_of_a_forgotten_order_is_left",),
    ),
    Fault(
        "a forgotten order comes back with its next page",
        (PERSONS,),
        "src/wms_sync/shipments/read/listing.py",
        "forgotten = without_orders(impersonal or content, self._forgotten)",
        "forgotten = None",
        ("tests/upkeep/test_forget.py::test_nothing_of_a_forgotten_order_is_left",),
    ),
    Fault(
        "the token is logged",
        (SECRETS,),
        "src/wms_sync/service/connection.py",
        '{"error": error, "wait": wait,',
        '{"error": f"{error} {dict(request.headers)}", "wait": wait,',
        ("tests/service/test_client.py::test_passing_trouble_shows_no_token",),
    ),
    Fault(
        "a message of the service shows the token that it repeats",
        (SECRETS,),
        "src/wms_sync/service/reasons.py",
        'text = text.replace(secret, "(withheld)")',
        "pass",
        ("tests/service/test_creates.py::test_no_form_of_an_answer_shows_the_token",),
    ),
    Fault(
        "files of the data folder are readable by everybody",
        (SECRETS,),
        "src/wms_sync/storage/durable.py",
        "PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700",
        "PRIVATE_FILE, PRIVATE_FOLDER = 0o644, 0o755",
        ("tests/cli/test_private.py::test_files_and_folders_are_their_owners_alone",),
    ),
)
