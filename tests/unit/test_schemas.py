"""Every document has the schema that ships with the package, and no key that it does not tell."""

import copy
import json
import shlex

import jsonschema
import msgspec
import pytest
import test_study
from core_inputs import MACHINE
from json_schemas import FOLDER, complaints, validator
from suite_inputs import failed, result

import snapshots
from ridgepoint.cli.main import main
from ridgepoint.core.documents import decode, encode, kind_of, plain, stored_kinds
from ridgepoint.core.estimate import Estimate
from ridgepoint.kept.durations import elsewhere
from ridgepoint.published.schemas import named, names, titles
from ridgepoint.show.schemas.catalogue import file_name, kinds, rendered
from ridgepoint.suites.distributed.results import DistributedStudy
from ridgepoint.suites.kernels.results import KernelStudy

SHOWN = {
    str(path.relative_to(snapshots.SHOWN)): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(snapshots.SHOWN.rglob("*.json"))
}
KEPT = [
    path
    for path in sorted((snapshots.SHOWN.parent / "kept").glob("*.json"))
    if kind_of(path.read_bytes())
]
MORE = (
    "scale --jobs {folder}/jobs.toml --nodes 2 --core-rate 8Gflop/s --cores 8 --memory 16GB/s"
    " --link 2GB/s",
    "scale fft --size 2^28 --fit {folder}/runs.csv --cores 8 --nodes 1,2,4,8",
    "scale linpack --size 1e4 --machine three-nodes --nodes 1,2,3",
    "pipeline {folder}/observation.toml",
    "pipeline {folder}/imaging.toml --machine gpu",
    "pipeline --published",
    "suite datacenter --published",
    "suite --from {folder}/suite.json",
    "suite datacenter --from {folder}/datacenter.json",
    "suite datacenter --from {folder}/datacenter.json --from {folder}/datacenter-other.json",
    "ridgeline --machine three-nodes --precision fp64 --batch 64",
    "ridgeline --strong --batch 4096 --nodes 1,2,4,8 --all-reduce tree",
    "compare heat solver",
    "compare matmul stopped",
    "history matmul",
    "show ranks",
    "show sort",
    "show solver",
    "show functions",
    "show crowded",
    "show tensors --machine e5645",
    "show cluster",
    "plot matmul --machine csb --point 'daxpy W=2Gflop, Q=16GB+-10%, T=1.2s+-5%, cores=1'",
    "explain sort",
    "explain ranks",
    "explain no-flop",
    "explain untimed",
    "schema",
)


@pytest.fixture(scope="module")
def bench():
    """Give an archive of every kind of record."""
    with snapshots.bench() as at:
        yield at


def test_the_files_are_those_that_the_types_give():
    """Where a difference is meant: python tests/tools/schemas.py --renew, and review it."""
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}

    assert {file_name(kind) for kind in kinds()} == set(written)
    for kind in kinds():
        assert written[file_name(kind)] == rendered(kind), kind


@pytest.mark.parametrize("name", names())
def test_a_schema_is_one_and_describes_every_key(name):
    """Valid by its own dialect; with a title and an identifier that names the version."""
    schema = json.loads(named(name))
    if name not in {"plot", "record", "records"}:  # whose parts are other schemas
        jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["title"]
    assert schema["$id"] == f"urn:ridgepoint:{name}:1"
    waiting, keys = [schema], 0
    while waiting:
        part = waiting.pop()
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), key
            keys += 1
        if "properties" in part:
            assert part["additionalProperties"] is False
        waiting += [value for value in part.values() if isinstance(value, dict)]
        waiting += [
            each
            for value in part.values()
            if isinstance(value, list)
            for each in value
            if isinstance(each, dict)
        ]
    assert keys > 2


@pytest.mark.parametrize("name", SHOWN)
def test_what_commands_print_has_its_schema(name):
    """Every document of the snapshots."""
    assert complaints(SHOWN[name]) == []


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_is_kept_has_its_schema(path):
    """Records of every kind, as this version writes them."""
    kind = kind_of(path.read_bytes())
    value = decode(path.read_bytes(), stored_kinds()[kind][0], origin=path.name)

    assert complaints(json.loads(encode(value))) == []


