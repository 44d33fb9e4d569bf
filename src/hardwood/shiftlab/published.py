"""Certainty from published figures: conversion of Cohen's kappa, and typical reliabilities with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hardwood._util.arguments import check_numbers
from hardwood._util.arrays import FloatArray
from hardwood._util.errors import ArgumentError, Verbatim
from hardwood._util.types import ColumnLike


@dataclass(frozen=True)
class Reliability:
    """A published reliability of a kind of question.

    Parameters
    ----------
    kind : str
        Kind of question.
    measure : str
        What was compared: "test-retest", "against a measurement" or "against records".
    low, high : float or None
        Range of kappa; equal where there is one figure.
    changed : float or None
        Share of people whose answer changed, where that was published instead of a kappa.
    about : str
        The sample, and when it was asked again.
    source : str
        The publication.
    """

    kind: str
    measure: str
    low: float | None
    high: float | None
    changed: float | None
    about: str
    source: str


_BROWNSON = (
    "Brownson RC, Jackson-Thompson J, Wilkerson JC, Kiani F. Reliability of information on chronic disease risk "
    "factors collected in the Missouri Behavioral Risk Factor Surveillance System. Epidemiology 1994;5(5):545-549"
)
_HUERTA = (
    "Huerta JM, Tormo MJ, Egea-Caparros JM, Ortola-Devesa JB, Navarro C. Accuracy of self-reported diabetes, "
    "hypertension and hyperlipidemia in the adult Spanish population. DINO study findings. Rev Esp Cardiol "
    "2009;62(2):143-152"
)
_MISSOURI = "222 adults by telephone, again after 6 to 30 days"
_MURCIA = "1,556 adults in Murcia, self-report beside a medical examination"
_TEST, _MEASURED, _RECORDS = "test-retest", "against a measurement", "against records"
_ADELAIDE = "154 adults in South Australia, again after 13 to 35 days"
_BMC = "BMC Medical Research Methodology 2012;12:108, doi 10.1186/1471-2288-12-108"

# Every figure is stated in the abstract of its source; figures that could not be found there are left out.
RELIABILITIES = (
    Reliability("demography", _TEST, 0.85, 1.0, None, _MISSOURI, _BROWNSON),
    Reliability("hypertension, told", _TEST, 0.82, 0.82, None, _MISSOURI, _BROWNSON),
    Reliability("smoking now", _TEST, 1.0, 1.0, None, _MISSOURI, _BROWNSON),
    Reliability("smoking now", _TEST, 0.81, 0.81, None, _ADELAIDE, _BMC),
    Reliability("health in general", _TEST, 0.60, 0.60, None, _ADELAIDE, _BMC),
    Reliability("chronic conditions", _TEST, 0.72, 1.0, None, _ADELAIDE, _BMC),
    Reliability(
        "health in general",
        _TEST,
        None,
        None,
        0.40,
        "9,235 adults, NHANES 2005 to 2008, again after about a month",
        "Reliability of self-rated health in US adults. Am J Epidemiol 2011;174(8):977-983, doi 10.1093/aje/kwr204",
    ),
    Reliability(
        "health risks of pupils, 72 questions",
        _TEST,
        0.236,
        0.905,
        None,
        "4,619 pupils, again after about two weeks; mean kappa 0.607",
        "Brener ND, Kann L, McManus T, Kinchen SA, Sundberg EC, Ross JG. Reliability of the 1999 Youth Risk Behavior "
        "Survey Questionnaire. J Adolesc Health 2002;31:336-342, doi 10.1016/S1054-139X(02)00339-7",
    ),
    Reliability(
        "health risks of pupils, mean of 74 questions",
        _TEST,
        0.68,
        0.68,
        None,
        "588 pupils, again after about two weeks",
        "Reliability of the 2021 National Youth Risk Behavior Survey Questionnaire. Am J Health Promot 2024, "
        "doi 10.1177/08901171241239735",
    ),
    Reliability("diabetes, told", _MEASURED, 0.78, 0.78, None, _MURCIA, _HUERTA),
    Reliability("hypertension, told", _MEASURED, 0.51, 0.51, None, _MURCIA, _HUERTA),
    Reliability("high blood lipids, told", _MEASURED, 0.27, 0.27, None, _MURCIA, _HUERTA),
    Reliability(
        "diabetes, hypertension, infarction, stroke, told",
        _RECORDS,
        0.71,
        0.80,
        None,
        "2,037 adults, self-report beside medical records",
        "Okura Y, Urban LH, Mahoney DW, Jacobsen SJ, Rodeheffer RJ. J Clin Epidemiol 2004;57:1096-1103",
    ),
    Reliability(
        "race or Hispanic origin",
        _TEST,
        None,
        None,
        0.061,
        "162 million people in the censuses of 2000 and 2010",
        "Liebler CA, Porter SR, Fernandez LE, Noon JM, Ennis SR. America's churning races. Demography "
        "2017;54(1):259-284, doi 10.1007/s13524-016-0544-0",
    ),
)


def certainty_from_kappa(kappa: float, shares: object, later_shares: object = None) -> float:
    """Compute the certainty of a question whose reliability was published as Cohen's kappa (unweighted).

    The certainty is the agreement, the share of people whose answer is the same:

        agreement = kappa (1 - by_chance) + by_chance,    by_chance = sum over answers of share now * share later

    Parameters
    ----------
    kappa : float
        From -1 to 1.
    shares : sequence or mapping
        Shares of the answers, such as [0.7, 0.3], or their counts.
    later_shares : sequence or mapping, default=None
        Shares of the answers the second time, if they differ.

    Returns
    -------
    certainty : float

    Raises
    ------
    ArgumentError
        If no two measurements with these shares have this kappa.
    """
    value = check_numbers("kappa", kappa)
    if value.ndim != 0 or not -1 <= value <= 1:
        raise ArgumentError("kappa", kappa, "it must lie in [-1, 1]")
    now = _shares("shares", shares)
    later = now if later_shares is None else _shares("later_shares", _in_order_of(shares, later_shares))
    if len(now) != len(later):
        raise ArgumentError("later_shares", Verbatim(f"a list of {len(later)}"), f"expected {len(now)} as in shares")
    by_chance = float(now @ later)
    agreement = float(value) * (1.0 - by_chance) + by_chance
    # The share that gives an answer both times is at most the smaller of its two shares, and at least their excess
    # over 1.
    lowest, highest = float(np.maximum(now + later - 1.0, 0.0).sum()), float(np.minimum(now, later).sum())
    if not lowest - 1e-9 <= agreement <= highest + 1e-9:
        expected = f"with these shares, agreement would be {agreement:.3g}; it lies in [{lowest:.3g}, {highest:.3g}]"
        raise ArgumentError("kappa", float(value), expected)
    return min(max(agreement, lowest), highest)


def _in_order_of(shares: ColumnLike, later: ColumnLike) -> ColumnLike:
    """The later shares in the order of the first, where both name their answers: mappings, or pandas series."""
    if not (hasattr(shares, "keys") and hasattr(later, "keys")):
        return later
    names = list(shares.keys())
    if set(names) != set(later.keys()):
        raise ArgumentError("later_shares", Verbatim(f"about {list(later.keys())}"), f"expected the answers {names}")
    return [later[name] for name in names]


def _shares(argument: str, given: object) -> FloatArray:
    """Shares that add up to 1, from shares or counts."""
    values = list(given.values()) if isinstance(given, Mapping) else given
    shares = np.atleast_1d(check_numbers(argument, values))
    if shares.ndim != 1 or len(shares) < 2 or not ((shares >= 0) & (shares < 1e300)).all() or not shares.any():
        raise ArgumentError(argument, given, "expected a share for each of at least two answers, none negative")
    return np.asarray(shares / shares.sum())
