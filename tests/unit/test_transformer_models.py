"""Transformers on devices: times by hand, published figures, memory, devices for a target."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.machine import Cache
from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.demands.transformer.shares import Stage
from ridgepoint.models.derived import with_network
from ridgepoint.models.given_machine import given_machine
from ridgepoint.models.transformer import Serving
from ridgepoint.models.transformer.crossing import leaves_memory
from ridgepoint.models.transformer.designs import curves, for_target
from ridgepoint.models.transformer.memory import memory_need
from ridgepoint.models.transformer.report import Target, report_on
from ridgepoint.models.transformer.study import serving_study
from ridgepoint.published.machines import load
from ridgepoint.published.transformers import transformer, transformers

TINY = Transformer(layers=3, width=8, heads=4, kv_heads=2, feed_forward=20, vocabulary=50)
SLOW = given_machine("fp32=1kflop/s, beta=1kB/s, network=1kB/s")
LLAMA = transformer("llama-2-7b").model
OF_SERVING = (
    *("overlap", "latency_s", "memory_bytes", "in_series", "context", "cores", "efficiency"),
)


def serving(model=TINY, machine=SLOW, *, prompt=10, generated=5, **options):
    """Return a serving; options of `Inference` and of `Serving` together."""
    own = {key: options.pop(key) for key in OF_SERVING if key in options}
    inference = Inference(model=model, **{"precision": "fp32", **options})
    return Serving(inference=inference, machine=machine, prompt=prompt, generated=generated, **own)


@pytest.mark.parametrize("name", list(transformers()))
def test_published_dimensions_have_the_published_number_of_weights(name):
    """The dimensions of every model that ships give the parameters that are published."""
    published = transformers()[name]

    assert published.model.weights == published.weights


def test_a_token_takes_as_long_as_its_longest_path():
    """On a machine of 1000 a second, times are the amounts over 1000."""
    asked = serving(context=12)
    demand = asked.inference.decode(context=12, batch=2)

    token = asked.decode(2)

    assert token.time_s[0] == pytest.approx(
        max(demand.amount("compute"), demand.amount("dram")) / 1000
    )
    assert token.tokens_per_s[0] == pytest.approx(2 / token.time_s[0])


def test_the_cache_of_an_answer_is_averaged():
    """Of an answer of 5 tokens, 4 follow others: after 10, 11, 12 and 13 tokens."""
    assert serving().mean_context == 11.5
    assert serving(replace(TINY, window=12)).mean_context == (10 + 11 + 11 + 11) / 4
    assert serving(context=7).mean_context == 7


@given(prompt=st.integers(1, 30), generated=st.integers(1, 30), window=st.integers(1, 40))
def test_windows_end_what_tokens_see(prompt, generated, window):
    """The mean is that of every token after the first, one by one."""
    asked = serving(replace(TINY, window=window), prompt=prompt, generated=generated)
    seen = [min(prompt + at, window - 1) for at in range(max(generated - 1, 1))]

    assert asked.mean_context == pytest.approx(sum(seen) / len(seen))


def test_whole_answers_begin_with_their_prompts():
    """A batch of whole answers takes its prompts and, for all but the first token, one pass."""
    asked = serving()

    taken = asked.prefill(3).time_s[0] + 4 * asked.decode(3).time_s[0]

    assert asked.answer_s(3)[0] == pytest.approx(taken)
    assert asked.rate_per_s(3)[0] == pytest.approx(3 * 5 / taken)


def test_a_pipeline_is_as_fast_as_its_slowest_stage():
    """Two sequences pass stages of two and of one layer one behind the other."""
    asked = serving(pipeline=2, context=6)
    first, last = asked.inference.stages
    times = []
    for stage in (first, last):
        parts = asked.inference.parts(stage, tokens=1, context=6, batch=1).values()
        times.append(
            max(sum(part.amount(path) for part in parts) for path in ("compute", "dram", "network"))
            / 1000
        )

    assert asked.decode(1).time_s[0] == pytest.approx(sum(times))
    assert asked.decode(2).time_s[0] == pytest.approx(max(sum(times), 2 * max(times)))
    assert asked.decode(4).batch[0] == 4


def stage_times(asked, batch, **of_pass):
    """Return the time of each stage for a part of a batch, on a machine of 1000 a second."""
    return [
        max(sum(part.amount(path) for part in parts) for path in ("compute", "dram", "network"))
        / 1000
        for stage in asked.inference.stages
        for parts in [asked.inference.parts(stage, batch=batch, **of_pass).values()]
    ]


@pytest.mark.parametrize("batch", [1, 2, 3, 7])
def test_prompts_pass_a_pipeline_as_in_a_simulation(batch):
    """Each part enters a stage when the stage is free and the part has left the one before."""
    asked = serving(pipeline=3, prompt=4)
    parts = min(batch, 3)
    times = stage_times(asked, -(-batch // parts), tokens=4)
    free = [0.0] * len(times)
    for _part in range(parts):
        now = 0.0
        for at, time_s in enumerate(times):
            now = free[at] = max(now, free[at]) + time_s

    assert asked.prefill(batch).time_s[0] == pytest.approx(free[-1])


@pytest.mark.parametrize("batch", [1, 2, 3, 7])
def test_tokens_pass_a_pipeline_as_in_a_simulation(batch):
    """Parts go round and round; after many rounds, one round takes as long as stated."""
    asked = serving(pipeline=3, context=6)
    parts, rounds = min(batch, 3), 200
    times = stage_times(asked, -(-batch // parts), tokens=1, context=6)
    free, ready = [0.0] * len(times), [0.0] * parts
    ends = []
    for _round in range(rounds):
        for part in range(parts):
            for at, time_s in enumerate(times):
                ready[part] = free[at] = max(ready[part], free[at]) + time_s
        ends.append(ready[-1])

    assert asked.decode(batch).time_s[0] == pytest.approx((ends[-1] - ends[99]) / (rounds - 100))


def test_programs_take_longer_than_the_bound_by_their_efficiency():
    """At 40 % of the bound, everything takes 2.5 times as long, and rates are 0.4 times."""
    bound, expected = (serving(efficiency=share) for share in (1.0, 0.4))

    for way in ("prefill", "decode"):
        times = [getattr(one, way)(3).time_s[0] for one in (bound, expected)]
        assert times[1] == pytest.approx(2.5 * times[0])
    assert expected.rate_per_s(3)[0] == pytest.approx(0.4 * bound.rate_per_s(3)[0])


def test_messages_wait_for_the_latency():
    """A ring of four devices has six messages in a row, twice in each of three layers."""
    without, waiting = (
        serving(tensor=4, overlap="none", latency_s=latency_s) for latency_s in (0.0, 0.5)
    )

    assert waiting.decode(1).time_s[0] - without.decode(1).time_s[0] == pytest.approx(
        3 * 2 * 6 * 0.5
    )


@pytest.mark.parametrize(
    ("model", "techniques"),
    [
        # github.com/pytorch-labs/gpt-fast, README.md: tokens/s of one sequence on an A100 80GB
        # limited to 330 W, prompts of 5 tokens, 200 generated.
        ("llama-2-7b", {"bf16": 104.9, "int8": 155.58, "int4": 196.80}),
        ("llama-2-70b", {"int8": 19.13, "int4": 25.25}),
    ],
)
def test_published_rates_of_one_sequence_are_below_the_bound(model, techniques):
    """Measured tokens per second are a third to three quarters of the bound."""
    for weights, measured in techniques.items():
        asked = serving(
            transformer(model).model, load("a100"), prompt=5, generated=200, weights=weights,
            precision="bf16",
        )  # fmt: skip

        assert 0.3 < measured / asked.decode(1).tokens_per_s[0] < 0.75


@pytest.mark.parametrize(
    ("batch", "prompt", "generated", "measured"),
    [(384, 128, 128, 5586), (60, 128, 2048, 1928), (52, 2048, 128, 591)],
)
def test_published_rates_of_large_batches_are_below_the_bound(batch, prompt, generated, measured):
    """TensorRT-LLM 0.6.1, performance.md: LLaMA 7B in FP16 on one A100, tokens per second."""
    asked = serving(LLAMA, load("a100"), prompt=prompt, generated=generated, precision="fp16")

    assert 0.55 < measured / asked.rate_per_s(batch)[0] < 0.85


def published_runs():
    """Return model, devices, and share of the bound of 60 published runs on A100s."""
    path = Path(__file__).parents[1] / "data" / "transformer" / "lmdeploy_a100_fp16.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    a100 = with_network(load("a100"), 300e9)
    for row in csv.DictReader(lines):
        asked = serving(
            transformer(row["model"]).model, a100, prompt=int(row["prompt"]),
            generated=int(row["generated"]), precision="fp16", tensor=int(row["tensor"]),
        )  # fmt: skip
        # What does not fit waits: the program answers as many at once as the memory holds.
        batch = min(int(row["batch"]), memory_need(asked).largest_batch)
        share = float(row["tokens_per_s"]) / asked.rate_per_s(batch)[0]
        yield row["model"], int(row["tensor"]), share


def test_sixty_published_runs_reach_known_shares_of_the_bound():
    """Batches of 1 to 64, prompts and answers of 1 to 2048 tokens: lmdeploy 0.1.0a1, fp16."""
    runs = list(published_runs())
    alone = [share for _, devices, share in runs if devices == 1]
    divided = [share for _, devices, share in runs if devices == 4]

    assert (len(alone), len(divided)) == (40, 20)
    assert 0.45 < min(alone) < max(alone) < 0.90
    assert 0.65 < median(alone) < 0.75
    assert 0.35 < min(divided) < max(divided) < 0.60


@pytest.mark.parametrize(
    ("model", "tensor", "measured_s"),
    [("llama-3-8b", 1, 0.833421), ("llama-3-70b", 4, 2.07753), ("mixtral-8x7b", 2, 1.91744)],
)
def test_published_answers_of_h200s_take_longer_than_the_bound(model, tensor, measured_s):
    """VLLM's performance benchmark, build 9515: 8 sequences, 32 tokens in and 128 out, bf16."""
    h200 = with_network(load("h200"), 450e9)
    asked = serving(
        transformer(model).model, h200, prompt=32, generated=128, precision="bf16", tensor=tensor
    )

    assert 0.4 < asked.answer_s(8)[0] / measured_s < 0.65


