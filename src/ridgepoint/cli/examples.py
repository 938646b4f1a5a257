"""The examples below the help of each command; tests let the command line read them all."""

from __future__ import annotations

from collections.abc import Sequence

Example = tuple[str, ...]
"""What is wanted, and the lines that do it: of 74 characters at most, for narrow terminals."""

COMMANDS: dict[str, tuple[Example, ...]] = {
    "machine": (
        (
            "Measure this machine, draw its roofline, and name the record",
            "ridgepoint machine --name bench -o bench.svg",
        ),
        (
            "See with which loop the bandwidth of L1 is measured",
            "ridgepoint machine --explain 'l1 copy'",
        ),
        (
            "Fail if a ceiling fell by more than a tenth since then",
            "ridgepoint machine --check bench --tolerance 10",
        ),
    ),
    "run": (
        (
            "Measure a program, and draw it below the machine's roofs",
            "ridgepoint run -o heat.svg -- ./heat 2000 60",
        ),
        (
            "Time its functions, and show how much another cache would save",
            "ridgepoint run --functions --miss-curve -- ./heat 2000 60",
        ),
        (
            "Time the lines of a Python program",
            "ridgepoint run --lines -- python script.py",
        ),
        (
            "Time and bound each operator of a script of PyTorch",
            "ridgepoint run --operators -- python train.py",
        ),
        (
            "Count one function, with another machine's caches too",
            "ridgepoint run --function main --what-if e5645 -- ./heat 2000 20",
        ),
        (
            "Measure every rank of a program that uses MPI",
            "ridgepoint run --mpi 4 -- ./solver",
        ),
    ),
    "suite": (
        (
            "Check the counted work of matrix products against the known work",
            "ridgepoint suite kernels dgemm --validate",
        ),
    ),
    "bops": (
        (
            "Count the basic operations of a C program",
            "ridgepoint bops count.c -- 1000",
        ),
        (
            "Run a program that was built with CC='ridgepoint cc'",
            "ridgepoint bops --run -- ./prog argument",
        ),
    ),
    "ridgeline": (
        (
            "See what bounds a training step of two layers, batch by batch",
            "ridgepoint ridgeline --layers 4096,4096 --batch 64,256,1024",
        ),
        (
            "Place a program on nodes with links of 100 Gbit/s",
            "ridgepoint ridgeline --network 100Gbit/s --point 'mine=2T,3G,200M'",
        ),
        (
            "Find the fastest way to train on up to 1024 nodes",
            "ridgepoint ridgeline --sweep --strong --batch 65536 --nodes 1:1024",
        ),
        (
            "Ask how a model whose operators were recorded scales over GPUs",
            "ridgepoint ridgeline --operators 2=step-2 --operators 8=step-8 \\",
            "  --machine h200 --network 50GB/s --nodes 1,8,64",
        ),
    ),
    "transformer": (
        (
            "See how fast one GPU can answer, batch by batch",
            "ridgepoint transformer llama-3-8b --machine h200",
        ),
        (
            "Ask how many GPUs generate 20,000 tokens per second",
            "ridgepoint transformer llama-3-70b --tensor 2,4,8 --network 450GB/s \\",
            "  --target 20000 --within 30ms",
        ),
        (
            "Compare machines, with weights of 4 bits",
            "ridgepoint transformer llama-3-8b --weights int4 --machine a100 \\",
            "  --machine mi300x",
        ),
    ),
    "scale": (
        (
            "Ask how many nodes the solution of a linear system is worth",
            "ridgepoint scale linpack --size 2e4 --core-rate 50Gflop/s \\",
            "  --memory 40GB/s --link 12GB/s --cores 8",
        ),
        (
            "Ask how many cores a problem of one's own is worth",
            "ridgepoint scale --op '2*n^3' --bytes '24*n^2' --size 5000 --nodes 1 \\",
            "  --machine csb",
        ),
    ),
    "pipeline": (
        (
            "Print the file of an example, and combine its stages",
            "ridgepoint pipeline --example memo > memo.toml",
            "ridgepoint pipeline memo.toml -o memo.svg",
        ),
        (
            "See the layers of a recorded model as stages",
            "ridgepoint pipeline --operators step-8 --depth 2",
        ),
    ),
    "list": (("List all records for a script", "ridgepoint list --json"),),
    "show": (
        ("Show the last record again, or two by their names", "ridgepoint show before after"),
        (
            "See what another machine would allow",
            "ridgepoint show before --machine cascade-lake",
        ),
    ),
    "compare": (
        ("Say what changed from one record to another", "ridgepoint compare before after"),
        (
            "Fail if there is more work, or more traffic, than in a baseline",
            "ridgepoint compare baselines/before.json after \\",
            "  --fail-if 'work > 1x' --fail-if 'dram > 1.02x'",
        ),
        (
            "Print what to paste into a pull request, and draw it",
            "ridgepoint compare before after --markdown -o change.svg",
        ),
    ),
    "history": (
        (
            "Show the runtime and the traffic of all records of a name",
            "ridgepoint history nightly --of runtime --of dram",
        ),
    ),
    "plot": (
        (
            "Draw two programs below the roofs of this machine",
            "ridgepoint plot before after -o both.svg",
        ),
        (
            "Place a program and a machine of which the figures are known",
            "ridgepoint plot --machine 'pi=2Tflop/s, beta=100GB/s' \\",
            "  --point 'mine W=2Gflop, Q=8GB, T=90ms'",
        ),
    ),
    "report": (
        (
            "Write two programs to one page, and open it",
            "ridgepoint report before after -o report.html && xdg-open report.html",
        ),
    ),
    "explain": (
        (
            "Say what limits a program, what was ruled out, and what to do next",
            "ridgepoint explain before",
        ),
        (
            "Keep the diagnosis to paste it into an issue",
            "ridgepoint explain before -o diagnosis.md",
        ),
    ),
    "schema": (
        ("List the kinds of documents", "ridgepoint schema"),
        ("See every key that --json of a run has", "ridgepoint schema run"),
    ),
    "export": (
        (
            "Keep a record in a repository, as a baseline",
            "ridgepoint export before -o baselines/before.json",
        ),
        ("Write every record to a file", "ridgepoint export --all -o records"),
    ),
    "import": (
        ("Put the files of a folder into the archive", "ridgepoint import baselines"),
        (
            "Merge the archives of two other hosts into it",
            "ridgepoint import node1.sqlite3 node2.sqlite3",
        ),
    ),
    "fleet": (
        ("Rank published machines by each ceiling", "ridgepoint fleet csb xsb e5645"),
        (
            "See where a kept program would run best, and what would bound it",
            "ridgepoint fleet bench e5645 --program heat",
        ),
        (
            "Find the cheapest machine for it",
            "ridgepoint fleet bench csb --program heat --cheapest \\",
            "  --price bench=0.9USD/h --price csb=0.4USD/h",
        ),
    ),
    "name": (
        ("Name record 3", "ridgepoint name 3 before"),
        ("Remove a name", "ridgepoint name before ''"),
    ),
    "note": (
        ("Say what was special about record 3", "ridgepoint note 3 'columns outside'"),
    ),
    "delete": (
        ("Delete two records", "ridgepoint delete 3 before"),
        (
            "Delete a machine and all that was measured on it",
            "ridgepoint delete bench --with-measurements",
        ),
    ),
    "include": (
        (
            "Compile a program that marks regions",
            "cc -O2 -I$(ridgepoint include) program.c",
        ),
    ),
    "completion": (
        ("bash, in ~/.bashrc", 'eval "$(ridgepoint completion bash)"'),
        (
            "zsh, in ~/.zshrc, below compinit",
            'eval "$(ridgepoint completion zsh)"',
        ),
        (
            "fish, in ~/.config/fish/config.fish",
            "ridgepoint completion fish | source",
        ),
    ),
    "doctor": (
        (
            "Check every meter on programs of known work",
            "ridgepoint doctor --selftest",
        ),
    ),
}  # fmt: skip

SUITES: dict[str, tuple[Example, ...]] = {
    "kernels": (
        (
            "Check the counted work of matrix products against the known work",
            "ridgepoint suite kernels dgemm --validate",
        ),
        ("Draw the figures of all kernels", "ridgepoint suite kernels --figures figures"),
    ),
    "datacenter": (
        ("Show the published results", "ridgepoint suite datacenter --published"),
        (
            "Measure two workloads on a gigabyte each",
            "ridgepoint suite datacenter sort grep --size 1GB",
        ),
    ),
    "distributed": (
        ("See what there is, and how long it takes", "ridgepoint suite distributed --list"),
        ("Run one program on four ranks", "ridgepoint suite distributed mlp --mpi 4"),
    ),
    "imaging": (
        (
            "Measure every stage, and combine the stages",
            "ridgepoint suite imaging -o imaging.toml",
            "ridgepoint pipeline imaging.toml",
        ),
    ),
}


def as_epilog(examples: Sequence[Example]) -> str:
    """Return what stands below the help of a command; click leaves its lines as they are."""
    lines = ["Examples:"]
    for what, *typed in examples:
        lines += [f"  {what}:", *(f"    {line}" for line in typed)]
    return "\b\n" + "\n".join(lines)
