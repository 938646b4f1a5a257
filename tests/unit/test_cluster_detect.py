import pytest

from ridgepoint.cluster.detect import Launched, launched

# As seen in a rank of 'mpirun -n 3' of Open MPI 5.0.11 (env | grep -E 'SIZE|RANK').
OPEN_MPI = {
    "OMPI_COMM_WORLD_SIZE": "3",
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "PMIX_RANK": "2",
}
# From Slurm's documentation of srun (output environment variables).
SRUN = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_PROCID": "5",
    "SLURM_NTASKS": "8",
}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (OPEN_MPI, ("mpirun of Open MPI", 2, 3)),
        ({"PMI_SIZE": "4", "PMI_RANK": "0"}, ("mpirun of MPICH or Intel MPI", 0, 4)),
        (SRUN, ("srun of Slurm", 5, 8)),
        ({**SRUN, **OPEN_MPI}, ("mpirun of Open MPI", 2, 3)),  # mpirun within a Slurm job
        ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, ("mpirun of Open MPI", 0, 1)),
    ],
)
def test_a_launcher_is_told_by_what_it_sets(environment, expected):
    """No MPI is needed to know it."""
    launcher, rank, size = expected

    assert launched(environment) == Launched(launcher=launcher, rank=rank, size=size)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"},  # a batch script
        {**SRUN, "SLURM_STEP_ID": "4294967290"},  # an interactive shell
        {**SRUN, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
        {"OMPI_COMM_WORLD_SIZE": "three", "OMPI_COMM_WORLD_RANK": "0"},
        {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "2"},
    ],
)
def test_what_is_no_rank_is_not_taken_for_one(environment):
    """A batch script of Slurm, an interactive step, nonsense."""
    assert launched(environment) is None