@pytest.mark.parametrize(("prompt", "measured_s"), [(128, 16e-3), (2048, 133e-3)])
def test_published_times_to_the_first_token_are_above_the_bound(prompt, measured_s):
    """TensorRT-LLM 0.5, performance.md: LLaMA 7B in FP16 on one A100, one prompt."""
    asked = serving(LLAMA, load("a100"), prompt=prompt, precision="fp16")

    assert 0.35 < asked.prefill(1).time_s[0] / measured_s < 0.75


def test_memory_is_weights_and_caches():
    """Llama 2 7B needs 13.5 GB of weights and 512 KiB for each token in fp16."""
    need = memory_need(serving(LLAMA, load("a100"), prompt=1000, generated=24, precision="fp16"))

    assert need.weights_bytes == 2 * 6_738_415_616
    assert need.cache_bytes == 1024 * 512 * 1024
    assert need.largest_batch == int(
        (80e9 - need.weights_bytes - need.activations_bytes) // need.cache_bytes
    )


def test_a_model_that_does_not_fit_holds_no_sequence():
    """70 billion weights of 2 bytes do not fit into 80 GB."""
    large = serving(transformer("llama-2-70b").model, load("a100"), precision="bf16")

    assert memory_need(large).largest_batch == 0
    assert serving_study(large).fullest is None
    assert not serving_study(large).points[0].fits


