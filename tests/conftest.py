"""What tests need of the process that runs them."""

import signal

import pytest

# Programs of libraries that only their users have: tests that need them import them.
collect_ignore = ["data/hlo/programs.py", "unit/torch_calls.py", "unit/torch_programs.py"]

# A shell lets what it starts in the background ignore ^C, and all that tests start would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """Add what is checked beside the tests themselves."""
    parser.addoption(
        "--schemas",
        action="store_true",
        help="Validate every document that a test writes against the schema of its kind.",
    )


@pytest.fixture(autouse=True)
def every_document_has_its_schema(request, monkeypatch):
    """Validate what this process writes as JSON, if that is asked for: it takes long."""
    if not request.config.getoption("--schemas"):
        return
    from json import loads

    from json_schemas import complaints

    from ridgepoint.core import documents

    write = documents._to_json

    def validated(fields):
        text = write(fields)
        if isinstance(fields, dict) and "schema" in fields and fields.get("kind") != "test":
            assert complaints(loads(text)) == []
        return text

    monkeypatch.setattr(documents, "_to_json", validated)
