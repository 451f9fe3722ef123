"""The assets of master data: plans and pushes as runs of Dagster, against the sandbox on a socket."""

import json
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest
from markdown_it import MarkdownIt
from starlette.responses import JSONResponse

from pipelines import definitions, jobs, master_data, metadata
from pipelines.master_data import CHANGED, DOUBTFUL, REJECTED, GivenFile
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.faults import AnswerLost
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import RETAILERS
from wms_sync.master_data.products import PRODUCTS

RETAILERS_KEY = dg.AssetKey(["master_data", "retailers"])
PRODUCTS_KEY = dg.AssetKey(["master_data", "products"])


@pytest.fixture
def service(service_at_a_moment: SandboxConfig):
    """A service of its own for each test: what one creates, no other may find."""
    with SandboxServer(Sandbox(service_at_a_moment)) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "master-data"
    made.mkdir()
    return made


def write(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def run(make_settings, folder, instance):
    def start(
        kind: Kind = RETAILERS,
        *files: GivenFile,
        resend: bool = False,
        approve: Sequence[str] = (),
        **overrides: object,
    ):
        settings = make_settings(master_data_dir=folder, **overrides)
        return (
            definitions.build(settings)
            .resolve_job_def(jobs.push_name(kind))
            .execute_in_process(
                instance=instance,
                run_config=master_data.run_config(settings, kind, files, resend=resend, approve=approve),
                raise_on_error=False,
            )
        )

    return start


def shown(events):
    """Metadata of the one observation or materialisation, as plain values."""
    [event] = events
    return {name: getattr(value, "value", None) for name, value in event.metadata.items()}


def materialised(result):
    return shown([one.materialization for one in result.get_asset_materialization_events()])


def checks(result) -> dict[str, dg.AssetCheckEvaluation]:
    return {one.check_name: one for one in result.get_asset_check_evaluations()}


def failure(result) -> str:
    [event] = [one for one in result.all_events if one.is_step_failure]
    return str(event.step_failure_data.user_failure_data.description)


def test_a_run_is_a_plan_by_default(run, folder, service):
    write(folder, "retailers.csv", "code,name", "a,A", "b,")
    result = run()
    assert result.success
    seen = materialised(result)
    assert seen["pushed"] is False
    assert (seen["rows"], seen["planned_create"], seen["planned_rejected"]) == (2, 1, 1)
    [event] = [one.materialization for one in result.get_asset_materialization_events()]
    assert [record.data for record in event.metadata["plan"].records] == [
        {"file": "retailers.csv", "line": 3, "key": "", "what": "rejected", "why": "name: Must be filled."},
        {"file": "retailers.csv", "line": 2, "key": "a", "what": "create", "why": ""},
    ]
    assert not checks(result)[REJECTED].passed
    assert service.sandbox.retailers() == []


def test_files_of_a_kind_are_pushed_in_order(run, folder, service):
    write(folder, "retailers-2-children.csv", "code,name,parent_retailer_code", "c,C,p")
    write(folder, "retailers-1-parents.csv", "code,name", "p,P")
    write(folder, "products.csv", "sku,name", "s,S")
    result = run(push_enabled=True)
    assert result.success
    made = {one["code"]: one for one in service.sandbox.retailers()}
    assert made["c"]["parent_retailer"]["id"] == made["p"]["id"]
    assert service.sandbox.products() == []
    done = materialised(result)
    assert done["pushed"] is True
    assert (done["planned_create"], done["rows_created"], done["requests"]) == (2, 2, 2)
    assert all(check.passed for check in checks(result).values())

    again = materialised(run(push_enabled=True))
    assert (again["planned_already_there"], again["rows_already_there"], again["requests"]) == (2, 2, 0)


def approval(result) -> Sequence[str]:
    """What one would paste from the catalogue to send the plans of a run."""
    text = materialised(result)["approve"].partition("```json")[2].removesuffix("```")
    approved: list[str] = json.loads(text)["ops"]["master_data__retailers"]["config"]["approve"]
    return approved


def test_an_approved_plan_is_what_is_sent(run, folder, service):
    write(folder, "retailers-1.csv", "code,name", "a,A")
    write(folder, "retailers-2.csv", "code,name", "b,B")
    first, second = approval(run())
    done = materialised(run(approve=[second]))
    assert (done["pushed"], done["rows_created"]) == (True, 1)
    assert [one["code"] for one in service.sandbox.retailers()] == ["b"]

    write(folder, "retailers-1.csv", "code,name", "a,Another")
    refused = run(approve=[first])
    assert not refused.success
    assert f"No file has the approved plan {first}" in failure(refused)
    shown_instead = approval(refused)
    assert shown_instead != [first]
    assert [one["code"] for one in service.sandbox.retailers()] == ["b"]
    assert run(approve=shown_instead).success
    assert {one["code"]: one["name"] for one in service.sandbox.retailers()} == {"a": "Another", "b": "B"}
    assert "approve" not in materialised(run()), "nothing is left to send"


def test_a_create_meanwhile_makes_another_plan(run, folder, service):
    write(folder, "retailers.csv", "code,name", "a,A", "b,B")
    [shown_before] = approval(run(push_enabled=False))
    write(folder, "others.csv", "code,name", "a,A")
    run(RETAILERS, GivenFile(path=str(folder / "others.csv")), push_enabled=True)
    assert not run(approve=[shown_before]).success
    assert not run(approve=[shown_before], push_enabled=True).success, "also where nobody need approve"
    assert [one["code"] for one in service.sandbox.retailers()] == ["a"]


def test_what_needs_a_person_fails_its_own_check(run, folder, service):
    service.sandbox.intercept = lambda request: AnswerLost() if "products" in request.url.path else None
    write(folder, "products.csv", "sku,name", "s,S")
    write(folder, "retailers.csv", "code,name", "a,A")
    doubtful = run(PRODUCTS, push_enabled=True)
    assert doubtful.success
    assert {name: check.passed for name, check in checks(doubtful).items()} == {
        REJECTED: True,
        DOUBTFUL: False,
        CHANGED: True,
    }
    assert checks(doubtful)[DOUBTFUL].severity == dg.AssetCheckSeverity.WARN
    assert checks(doubtful)[DOUBTFUL].metadata["rows"].value == 1
    assert checks(doubtful)[DOUBTFUL].description == "1 row is in doubt, waiting or unsent: products.csv line 2."
    assert checks(doubtful)[REJECTED].description is None

    assert all(check.passed for check in checks(run(push_enabled=True)).values())
    write(folder, "retailers.csv", "code,name", "a,Other", "b,")
    mixed = run(push_enabled=True)
    assert mixed.success
    found = checks(mixed)
    assert {name: check.passed for name, check in found.items()} == {REJECTED: False, DOUBTFUL: True, CHANGED: False}
    assert found[REJECTED].severity == dg.AssetCheckSeverity.ERROR
    assert found[CHANGED].severity == dg.AssetCheckSeverity.WARN
    assert found[CHANGED].description == "1 row differs from what was created from it: retailers.csv line 2."
    sample = found[CHANGED].metadata["sample"]
    assert isinstance(sample, dg.TableMetadataValue)
    [row] = sample.records
    assert row.data["key"] == "a"
    assert '"A" -> "Other"' in str(row.data["why"])
    assert "retailers-retailers-" in materialised(mixed)["rejects"]

    service.sandbox.intercept = None
    assert materialised(run(PRODUCTS, resend=True, push_enabled=True))["rows_created"] == 1


def test_assets_that_are_materialised_show_their_plans(make_settings, folder, service, instance):
    write(folder, "products.csv", "sku,name", "s,")
    write(folder, "retailers.csv", "code,name", "a,A")
    built = definitions.build(make_settings(master_data_dir=folder, push_enabled=True))
    result = built.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance, asset_selection=[RETAILERS_KEY, PRODUCTS_KEY]
    )
    assert (service.sandbox.retailers(), service.sandbox.products()) == ([], [])
    seen = [one.materialization for one in result.get_asset_materialization_events()]
    assert {one.metadata["pushed"].value for one in seen} == {False}
    assert {one.asset_key: one.metadata["rows"].value for one in seen} == {
        RETAILERS_KEY: 1,
        PRODUCTS_KEY: 1,
    }
    refused = [one for one in result.get_asset_check_evaluations() if not one.passed]
    assert [(one.asset_key.path[-1], one.check_name) for one in refused] == [("products", REJECTED)]