def test_generating_leaves_the_memory_where_work_takes_longer():
    """The batch is the first of all whose work takes longer than its bytes."""
    asked = serving(LLAMA, load("h200"), precision="bf16", context=100)

    crossing = leaves_memory(asked)

    limiters = {
        batch: asked.decode(batch).limiters[0] for batch in (crossing.batch - 1, crossing.batch)
    }
    assert list(limiters.values()) == ["dram", "compute"]


def test_latency_limits_small_batches_before_the_memory_does():
    """With messages of 2 us over 2 TB/s: first the network, then the memory, then work."""
    asked = serving(
        transformer("llama-3-70b").model, with_network(load("h200"), 2e12), precision="bf16",
        tensor=8, latency_s=2e-6, prompt=1024, generated=256,
    )  # fmt: skip

    crossing = leaves_memory(asked)

    assert asked.decode([1, 400]).limiters == ["network", "dram"]
    assert (asked.decode(crossing.batch - 1).limiters, crossing.limiter) == (["dram"], "compute")


def test_a_slow_network_leaves_nothing_to_the_memory():
    """Then the memory limits no batch at all."""
    crossing = leaves_memory(
        serving(LLAMA, with_network(load("h200"), 1e6), precision="bf16", tensor=2)
    )

    assert (crossing.batch, crossing.limiter) == (1, "network")


