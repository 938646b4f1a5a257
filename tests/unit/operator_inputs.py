"""Small literal profiles of operators."""

from core_inputs import ceiling, machine_of

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Context
from ridgepoint.core.operators import Asked, Call, Operator, OperatorProfile, Tensor
from ridgepoint.core.timed import Timed

MACHINE = machine_of(
    ceiling("fp32", 200e9),
    ceiling("fp32", 400e9, threads=2),
    ceiling("dram", 20e9),
    ceiling("dram", 30e9, threads=2),
    cores=2,
    name="fp32-bench",
)
"""What the literal profiles are placed on."""

CONTEXT = Context(
    started="2026-01-01T00:00:00+00:00",
    hostname="bench",
    cpu="none",
    kernel="6.1",
    affinity=(0, 1),
    directory="/work",
    versions={"ridgepoint": "1", "torch": "2.13.0"},
)


def tensor(*shape, dtype="fp32", itemsize=4):
    """Return a dense array."""
    size = 1
    for length in shape:
        size *= length
    return Tensor(shape=shape, dtype=dtype, nbytes=size * itemsize)


def operator(name, inputs, outputs, *, module="", phase="forward", kind="elementwise", work=None,
             read=0.0, write=0.0, calls=1, time_s=None, unknown=""):  # fmt: skip
    """Return an operator; `unknown`: its demand is, because of this."""
    asked = Asked(
        kind="unknown" if unknown else kind,
        work=None if unknown else work or {},
        read_bytes=None if unknown else read,
        write_bytes=None if unknown else write,
        unknown=unknown,
    )
    return Operator(
        call=Call(name=name, arguments=tuple(inputs), outputs=tuple(outputs)),
        module=module,
        phase=phase,
        asked=asked,
        calls=calls,
        time_s=None if time_s is None else Estimate(time_s),
    )


def linear(module, *, phase="forward", time_s=(2e-3, 2.1e-3, 1.9e-3)):
    """Return a product of 512 rows with 512 x 512 weights: 2 x 512^3 flop."""
    a = tensor(512, 512)
    return operator(
        "aten.addmm", (tensor(512), a, a), (a,), module=module, phase=phase,
        kind="matrix product", work={"fp32": 2.0 * 512**3}, read=2 * 4.0 * 512**2 + 2048,
        write=4.0 * 512**2, time_s=time_s,
    )  # fmt: skip


def relu(module, *, phase="forward", time_s=(1e-3, 1.1e-3, 0.9e-3)):
    """Return an elementwise operator without flop."""
    a = tensor(512, 512)
    return operator("aten.relu", (a,), (a,), module=module, phase=phase,
                    read=4.0 * 512**2, write=4.0 * 512**2, time_s=time_s)  # fmt: skip


def add(module, *, time_s=(0.5e-3, 0.6e-3, 0.4e-3)):
    """Return a sum of two arrays."""
    a = tensor(512, 512)
    return operator("aten.add", (a, a), (a,), module=module, work={"fp32": 512.0**2},
                    read=8.0 * 512**2, write=4.0 * 512**2, time_s=time_s)  # fmt: skip


def custom(module="", *, time_s=(0.3e-3, 0.3e-3, 0.3e-3)):
    """Return an operator without a rule."""
    a = tensor(512, 512)
    return operator("mine.fancy", (a,), (a,), module=module, time_s=time_s,
                    unknown="no rule says what mine.fancy asks for")  # fmt: skip


def view(module="", *, time_s=(1e-6, 1e-6, 1e-6)):
    """Return a view, which has no work and no bytes."""
    a = tensor(512, 512)
    return operator("aten.view", (a,), (a,), module=module, kind="view", time_s=time_s)


def profile(*operators, timed=(8e-3, 8.2e-3, 7.9e-3), attached=(9e-3, 9.5e-3, 8.8e-3),
            cautions=(), program="mlp", device="cpu"):  # fmt: skip
    """Return a profile of operators."""
    return OperatorProfile(
        program=program,
        library="PyTorch 2.13.0",
        device=device,
        operators=operators,
        timed=timed
        and Timed(runtime_s=Estimate(timed), cpu_s=Estimate([2 * each for each in timed])),
        attached_s=attached and Estimate(attached),
        threads=2,
        context=CONTEXT,
        parameter_bytes=2.0 * 4 * 512 * 513,
        gradient_bytes=0.0,
        cautions=cautions,
    )


NOISY = Caution("noisy-times", "the runtimes differ by 40 %", "close other programs")

MLP = profile(
    *(
        each
        for layer in range(2)
        for each in (
            linear(f"layers.{layer}.up"),
            relu(f"layers.{layer}.act"),
            add(f"layers.{layer}"),
        )
    ),
    view("head"),
    custom(),
    cautions=(NOISY,),
)

TRAINED = profile(
    linear("up"), relu("up"), linear("up", phase="backward"), add("", time_s=(1e-4, 1e-4, 1e-4)),
    operator("aten._foreach_add_", (tensor(512, 512),), (tensor(512, 512),), phase="optimizer",
             kind="optimizer step", work={"fp32": 512.0**2}, read=8.0 * 512**2, write=4.0 * 512**2,
             time_s=(2e-4, 2e-4, 2e-4)),
    program="train.py",
)  # fmt: skip
