"""What schedulers are asked for: whole nodes, parts of nodes, processors alone."""

import subprocess

import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.rates import ideal_machine
from ridgepoint.core.runs import Run
from ridgepoint.models.scaling import Scaling
from ridgepoint.models.scaling.case_studies import matrix_product_1d
from ridgepoint.models.scaling.law_fits import fit_law
from ridgepoint.models.scaling.speed_up_laws import usl
from ridgepoint.models.scaling.study import scaling_study
from ridgepoint.show.batch import batch_lines

APART = """\
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {app: NAME}
"""
JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: NAME
spec:
  completions: 13
  parallelism: 13
  completionMode: Indexed
  template:
    metadata:
      labels: {{app: NAME}}
    spec:
      restartPolicy: Never
{APART}      containers:
      - name: NAME
        image: IMAGE
        resources:
          requests: {{cpu: "4"}}
          limits: {{cpu: "4"}}
"""
NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)


def whole():
    """Return a study that chooses 4 nodes with all of their 8 cores."""
    return scaling_study(
        Scaling(problem=matrix_product_1d(1e4), machine=NODE),
        cores=[8],
        nodes=range(1, 65),
        efficiency=0.8,
    )


def part():
    """Return a study that chooses 13 nodes with 4 of their 8 cores."""
    return scaling_study(whole().scaling, cores=[4], nodes=range(1, 65))


def law():
    """Return a study that chooses 30 processors: sqrt(0.9/0.001)."""
    runs = [
        Run(cores=1, nodes=n, time_s=Estimate([10 / usl(n, contention=0.1, coherence=0.001)]))
        for n in (1, 2, 4, 8, 16)
    ]
    fit = fit_law(runs, "usl")
    return scaling_study(fit.scaling(1.0), cores=[1], nodes=range(1, 65), fit=fit)


@pytest.mark.parametrize(
    ("scheduler", "of_whole", "of_part", "of_law"),
    [
        (
            "slurm",
            ["#SBATCH --nodes=4", "#SBATCH --ntasks-per-node=1", "#SBATCH --cpus-per-task=8",
             "#SBATCH --exclusive"],
            ["#SBATCH --nodes=13", "#SBATCH --ntasks-per-node=1", "#SBATCH --cpus-per-task=4"],
            ["#SBATCH --ntasks=30", "#SBATCH --cpus-per-task=1"],
        ),
        (
            "pbs",
            ["#PBS -l select=4:ncpus=8:mpiprocs=1:ompthreads=8", "#PBS -l place=scatter:excl"],
            ["#PBS -l select=13:ncpus=4:mpiprocs=1:ompthreads=4", "#PBS -l place=scatter"],
            ["#PBS -l select=30:ncpus=1:mpiprocs=1:ompthreads=1"],
        ),
        (
            "lsf",
            ["#BSUB -n 4", '#BSUB -R "span[ptile=1] affinity[core(8)]"', "#BSUB -x"],
            ["#BSUB -n 13", '#BSUB -R "span[ptile=1] affinity[core(4)]"'],
            ["#BSUB -n 30", '#BSUB -R "affinity[core(1)]"'],
        ),
        (
            "flux",
            ["# flux: --nodes=4", "# flux: --nslots=4", "# flux: --cores-per-slot=8",
             "# flux: --exclusive"],
            ["# flux: --nodes=13", "# flux: --nslots=13", "# flux: --cores-per-slot=4"],
            ["# flux: --nslots=30", "# flux: --cores-per-slot=1"],
        ),
    ],
)  # fmt: skip
def test_each_scheduler_is_asked_in_its_own_words(scheduler, of_whole, of_part, of_law):
    """Whole nodes are asked for alone, parts of them not; a law asks for processors."""
    assert batch_lines(whole(), scheduler)[1:] == of_whole
    assert batch_lines(part(), scheduler)[1:] == of_part
    assert batch_lines(law(), scheduler, only_processors=True)[1:] == of_law


def test_a_job_of_kubernetes_has_as_many_pods_as_nodes():
    """Each with its CPUs, requested and at most; never two on a node, unless nodes do not count."""
    spread = batch_lines(part(), "kubernetes")
    anywhere = batch_lines(law(), "kubernetes", only_processors=True)

    assert spread[1:] == JOB.splitlines()
    assert anywhere[1:] == [
        line.replace("13", "30").replace('"4"', '"1"')
        for line in JOB.splitlines()
        if line not in APART.splitlines()
    ]


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "lsf", "flux"])
def test_lines_are_comments_to_a_shell(scheduler):
    """They may stand at the head of any script."""
    script = "\n".join([*batch_lines(whole(), scheduler), "echo done"])

    assert (
        subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        == "done\n"
    )
