"""`ridgepoint transformer`, through the command line."""

from __future__ import annotations

import json

import pytest

LLAMA = ("transformer", "llama-3-8b")
OWN = (
    "transformer", "--layers", "2", "--width", "64", "--heads", "4", "--feed-forward", "128",
    "--vocabulary", "1000", "--machine", "fp32=1Gflop/s, beta=1GB/s", "--precision", "fp32",
)  # fmt: skip
CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
    "vocab_size": 32000, "tie_word_embeddings": False, "torch_dtype": "float16",
}  # fmt: skip


def test_the_table_says_times_rates_and_what_fits(cli):
    """Weights of 16.06 GB over 4.8 TB/s are 3.16 ms for each token of one sequence."""
    status, out, err = cli(*LLAMA, "--batch", "1,64")
    rows = [line.split() for line in out.splitlines()]

    assert (status, err) == (0, "")
    (one,) = [row for row in rows if row[:2] == ["1", "14.72"]]
    assert one[4:7] == ["3.159", "ms", "memory"]
    assert "of its 141 GB, a batch of 744 is the largest that fits" in " ".join(out.split())
    assert "parts one after the other" in out


def test_the_document_agrees_with_the_table(cli):
    """And says the model, the types, every point, what needs memory, and the doubts."""
    status, out, _ = cli(*LLAMA, "--batch", "1", "--weights", "int4", "--json")
    document = json.loads(out)
    (machine,) = document["machines"]

    assert status == 0
    assert document["model"]["parameters"] == 8_030_261_248
    assert (document["precision"], document["weights"], document["cache"]) == (
        "bf16", "int4", "bf16",
    )  # fmt: skip
    assert machine["need"]["weights_bytes"] == 8_030_261_248 / 2
    assert machine["points"][0]["token_limiter"] == "dram"
    assert "stored-type" in [caution["code"] for caution in document["cautions"]]


def test_a_target_names_the_fewest_devices(cli):
    """With a network, 1, 2, 4 and 8 devices for each copy are tried."""
    asked = (*LLAMA, "--target", "40000", "--within", "10ms", "--network", "450GB/s")
    _, out, _ = cli(*asked, "--json")
    (machine,) = json.loads(out)["machines"]
    designs = machine["designs"]

    assert {design["tensor"] for design in machine["divisions"]} == {1, 2, 4, 8}
    assert all(design["rate_per_s"] >= 40000 for design in designs)
    assert all(design["token_s"] <= 10e-3 for design in designs)
    assert "to generate 40,000 tokens/s, each token within 10 ms" in cli(*asked)[1]


def test_a_target_that_no_design_reaches_says_why(cli):
    """A token cannot be as fast as a nanosecond, and 405 billion weights need devices."""
    _, fast, _ = cli(*LLAMA, "--target", "10", "--within", "1ns")
    _, large, _ = cli("transformer", "llama-3.1-405b", "--target", "10")

    assert "no division and batch is fast enough" in fast
    assert "none of the divisions fits into the memory" in large


def test_machines_are_compared(cli):
    """Each has its row."""
    _, out, _ = cli(*LLAMA, "--machine", "h200", "--machine", "a100", "--batch", "1")
    names = [line.split()[0] for line in out.splitlines() if line.startswith(("h200 ", "a100 "))]

    assert names == ["h200", "a100"]


def test_own_dimensions_need_no_name(cli):
    """A model of 2 layers on a machine of which only figures are given."""
    status, out, _ = cli(*OWN, "--batch", "1", "--json")

    document = json.loads(out)
    assert status == 0
    assert document["model"]["name"] == "own model"
    assert document["machines"][0]["need"]["memory_bytes"] is None
    assert document["machines"][0]["points"][0]["fits"] is None


def test_options_change_a_known_model(cli):
    """Half the layers of Llama 3 8B have about half its weights."""
    _, out, _ = cli(*LLAMA, "--layers", "16", "--batch", "1", "--json")

    model = json.loads(out)["model"]
    assert model["name"] == "llama-3-8b, changed"
    assert model["parameters"] == 8_030_261_248 - 16 * 218_112_000


def test_a_config_of_a_model_is_read(cli, tmp_path):
    """The keys of config.json give Llama 2 7B."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))

    _, out, _ = cli("transformer", path, "--batch", "1", "--json")

    assert json.loads(out)["model"]["parameters"] == 6_738_415_616


def test_a_config_of_gpt2_is_read(cli, tmp_path):
    """Its keys have other names, and its inner width may be missing."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
        "vocab_size": 50257,
    }))  # fmt: skip

    _, out, _ = cli("transformer", path, "--batch", "1", "--prompt", "9", "--json")

    assert json.loads(out)["model"]["parameters"] == 124_439_808


