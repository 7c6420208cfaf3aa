"""The rows of the comparison, in the order of the table."""

from __future__ import annotations

from core.baselines.cfgnn import CFGNNExplainer, CFGNNOverUniverse
from core.baselines.dummy import PublicOnly, RandomCandidate
from core.baselines.exponential import GuidedPrivCFS, PrivCFS
from core.baselines.graph_level import GraphGaussian, GraphGaussianClassical, GraphLaplace, GraphRR
from core.baselines.method import Method
from core.baselines.optimum import Optimum, UnrestrictedOptimum
from core.baselines.privcf_out import PrivCFOut
from core.baselines.privcf_sgd import PrivCFSGD
from core.baselines.rr_bits import RRBits
from core.errors import BadInput


def suite() -> tuple[Method, ...]:
    """Every baseline with its default settings: PrivCFS, its private rivals, graph level, and no privacy."""
    return (
        PrivCFS(),
        GuidedPrivCFS(),
        PrivCFSGD(),
        RRBits(),
        PrivCFOut(),
        GraphGaussian(),
        GraphGaussianClassical(),
        GraphLaplace(),
        GraphRR(),
        PublicOnly(),
        RandomCandidate(),
        Optimum(),
        UnrestrictedOptimum(),
        CFGNNExplainer(),
        CFGNNOverUniverse(),
    )


def method(name: str) -> Method:
    """The baseline of that name; raises `BadInput` with the known ones."""
    methods = {method.name: method for method in suite()}
    if name not in methods:
        raise BadInput.choice("method", name, methods)
    return methods[name]