def test_long_contexts_never_leave_the_memory():
    """With a head of keys for every query, the cache of 8000 tokens outweighs their work."""
    assert leaves_memory(serving(LLAMA, load("h200"), precision="bf16", context=8000)) is None


def test_caches_hold_what_the_next_pass_needs():
    """A machine whose caches are known moves only what they cannot hold."""
    asked = serving(context=6)
    read = asked.inference.decode(context=6).amounts["dram_read"]
    cache = Cache(level=3, kind="unified", size_bytes=1000, line_bytes=64, ways=None)

    held = replace(asked, machine=replace(SLOW, caches=(cache,)))

    assert held.decode(1).bound.demand.amounts["dram_read"] == pytest.approx(read - 1000)
    assert held.decode(1).time_s[0] <= asked.decode(1).time_s[0]
    in_series = replace(held, in_series=True).decode(1)
    assert in_series.bound.demand.amounts["dram_read"] == pytest.approx(read - 1000)


@settings(max_examples=25)
@given(
    batch=st.integers(1, 300),
    tensor=st.sampled_from([1, 2, 4]),
    pipeline=st.sampled_from([1, 2, 3]),
    prompt=st.integers(1, 200),
)
def test_assumptions_only_add_time(batch, tensor, pipeline, prompt):
    """Less overlap, more traffic and latency never make a pass shorter."""
    asked = serving(tensor=tensor, pipeline=pipeline, prompt=prompt)

    for harder in (
        replace(asked, in_series=True),
        replace(asked, overlap="none"),
        replace(asked, latency_s=1e-3),
        replace(asked, inference=replace(asked.inference, activations="operators")),
    ):
        for way in ("prefill", "decode"):
            longer, least = (getattr(one, way)(batch).time_s[0] for one in (harder, asked))
            assert longer >= least * (1 - 1e-12)


@settings(max_examples=25)
@given(rate=st.floats(1e-3, 1e9), within=st.floats(1e-3, 1e3))
def test_designs_reach_the_target(rate, within):
    """Every design has the rate within the time, and none has fewer devices for less time."""
    found = curves(serving(memory_bytes=1e6), tensors=[1, 2, 4], pipelines=[1, 3])
    designs = for_target(found, rate_per_s=rate, within_s=within)

    for design in designs:
        assert design.rate_per_s >= rate * (1 - 1e-9)
        assert design.token_s <= within
    for fewer, more in pairwise(designs):
        assert fewer.devices <= more.devices
        assert fewer.token_s > more.token_s


