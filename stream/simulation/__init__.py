"""Simulated traffic: support conversations with known truth, the same for the same seed.

The demo, the tests' oracle, the benchmark and a user's own "does my alert path work?" drill all feed on it.

    content     what is talked about          traffic    the knobs
    corpus      the documents about it        dialogue   one conversation
    users       what users say next           schedule   who speaks when
    answers     how an answer is laid out     arrival    in which state and order it arrives
    responses   what an answer says           malformed  records that cannot be read
    drills      what a drill plants           steady     the benchmark's even traffic
"""

from turnsignal.stream.simulation.arrival import SimulatedRecord, simulate
from turnsignal.stream.simulation.dialogue import SideTruth
from turnsignal.stream.simulation.steady import steady
from turnsignal.stream.simulation.traffic import Regression, Traffic

__all__ = ["Regression", "SideTruth", "SimulatedRecord", "Traffic", "simulate", "steady"]
