"""Measure what a machine can give and what a program asks of it; bound one by the other.

>>> import ridgepoint
>>> machine = ridgepoint.open_machine("cascade-lake")  # or characterize(), to measure this one
>>> step = ridgepoint.Demand({"fp32": 1.6e9, "dram": 6.8e7, "network": 1.3e8})
>>> ridgepoint.bound(step, machine).limiter
'network'

``characterize()`` measures this machine, ``measure_program(["./prog"])`` a program, and
``place(measurement, machine)`` bounds one by the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ridgepoint.core.lazily import offered
from ridgepoint.core.presenting import use_presenter

# What Python programs use, and where it is; a ":" stands before another name, or makes the module
# itself the name. Imported when first used: most uses need few of these, and LLVM is a heavy one.
_HOMES = {
    "__version__": "core.version",
    # Measure.
    "bops": "meters.source:",
    "CallgrindMeter": "meters.callgrind",
    "characterize": "ceilings",
    "characterize_gpu": "ceilings.gpu",
    "machine_here": "ceilings.this_host",
    "measure": "profiling.calls",
    "measure_all": "profiling.calls",
    "measure_program": "profiling.program",
    "measuring": "profiling.calls.watch",
    "open_device": "ceilings.gpu",
    "operators": "profiling.operators",
    "PerfMeter": "meters.perf",
    "read_region_times": "meters.region_times",
    "region": "regions",
    "selftest": "doctor.selftest",
    "subject": "profiling.calls.subject",
    # Keep, and find again.
    "Archive": "kept.archive",
    "export_record": "kept.transfer",
    "fleet": "kept.fleet",
    "import_records": "kept.transfer",
    "keep": "kept.keeping",
    "kept_records": "kept.keeping",
    "load": "kept.keeping",
    "open_machine": "published.machines",
    "read_given": "kept.points",
    # Values.
    "Cache": "core.machine",
    "Caution": "core.caution",
    "Ceiling": "core.machine",
    "Counts": "core.counts",
    "Demand": "core.demand",
    "Estimate": "core.estimate",
    "given_machine": "models.given_machine",
    "GivenPoint": "core.given",
    "Host": "core.machine",
    "ideal_machine": "core.rates",
    "Machine": "core.machine",
    "MeasuredCluster": "core.measured_cluster",
    "Measurement": "core.measurement",
    "Rates": "core.rates",
    "RidgepointError": "core.errors",
    "Table": "core.table",
    "Timing": "core.measurement",
    # Bound, analyse and compare.
    "analyse": "models.analysis",
    "Analysis": "models.analysis",
    "Bound": "core.bound",
    "bound": "core.bound",
    "check_gate": "models.comparing",
    "compare": "models.comparing",
    "dc_roofline": "models.dc_roofline:",
    "DCRoofline": "models.roofline",
    "history_of": "models.comparing",
    "place": "models.analysis",
    "place_given": "models.given_points",
    "Placement": "models.placement",
    "Roofline": "models.roofline",
    "series": "core.bound",
    # Operators of array programs.
    "analyse_operators": "models.operators",
    "Division": "demands.operators.division",
    "model_step": "demands.operators.step",
    "operator_stages": "models.operators.stages",
    "OperatorProfile": "core.operators",
    "parallel_plans": "models.operators.parallel",
    "parallel_step": "models.operators.parallel",
    # Distributed programs.
    "perceptron": "published.perceptrons",
    "recommendation_model": "published.perceptrons",
    "RecommendationModel": "demands.recommendation",
    "RecommendationStep": "demands.recommendation",
    "Ridgeline": "models.ridgeline",
    "sweep": "models.ridgeline.sweep",
    "training_trajectories": "models.ridgeline.trajectories",
    "TrainingStep": "demands.training",
    "with_link": "models.derived",
    "with_network": "models.derived",
    # Transformers.
    "Inference": "demands.transformer.passes",
    "Serving": "models.transformer",
    "serving_study": "models.transformer.study",
    "transformer": "published.transformers",
    "Transformer": "demands.transformer",
    "TransformerStep": "demands.transformer.training",
    # Scaling.
    "amdahl": "models.scaling.speed_up_laws",
    "case_studies": "models.scaling.case_studies:",
    "fit_law": "models.scaling.law_fits",
    "fit_rates": "models.scaling.fits",
    "gustafson": "models.scaling.speed_up_laws",
    "Job": "models.scaling.sharing",
    "Problem": "models.scaling",
    "read_runs": "kept.runs",
    "Scaling": "models.scaling",
    "scaling_study": "models.scaling.study",
    "sharing_study": "models.scaling.placing",
    "usl": "models.scaling.speed_up_laws",
    # Pipelines.
    "assess": "models.pipeline.assessment",
    "example_pipeline": "kept.pipeline_file",
    "formulas": "demands.formulas:",
    "Pipeline": "models.pipeline",
    "pipeline_advice": "models.pipeline.advice",
    "read_pipeline": "kept.pipeline_file",
    "sensitivity": "models.pipeline.sensitivity",
    "Stage": "models.pipeline",
    # Draw.
    "charts": "show.charts:",
    "plot": "show.presenter",
    "report": "show.page.writing",
}

if TYPE_CHECKING:
    from ridgepoint.ceilings import characterize as characterize
    from ridgepoint.ceilings.gpu import characterize_gpu as characterize_gpu
    from ridgepoint.ceilings.gpu import open_device as open_device
    from ridgepoint.ceilings.this_host import machine_here as machine_here
    from ridgepoint.core.bound import Bound as Bound
    from ridgepoint.core.bound import bound as bound
    from ridgepoint.core.bound import series as series
    from ridgepoint.core.caution import Caution as Caution
    from ridgepoint.core.counts import Counts as Counts
    from ridgepoint.core.demand import Demand as Demand
    from ridgepoint.core.errors import RidgepointError as RidgepointError
    from ridgepoint.core.estimate import Estimate as Estimate
    from ridgepoint.core.given import GivenPoint as GivenPoint
    from ridgepoint.core.machine import Cache as Cache
    from ridgepoint.core.machine import Ceiling as Ceiling
    from ridgepoint.core.machine import Host as Host
    from ridgepoint.core.machine import Machine as Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster as MeasuredCluster
    from ridgepoint.core.measurement import Measurement as Measurement
    from ridgepoint.core.measurement import Timing as Timing
    from ridgepoint.core.operators import OperatorProfile as OperatorProfile
    from ridgepoint.core.rates import Rates as Rates
    from ridgepoint.core.rates import ideal_machine as ideal_machine
    from ridgepoint.core.table import Table as Table
    from ridgepoint.core.version import __version__ as __version__
    from ridgepoint.demands import formulas as formulas
    from ridgepoint.demands.operators.division import Division as Division
    from ridgepoint.demands.operators.step import model_step as model_step
    from ridgepoint.demands.recommendation import RecommendationModel as RecommendationModel
    from ridgepoint.demands.recommendation import RecommendationStep as RecommendationStep
    from ridgepoint.demands.training import TrainingStep as TrainingStep
    from ridgepoint.demands.transformer import Transformer as Transformer
    from ridgepoint.demands.transformer.passes import Inference as Inference
    from ridgepoint.demands.transformer.training import TransformerStep as TransformerStep
    from ridgepoint.doctor.selftest import selftest as selftest
    from ridgepoint.kept.archive import Archive as Archive
    from ridgepoint.kept.fleet import fleet as fleet
    from ridgepoint.kept.keeping import keep as keep
    from ridgepoint.kept.keeping import kept_records as kept_records
    from ridgepoint.kept.keeping import load as load
    from ridgepoint.kept.pipeline_file import example_pipeline as example_pipeline
    from ridgepoint.kept.pipeline_file import read_pipeline as read_pipeline
    from ridgepoint.kept.points import read_given as read_given
    from ridgepoint.kept.runs import read_runs as read_runs
    from ridgepoint.kept.transfer import export_record as export_record
    from ridgepoint.kept.transfer import import_records as import_records
    from ridgepoint.meters import source as source
    from ridgepoint.meters.callgrind import CallgrindMeter as CallgrindMeter
    from ridgepoint.meters.perf import PerfMeter as PerfMeter
    from ridgepoint.meters.region_times import read_region_times as read_region_times
    from ridgepoint.models import dc_roofline as dc_roofline
    from ridgepoint.models.analysis import Analysis as Analysis
    from ridgepoint.models.analysis import analyse as analyse
    from ridgepoint.models.analysis import place as place
    from ridgepoint.models.comparing import check_gate as check_gate
    from ridgepoint.models.comparing import compare as compare
    from ridgepoint.models.comparing import history_of as history_of
    from ridgepoint.models.derived import with_link as with_link
    from ridgepoint.models.derived import with_network as with_network
    from ridgepoint.models.given_machine import given_machine as given_machine
    from ridgepoint.models.given_points import place_given as place_given
    from ridgepoint.models.operators import analyse_operators as analyse_operators
    from ridgepoint.models.operators.parallel import parallel_plans as parallel_plans
    from ridgepoint.models.operators.parallel import parallel_step as parallel_step
    from ridgepoint.models.operators.stages import operator_stages as operator_stages
    from ridgepoint.models.pipeline import Pipeline as Pipeline
    from ridgepoint.models.pipeline import Stage as Stage
    from ridgepoint.models.pipeline.advice import pipeline_advice as pipeline_advice
    from ridgepoint.models.pipeline.assessment import assess as assess
    from ridgepoint.models.pipeline.sensitivity import sensitivity as sensitivity
    from ridgepoint.models.placement import Placement as Placement
    from ridgepoint.models.ridgeline import Ridgeline as Ridgeline
    from ridgepoint.models.ridgeline.sweep import sweep as sweep
    from ridgepoint.models.ridgeline.trajectories import (
        training_trajectories as training_trajectories,
    )
    from ridgepoint.models.roofline import DCRoofline as DCRoofline
    from ridgepoint.models.roofline import Roofline as Roofline
    from ridgepoint.models.scaling import Problem as Problem
    from ridgepoint.models.scaling import Scaling as Scaling
    from ridgepoint.models.scaling import case_studies as case_studies
    from ridgepoint.models.scaling.fits import fit_rates as fit_rates
    from ridgepoint.models.scaling.law_fits import fit_law as fit_law
    from ridgepoint.models.scaling.placing import sharing_study as sharing_study
    from ridgepoint.models.scaling.sharing import Job as Job
    from ridgepoint.models.scaling.speed_up_laws import amdahl as amdahl
    from ridgepoint.models.scaling.speed_up_laws import gustafson as gustafson
    from ridgepoint.models.scaling.speed_up_laws import usl as usl
    from ridgepoint.models.scaling.study import scaling_study as scaling_study
    from ridgepoint.models.transformer import Serving as Serving
    from ridgepoint.models.transformer.study import serving_study as serving_study
    from ridgepoint.profiling.calls import measure as measure
    from ridgepoint.profiling.calls import measure_all as measure_all
    from ridgepoint.profiling.calls.subject import subject as subject
    from ridgepoint.profiling.calls.watch import measuring as measuring
    from ridgepoint.profiling.operators import operators as operators
    from ridgepoint.profiling.program import measure_program as measure_program
    from ridgepoint.published.machines import open_machine as open_machine
    from ridgepoint.published.perceptrons import perceptron as perceptron
    from ridgepoint.published.perceptrons import recommendation_model as recommendation_model
    from ridgepoint.published.transformers import transformer as transformer
    from ridgepoint.regions import region as region
    from ridgepoint.show import charts as charts
    from ridgepoint.show.page.writing import report as report
    from ridgepoint.show.presenter import plot as plot

    bops = source

__all__ = [*_HOMES]  # noqa: PLE0604 - every name of the table is a string

use_presenter(lambda: import_module("ridgepoint.show.presenter"))

__getattr__ = offered(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
