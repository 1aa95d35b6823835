#!/usr/bin/env python3
"""Writes crates/iolab-stats/tests/fixtures/scipy.json: figures of SciPy that crates/iolab-stats is held against.

Needs SciPy and NumPy (any recent release); run from the repository's root. The samples are seeded, so that a second
run gives the same file up to the version field.
"""
import json
import pathlib

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20240607)


def numbers(values):
    return [float(v) for v in values]


def samples():
    """Series with and without ties, trend and step."""
    n = rng.normal
    return {
        "normal": numbers(n(0, 1, 40)),
        "trend": numbers(np.linspace(0, 1, 37) + n(0, 0.4, 37)),
        "step": numbers(np.concatenate([n(0, 1, 15), n(1.5, 1, 25)])),
        "tied": numbers(np.round(n(0, 2, 50))),
        "spikes": numbers(0.01 * n(0, 1, 60) + (rng.random(60) < 0.1) * rng.pareto(1.5, 60)),
        "short": numbers(n(0, 1, 8)),
    }


def mann_kendall(x):
    """S and its tie-corrected variance from their definitions; p without continuity as kendalltau has it."""
    x = np.asarray(x)
    n = len(x)
    s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
    _, t = np.unique(x, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - (t * (t - 1) * (2 * t + 5)).sum()) / 18
    tau = stats.kendalltau(np.arange(n), x, method="asymptotic")
    assert abs(2 * stats.norm.sf(abs(s) / variance**0.5) - tau.pvalue) < 1e-9
    return {"s": float(s), "variance": float(variance), "p_without_continuity": float(tau.pvalue)}


def pettitt(x):
    """U_t from its definition."""
    x = np.asarray(x)
    u = [np.sign(x[:t, None] - x[None, t:]).sum() for t in range(1, len(x))]
    t = int(np.argmax(np.abs(u)))
    return {"k": float(abs(u[t])), "at": t + 1}


def order_interval(n, alpha):
    """Greatest l with 2 P(Bin(n, 1/2) <= l - 1) <= alpha."""
    l = 0
    while 2 * stats.binom.cdf(l, n, 0.5) <= alpha and l < (n + 1) // 2:
        l += 1
    return l


def main():
    series = samples()
    pairs = [("normal", "spikes"), ("tied", "step"), ("trend", "short"), ("tied", "tied")]
    out = {
        "scipy": scipy.__version__,
        "series": series,
        "mann_kendall": {k: mann_kendall(v) for k, v in series.items()},
        "theil_sen": {k: float(stats.theilslopes(v, np.arange(len(v))).slope) for k, v in series.items()},
        "pettitt": {k: pettitt(v) for k, v in series.items()},
        "lag1": {k: float(stats.spearmanr(v[:-1], v[1:]).statistic) for k, v in series.items()},
        "spearman": [],
        "order_interval": [
            {"n": n, "alpha": alpha, "rank": order_interval(n, alpha)}
            for n in [1, 5, 6, 7, 10, 19, 20, 33, 50, 101, 500, 3000]
            for alpha in [0.05, 0.01, 0.05 / 66, 0.05 / 276]
        ],
        "describe": {},
    }
    for a, b in pairs:
        x, y = series[a], series[b]
        m = min(len(x), len(y))
        r = stats.spearmanr(x[:m], y[:m])
        out["spearman"].append({"x": a, "y": b, "rho": float(r.statistic), "p": float(r.pvalue)})
    for k, v in series.items():
        q1, q2, q3 = np.percentile(v, [25, 50, 75])
        out["describe"][k] = {"mean": float(np.mean(v)), "sd": float(np.std(v, ddof=1)), "q1": float(q1),
                              "median": float(q2), "q3": float(q3)}
    path = pathlib.Path("crates/iolab-stats/tests/fixtures/scipy.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(out, indent=1) + "\n")


main()