def test_the_fewest_devices_are_those_of_a_search_by_hand():
    """All divisions and batches are tried, one by one."""
    asked = serving(machine=with_network(load("h200"), 450e9), model=LLAMA, precision="bf16",
                    prompt=512, generated=128)  # fmt: skip
    best = None
    for tensor in (1, 2):
        one = replace(asked, inference=replace(asked.inference, tensor=tensor))
        most = memory_need(one).largest_batch
        for batch in [*(1 << power for power in range(20) if 1 << power <= most), most]:
            copies = -(-50_000 // one.rate_per_s(batch)[0])
            if one.decode(batch).time_s[0] <= 20e-3 and (best is None or copies * tensor < best):
                best = copies * tensor

    designs = for_target(
        curves(asked, tensors=[1, 2], pipelines=[1]), rate_per_s=50_000, within_s=20e-3
    )

    assert designs[0].devices == best


def test_the_first_division_that_fits_is_reported():
    """Llama 2 70B fits on two devices of 80 GB, not on one."""
    large = serving(
        transformer("llama-2-70b").model, with_network(load("a100"), 300e9), precision="bf16"
    )

    found = report_on([large], name="large", tensors=[1, 2, 4])

    assert found.machines[0].study.serving.inference.tensor == 2
    assert [bool(curve.designs) for curve in found.machines[0].curves] == [False, True, True]


def test_doubts_say_what_the_bound_does_not_know():
    """Positions, types without units of their own, and caches of unknown size."""
    found = report_on(
        [serving(transformer("gpt2").model, load("h200"), prompt=1024, weights="fp8",
                 precision="bf16")],
        name="gpt2",
    )  # fmt: skip

    codes = [caution.code for caution in found.cautions]
    assert codes[:3] == ["too-long", "stored-type", "unknown-caches"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": 0}, "prompt must be >= 1, got 0"),
        ({"generated": 0}, "generated must be >= 1, got 0"),
        ({"latency_s": float("nan")}, "latency_s must be finite and >= 0"),
        ({"memory_bytes": 0.0}, "memory_bytes must be > 0, got 0.0"),
        ({"cores": 2}, "cores must be > 0 and at most 1, got 2"),
        ({"efficiency": 1.5}, "efficiency must be > 0 and at most 1, got 1.5"),
    ],
)
def test_impossible_numbers_are_refused(options, message):
    """The message names the number."""
    with pytest.raises(ValueError, match=message):
        serving(**options)


def test_missing_ceilings_are_named():
    """Work, memory and, between devices, the network."""
    with pytest.raises(UnknownCeiling, match="no fp32 ceiling; choose fp64 as the precision"):
        serving(machine=given_machine("pi=1Gflop/s, beta=1GB/s"))
    with pytest.raises(UnknownCeiling, match="no dram ceiling"):
        serving(machine=given_machine("fp32=1Gflop/s"))
    with pytest.raises(UnknownCeiling, match="no network ceiling"):
        serving(machine=given_machine("fp32=1Gflop/s, beta=1GB/s"), tensor=2)


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf"), -1.0])
def test_impossible_targets_are_refused(value):
    """A rate and limits of time are finite and > 0."""
    with pytest.raises(ValueError, match="rate_per_s must be finite and > 0"):
        Target(rate_per_s=value)
    with pytest.raises(ValueError, match="within_s must be finite and > 0"):
        Target(rate_per_s=1.0, within_s=value)


def test_stages_hold_all_weights_once():
    """Over the stages of a pipeline, every weight is held once where none is tied."""
    inference = Inference(model=TINY, pipeline=3)

    assert sum(inference.held_weights(stage) for stage in inference.stages) == 2 * TINY.weights
    assert inference.held_weights(Stage(layers=3)) == 2 * TINY.weights
