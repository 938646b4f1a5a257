"""Counts of operators beside their rules: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ridgepoint.core.operators import Asked, Call, CheckedCall, Operator
from ridgepoint.models.operators.agreement import Agreement, agreement_of, disagreements

MEGA = 1_000_000


def operator(
    *,
    work: dict[str, float] | None,
    counted: dict[str, int],
    functions: float = 0.0,
    stated: tuple[float | None, float | None] = (8 * MEGA, 4 * MEGA),
    moved: tuple[int | None, int | None] = (12 * MEGA, 4 * MEGA),
    name: str = "aten.mm",
) -> Operator:
    """Return an operator with what its rule states and what was counted."""
    return Operator(
        call=Call(name=name, arguments=()),
        module="",
        phase="forward",
        asked=Asked(
            kind="matrix product",
            work=work,
            read_bytes=stated[0],
            write_bytes=stated[1],
            functions=functions,
        ),
        calls=3,
        time_s=None,
        checked=(
            CheckedCall(state="warm", work=counted, read_bytes=0, write_bytes=0, meter="native"),
            CheckedCall(
                state="cold",
                work=counted,
                read_bytes=moved[0],
                write_bytes=moved[1],
                meter="native",
            ),
        ),
    )


def of(**given: object) -> Agreement:
    """Return the agreement of such an operator."""
    found = agreement_of(operator(**given))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("counted", "verdict"),
    [
        (2 * MEGA, "agrees"),
        (2 * MEGA + 100_128, "agrees"),
        (2 * MEGA + 100_129, "more"),
        (2 * MEGA - 100_128, "agrees"),
        (2 * MEGA - 100_129, "less"),
    ],
)
def test_work_agrees_within_five_per_cent_and_what_surrounds_a_call(
    counted: int, verdict: str
) -> None:
    """2 Mflop may differ by 100 000 flop and by 128 more."""
    found = of(work={"fp32": 2.0 * MEGA}, counted={"fp32": counted})

    assert found.work == verdict


def test_work_of_functions_is_what_the_rule_leaves_open() -> None:
    """1000 exponentials at 20 flop each, beside 3000 flop that the rule states."""
    found = of(work={"fp32": 3000.0}, functions=1000.0, counted={"fp32": 23_000})

    assert found.flop_per_function == 20.0
    assert found.work == "agrees"


def test_work_in_another_precision_is_the_same_work() -> None:
    """Libraries compute some fp32 functions in fp64."""
    found = of(work={"fp32": 1e6}, counted={"fp32": 400_000, "fp64": 600_000})

    assert found.work == "agrees"


def test_integer_work_is_not_compared_with_flop() -> None:
    """A rule that states operations of int64 states no flop."""
    found = of(work={"int64": 1e6}, counted={})

    assert found.stated_flop == 0.0
    assert found.work == "agrees"


def test_unknown_work_is_neither_more_nor_less() -> None:
    """Without a rule there is nothing to compare, and no caution."""
    found = operator(work=None, stated=(None, None), counted={"fp32": 5})
    agreement = agreement_of(found)

    assert agreement is not None
    assert (agreement.work, agreement.reads, agreement.writes) == ("unknown",) * 3
    assert disagreements([found]) == ()


@pytest.mark.parametrize(
    ("read", "verdict"),
    [(8 * MEGA, "agrees"), (12 * MEGA, "agrees"), (7 * MEGA, "less"), (14 * MEGA, "more")],
)
def test_cold_reads_may_hold_the_lines_that_are_written(read: int, verdict: str) -> None:
    """8 MB of inputs, and 4 MB of results that caches read before they are written."""
    found = of(work={}, counted={}, moved=(read, 4 * MEGA))

    assert found.reads == verdict
    assert found.writes == "agrees"


def test_an_operator_that_was_not_counted_has_no_agreement() -> None:
    """No counts, nothing to say."""
    call = Call(name="aten.mm", arguments=())
    asked = Asked(kind="matrix product", work={}, read_bytes=0.0, write_bytes=0.0)
    bare = Operator(
        call=call, module="", phase="forward", asked=asked, calls=1, time_s=None, unchecked="why"
    )

    assert agreement_of(bare) is None


def test_cautions_name_the_operators_and_how_far_they_are_off() -> None:
    """One caution for each way to differ, whatever the number of operators."""
    cautions = disagreements(
        [
            operator(name="aten.add", work={"fp32": 1e6}, counted={"fp32": 2 * MEGA}),
            operator(name="aten.add", work={"fp32": 1e6}, counted={"fp32": 2 * MEGA}),
            operator(name="aten.conv", work={"fp32": 4e6}, counted={"fp32": 2 * MEGA}),
            operator(name="aten.cat", work={}, counted={}, moved=(30 * MEGA, 4 * MEGA)),
            operator(name="aten.copy", work={}, counted={}, moved=(12 * MEGA, 2 * MEGA)),
            operator(name="aten.mm", work={"fp32": 1e6}, counted={"fp32": MEGA}),
        ]
    )

    assert [caution.code for caution in cautions] == [
        "operators-do-less",
        "operators-do-more",
        "operators-move-less",
        "operators-move-more",
    ]
    assert "aten.conv (0.5 times as much)" in cautions[0].seen
    assert cautions[1].seen.count("aten.add (2 times as much)") == 1
    assert "aten.copy (writes 0.5 times as much)" in cautions[2].seen
    assert "aten.cat (reads 3.75 times as much)" in cautions[3].seen


def test_many_operators_are_not_all_named() -> None:
    """Three are named, and the others counted."""
    found = [
        operator(name=f"aten.f{at}", work={"fp32": 1e6}, counted={"fp32": 2 * MEGA})
        for at in range(5)
    ]
    (caution,) = disagreements(found)

    assert "aten.f2 (2 times as much) and 2 more" in caution.seen


def test_operators_that_could_not_be_counted_are_named_with_the_reason() -> None:
    """Views are not: they compute and move nothing."""
    base = operator(work={}, counted={}, name="aten.sparse")
    failed = replace(base, checked=(), unchecked="its arrays are sparse")
    view = replace(failed, asked=replace(base.asked, kind="view"))

    (caution,) = disagreements([failed, view])

    assert caution.code == "operators-uncounted"
    assert caution.seen == "aten.sparse could not be counted: its arrays are sparse"
    assert disagreements([view]) == ()