def test_a_long_plan_is_cut_and_counted(run, folder):
    many = metadata.SHOWN_ROWS + 7
    notes = "n" * 5000
    write(folder, "retailers.csv", "code,name,routing_guide_notes", *(f"r{at},R,{notes}" for at in range(many)))
    run(push_enabled=True)
    write(folder, "retailers.csv", "code,name,routing_guide_notes", *(f"r{at},R,x{notes}" for at in range(many)))
    result = run()
    assert materialised(result)["planned_changed"] == many
    [event] = [one.materialization for one in result.get_asset_materialization_events()]
    shown_rows = event.metadata["plan"].records
    assert len(shown_rows) == metadata.SHOWN_ROWS + 1
    assert shown_rows[-1].data["what"] == "and 7 rows more"
    assert max(len(str(row.data["why"])) for row in shown_rows) <= metadata.SHOWN_CHARACTERS + 3


def test_a_wrong_file_fails_after_the_others(run, folder, service):
    (folder / "retailers-1.csv").write_bytes(b"PK\x03\x04 no text")
    write(folder, "retailers-2.csv", "code,nam", "x,X")
    write(folder, "retailers-3.csv", "code,name", "a,A")
    result = run(push_enabled=True)
    assert not result.success
    assert "retailers-1.csv cannot be read" in failure(result)
    assert "header of retailers-2.csv is wrong" in failure(result)
    assert "Did you mean name?" in failure(result)
    assert [one["code"] for one in service.sandbox.retailers()] == ["a"]
    assert materialised(result)["rows_created"] == 1