@pytest.mark.parametrize("words", MORE)
def test_what_other_commands_print_has_its_schema(words, bench, capsys):
    """Those of which no document is among the snapshots."""
    command = words.format(folder=bench.folder)
    assert main([*shlex.split(command), "--json"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)

    assert complaints(document) == []


def test_what_suites_keep_has_its_schema():
    """Cases that were measured, and cases that could not be."""
    studies = (
        KernelStudy(machine=MACHINE, results=(result(), failed("daxpy.llvm", 10))),
        DistributedStudy(results=(test_study.program("mlp"),), failures={"cg": "wrong"}),
        DistributedStudy(results=()),
        test_study.imaging(test_study.stage(), test_study.stage(runtime_s=None, failure="no")),
        elsewhere(),
    )
    for study in studies:
        assert complaints(json.loads(encode(study))) == []


def test_exported_records_have_their_schema(bench, tmp_path, capsys):
    """With the machine that bounds them, and without."""
    for options in ([], ["--no-machine"]):
        path = tmp_path / f"{len(options)}.json"
        assert main(["export", "heat", *options, "-o", str(path)]) == 0
        assert complaints(json.loads(path.read_text())) == []
    assert main(["import", str(path), "--json"]) == 0
    assert complaints(json.loads(capsys.readouterr().out)) == []


def test_what_an_earlier_release_kept_has_its_schema_too():
    """Keys that came later may be missing, and an estimate may be a number; reports are whole."""
    kept = json.loads((snapshots.SHOWN.parent / "kept" / "heat.json").read_text())
    kept = {**kept, "schema": 1, "kind": "measurement"}
    del kept["sampled"]
    kept["timed"]["system_s"] = 0.01

    assert complaints(kept) == []
    assert complaints({**kept, "not described": 1})
    assert "sampled" in json.loads(named("run"))["required"]


def objects(value, path=()):
    """Yield every object of a document with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, part in value.items():
            yield from objects(part, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


@pytest.mark.parametrize(
    "name",
    ["run/three-ranks-as.json", "run/stopped-as.json", "machine/bench-as.json",
     "machine/three-nodes-as.json", "explain/heat-as.json", "compare/pair-as.json",
     "scale/fft-as.json", "pipeline/memo-as.json", "ridgeline/whole-as.json", "list-as.json"],
)  # fmt: skip
def test_a_key_that_is_not_described_is_found_wherever_it_is(name):
    """Only the inputs of a model are free."""
    document = copy.deepcopy(SHOWN[name])
    is_valid = validator(document["kind"]).is_valid
    required = validator(document["kind"]).schema.get("required", ())
    for path, part in objects(document):
        part["not described"] = {"a": "key"}
        assert not is_valid(document) or path == ("inputs",), path
        del part["not described"]
    for key in list(document):
        without = {name: value for name, value in document.items() if name != key}
        if "kind" in without and key in required:
            assert not is_valid(without), key


def test_another_kind_another_version_or_a_wrong_type_is_found():
    """The document says what it is."""
    document = SHOWN["run/heat-as.json"]

    assert complaints({**document, "schema": 2})
    assert complaints({**document, "work_flop": "many"})
    assert complaints({**document, "conclusion": {**document["conclusion"], "kind": "other"}})


def test_an_estimate_has_the_keys_of_its_definition():
    """Written by hand, since it is no dataclass."""
    definition = json.loads(named("run"))["$defs"]["Estimate"]
    written = (
        Estimate([1.0, 2.0]), Estimate(range(1, 9), batches=4),
        Estimate([2.0], interval=(1.0, 3.0)),
    )  # fmt: skip
    check = jsonschema.Draft202012Validator(definition)
    for estimate in written:
        assert check.is_valid(msgspec.json.decode(msgspec.json.encode(plain(estimate))))


def test_schemas_are_listed_and_printed(capsys):
    """By their names, and in the form in which they ship."""
    assert main(["schema"]) == 0
    assert "What run --json" in capsys.readouterr().out
    assert main(["schema", "run"]) == 0
    assert capsys.readouterr().out == named("run")
    assert set(titles()) == set(names())
    assert named("published loads") == named("published-loads")


@pytest.mark.parametrize(
    ("name", "said"), [("rnu", "give run, or see"), ("../../x", "see 'ridgepoint schema'")]
)
def test_a_kind_that_there_is_not_is_refused(name, said, capsys):
    """With what it may have been meant to be."""
    assert main(["schema", name]) == 2
    assert said in capsys.readouterr().err