def test_a_config_with_experts_is_read(cli, tmp_path):
    """Qwen3 30B-A3B: 128 experts of their own width, 8 used, and normalised heads."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48,
        "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
        "num_experts_per_tok": 8, "vocab_size": 151936, "tie_word_embeddings": False,
        "mlp_only_layers": [], "decoder_sparse_step": 1, "use_sliding_window": False,
        "sliding_window": None,
    }))  # fmt: skip

    _, out, _ = cli("transformer", path, "--batch", "1", "--json")

    model = json.loads(out)["model"]
    assert model["parameters"] == 30_532_122_624
    assert model["active_parameters"] == pytest.approx(3.35e9, rel=1e-3)


def test_dimensions_in_toml_are_read(cli, tmp_path):
    """By the names that Python has for them."""
    path = tmp_path / "mine.toml"
    path.write_text("layers = 2\nwidth = 64\nheads = 4\nfeed_forward = 128\nvocabulary = 1000\n")

    status, out, _ = cli("transformer", path, "--batch", "1")

    assert status == 0
    assert out.startswith("mine: 2 layers of width 64, 4 heads, feed-forward 128")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "bert"}, "its model_type is 'bert', and only gpt2, llama"),
        ({"hidden_size": None}, "it has no hidden_size"),
        ({"intermediate_size": None}, "it has no intermediate_size"),
        ({"hidden_size": "wide"}, "hidden_size"),
        ({"num_attention_heads": 33}, "heads must divide the width 4096"),
        ({"attention_bias": True}, "its attention has biases"),
        ({"mlp_only_layers": [0]}, "only some of its layers have experts"),
    ],
)
def test_a_config_that_is_not_understood_is_refused(cli, tmp_path, change, message):
    """The message names the file and what is wrong with it."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**CONFIG, **change}))

    status, out, err = cli("transformer", path)

    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert str(path) in err
    assert message in err


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_files_of_anything_else_are_refused(cli, tmp_path, content):
    """Neither JSON nor TOML of dimensions."""
    for name in ("config.json", "model.toml"):
        path = tmp_path / name
        path.write_bytes(content)
        status, out, err = cli("transformer", path)

        assert (status, out, err.count("\n")) == (2, "", 1)


def test_the_list_has_every_model(cli):
    """By name, with weights, also as JSON and as a table."""
    _, shown, _ = cli("transformer", "--list")
    _, out, _ = cli("transformer", "--list", "--json")
    _, rows, _ = cli("transformer", "--list", "--csv", "-")

    names = [model["name"] for model in json.loads(out)["models"]]
    assert names[0] == "gpt2"
    assert all(f"\n{name} " in shown for name in names)
    assert len(rows.splitlines()) == len(names) + 1


@pytest.mark.slow
def test_pictures_and_pages_are_written(cli, tmp_path):
    """A picture of throughput over latency; a page with that and the times of a token."""
    picture, page = tmp_path / "llama.svg", tmp_path / "llama.html"

    status, _, err = cli(*LLAMA, "--batch", "1", "-o", picture, "-o", page)

    assert (status, err) == (0, "")
    assert "Throughput over latency" in picture.read_text()
    assert "Time of a token over the batch" in page.read_text()


@pytest.mark.slow
def test_nothing_that_fits_is_still_drawn(cli, tmp_path):
    """The picture is of the time of a token, and says what a device would have to hold."""
    picture = tmp_path / "large.svg"

    status, _, _ = cli("transformer", "llama-3.1-405b", "-o", picture)

    assert status == 0
    assert "not even one sequence fits" in " ".join(picture.read_text().split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("transformer",), "name a model, such as llama-3-8b"),
        (("transformer", "--layers", "2"), "or give --width, --heads, --feed-forward"),
        (("transformer", "llama"), "did you mean 'llama-3-8b'"),
        (("transformer", "missing.toml"), "no such file"),
        (("transformer", "."), "published here are only"),
        ((*LLAMA, "--heads", "5"), "--heads must divide the width 4096"),
        ((*LLAMA, "--kv-heads", "5"), "--kv-heads must divide the 32 heads"),
        ((*LLAMA, "--active-experts", "2"), "--active-experts must be at most the 1 experts"),
        ((*LLAMA, "--batch", "nan"), "is not a whole number > 0"),
        ((*LLAMA, "--batch", "0"), "0 is not > 0"),
        ((*LLAMA, "--prompt", "0"), "'0' is not a whole number >= 1"),
        ((*LLAMA, "--prompt", "9" * 30), "of at most 15 digits"),
        ((*LLAMA, "--tensor", "2"), "the machine has no network ceiling; give the bandwidth"),
        ((*LLAMA, "--tensor", "64", "--network", "1GB/s"), "--tensor must be a whole number from"),
        ((*LLAMA, "--pipeline", "64", "--network", "1GB/s"), "--pipeline must be a whole number"),
        ((*LLAMA, "--network", "0"), "--network"),
        ((*LLAMA, "--latency", "nan"), "--latency"),
        ((*LLAMA, "--memory", "0B"), "--memory must be > 0"),
        ((*LLAMA, "--cores", "2"), "--cores must be > 0 and at most 1"),
        ((*LLAMA, "--efficiency", "1.1"), "--efficiency"),
        ((*LLAMA, "--target", "nan"), "nan is not a number"),
        ((*LLAMA, "--target", "0"), "--target"),
        ((*LLAMA, "--target", "inf"), "'--target': it must be finite"),
        ((*LLAMA, "--generate", "1.5"), "'1.5' is not a whole number"),
        ((*LLAMA, "--within", "1s"), "limit what --target may choose from"),
        ((*LLAMA, "--precision", "fp8"), "--precision"),
        ((*LLAMA, "--machine", "csb"), "no bf16 ceiling; choose fp64 as the precision"),
        ((*LLAMA, "--machine", "nothing"), "nothing"),
        ((*LLAMA, "--overlap", "0.5"), "must be full, none or a number >= 1"),
        ((*LLAMA, "-o", "x.gif"), "the ending '.gif'"),
        ((*LLAMA, "--list"), "'llama-3-8b' does not apply to it"),
        (("transformer", "--list", "--batch", "1"), "--batch does not apply to it"),
    ],
)
def test_wrong_use_ends_in_one_clear_line(cli, words, message):
    """It names the option, says what is wrong, and ends with status 2."""
    status, out, err = cli(*words)

    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err