def test_a_file_changed_since_the_sensor_is_refused(run, folder, service):
    path = write(folder, "retailers.csv", "code,name", "a,A")
    result = run(RETAILERS, GivenFile(path=str(path), sha256="of another content"), push_enabled=True)
    assert not result.success
    assert "has changed since the sensor noticed it" in failure(result)
    assert service.sandbox.retailers() == []


@pytest.mark.parametrize(("overrides", "named"), [({"master_data_dir": None}, "not set"), ({}, "is not a folder")])
def test_an_asset_without_a_folder_says_so(make_settings, tmp_path, instance, overrides, named):
    settings = make_settings(**{"master_data_dir": tmp_path / "nowhere"} | overrides)
    built = definitions.build(settings)
    description = built.resolve_asset_graph().get(RETAILERS_KEY).description
    assert description is not None
    assert ("Nothing is configured" in description) == bool(overrides)
    result = built.resolve_job_def("push_retailers").execute_in_process(instance=instance, raise_on_error=False)
    assert not result.success
    assert "WMS_MASTER_DATA_DIR" in failure(result)
    assert named in failure(result)


def test_a_folder_without_files_is_no_failure(run):
    result = run(push_enabled=True)
    assert result.success
    assert materialised(result)["rows"] == 0


HOSTILE = "![p](http://evil.example/p.png) [here](javascript:alert(1)) <img src=x onerror=alert(1)> **b** `c` | d"
SAFE = {
    "paragraph_open",
    "paragraph_close",
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
    "list_item_close",
}


def said_in_markdown(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> list[str]:
    """Everything of a run that the UI renders as Markdown."""
    events = [entry.get_dagster_event() for entry in instance.all_logs(result.run_id) if entry.is_dagster_event]
    held = [
        event.step_materialization_data.materialization.metadata for event in events if event.is_step_materialization
    ]
    held += [one.metadata for one in result.get_asset_check_evaluations()]
    values = [value for metadata in held for value in metadata.values()]
    return [str(value.value) for value in values if isinstance(value, dg.MarkdownMetadataValue)]


def test_hostile_text_is_shown_and_does_nothing(run, folder, service, instance):
    """A picture would be fetched by whoever looks, from wherever the text says."""
    service.sandbox.intercept = lambda request: (
        JSONResponse({"errors": [{"type": "application", "message": HOSTILE}]}, 422)
        if request.method == "POST"
        else None
    )
    name = "retailers " + HOSTILE.replace("/", "\N{FULLWIDTH SOLIDUS}") + ".csv"
    header = f"code,name,{HOSTILE}"
    write(folder, name, "code,name", f'"{HOSTILE}",A', f'b,"{HOSTILE}"', "c,")
    write(folder, "retailers-2.csv", header, "d,D,e")
    result = run(push_enabled=True)
    said = said_in_markdown(instance, result)
    assert any("evil.example" in text for text in said), "nothing of it came that far"
    for text in said:
        for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
            if token.type == "inline":
                assert {child.type for child in token.children or ()} <= {"text", "text_special", "softbreak"}, text
            else:
                assert token.type in SAFE, text
