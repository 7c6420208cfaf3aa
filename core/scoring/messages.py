"""Logits of every candidate of one target from what surrounds it, for the two-layer GCN.

A deletion at the target `v` or a mask on `x_v` reaches only `v`, its neighbours and the degrees of
the removed ends. The logits of a candidate are therefore the total over all neighbours for its
`r = |S_E ∩ E|`, less the removed neighbours, with a correction where a removed end and a kept
neighbour are tied (a triangle). Notation: `d_u` is degree + 1, `z_u = x_u W1`.

ReLU is positively homogeneous, so with `root = sqrt(d_u (d_v - r))` each message is
`ReLU(a + z_v(S_F)/root) W2 / root = ReLU(a root + z_v(S_F)) W2 / root^2`: a fixed offset, one addition
of the masked feature row, and a weight. The total over neighbours is then, for each hidden unit, a
piecewise linear function of one number, read off sorted offsets and their running sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from core.backbone.gcn import GCNWeights
from core.scoring.deletions import Deletions

BLOCK_ELEMENTS = 1 << 16  # of rows x masks x hidden: 512 KiB of float64 stays in cache
CROWDED_ELEMENTS = 1 << 21


@dataclass(frozen=True, eq=False)
class Surroundings:
    """All that the logits of one target depend on besides its own features and the weights, B times over.

    Of B graphs that agree on what `Deletions` says; their neighbours come in one order, padded at the
    end. `target_degree`: B, `d_v`. `degree`: B x deg, `d_u` of each neighbour, any positive number where
    there is none. `hidden`: B x deg x h, `z_u`, 0 where there is none. `offset`: B x deg x h,
    `Σ_{w ∈ N(u) \\ v ∪ {u}} z_w / sqrt(d_u d_w) + b1`. `present`: B x deg, 1 or 0.
    """

    target_degree: torch.Tensor
    degree: torch.Tensor
    hidden: torch.Tensor
    offset: torch.Tensor
    present: torch.Tensor

    def one(self, place: int) -> Surroundings:
        """Those of one graph, B = 1."""
        part = slice(place, place + 1)
        return Surroundings(
            self.target_degree[part], self.degree[part], self.hidden[part], self.offset[part], self.present[part]
        )


class CandidateLogits:
    """The arithmetic of one frozen GCN on one device; it knows no graph.

    A target costs `O((k_E_max + 1) h (deg + nF) log deg)` plus a term in the number of edge subsets.
    """

    def __init__(self, weights: GCNWeights, device: torch.device, dtype: torch.dtype) -> None:
        self.device = device
        self.dtype = dtype
        self._b1, self._w2, self._b2 = (self._tensor(part) for part in (weights.b1, weights.w2, weights.b2))

    def logits(self, near: Surroundings, resolved: Deletions, masked: torch.Tensor) -> torch.Tensor:
        """Logits of each distinct deletion set and mask set, B x nR x (nF or 1) x C.

        `masked`: the target's hidden features under each mask set, (nF or 1) x h (`masks.masked_rows`).
        """
        members, removed = self._tensor(resolved.members), self._index(resolved.removed)
        slots = self._index(resolved.slots)
        steps = torch.arange(int(resolved.removed.max()) + 1, device=self.device, dtype=self.dtype)
        d_left = near.target_degree[:, None] - steps

        own = near.hidden / torch.sqrt(near.degree)[..., None]
        d_set = d_left[:, removed][..., None]
        offset = (own.sum(dim=1, keepdim=True) - members @ own[:, slots]) * torch.sqrt(d_set) + self._b1 * d_set
        logits = self._messages(offset, 1.0 / d_set[..., 0].square(), masked).add_(self._b2)

        if resolved.crowded:
            for place, mine in enumerate(logits):
                self._add_disturbed_totals(mine, near.one(place), resolved, d_set[place], masked)
            return logits
        roots = torch.sqrt(near.degree[:, None] * d_left[..., None])
        weight = near.present[:, None] / roots.square()
        terms = [self._totals(near.offset[:, None] * roots[..., None], weight, masked)]
        parts = [functional.one_hot(removed, len(steps)).to(self.dtype)]
        for r in range(1, len(steps)):
            root = roots[:, r, slots]
            terms.append(self._messages(near.offset[:, slots] * root[..., None], 1.0 / root.square(), masked))
            parts.append(-members * (removed == r)[:, None])
        if len(resolved.entry_set):
            terms.append(self._triangles(near, resolved, roots, masked))
            disturbed = torch.zeros((len(members), len(resolved.case_place)), dtype=self.dtype, device=self.device)
            disturbed[self._index(resolved.entry_set), self._index(resolved.entry_case)] = 1.0
            parts.append(disturbed)
        return logits.add_((torch.cat(parts, dim=1) @ torch.cat(terms, dim=1).flatten(2)).view_as(logits))

    def sums(self, offset: np.ndarray, weight: np.ndarray, kept: np.ndarray, masked: np.ndarray) -> torch.Tensor:
        """Logits of sets that sum messages under each mask set, R x nF x C.

        `offset`: m x h, `weight`: m, of each message. `kept`: R x m of ones, which ones a set sums. `masked`: nF x h.
        """
        states, weights, sets, rows = (
            torch.from_numpy(part).to(self.device, self.dtype) for part in (offset, weight, kept, masked)
        )
        each = self._messages(states[None], weights[None], rows)[0]
        return (sets @ each.flatten(1)).unflatten(1, each.shape[1:]).add_(self._b2)

    def _messages(self, offset: torch.Tensor, weight: torch.Tensor, masked: torch.Tensor) -> torch.Tensor:
        """`weight ReLU(offset + z_v(S_F)) W2` for B x k rows, B x k x nF x C."""
        rows = offset.flatten(0, 1)
        result = torch.empty((len(rows), len(masked), self._w2.shape[1]), dtype=self.dtype, device=self.device)
        size = max(1, BLOCK_ELEMENTS // masked.numel()) if self.device.type == "cpu" else max(1, len(rows))
        for start in range(0, len(rows), size):
            state = torch.relu_(rows[start : start + size, None] + masked)
            result[start : start + size] = _product(state, self._w2)
        return result.mul_(weight.flatten()[:, None, None]).unflatten(0, offset.shape[:2])

    def _totals(self, offset: torch.Tensor, weight: torch.Tensor, masked: torch.Tensor) -> torch.Tensor:
        """`Σ_u weight_u ReLU(offset_u + z_v(S_F)) W2` over deg neighbours, B x k x nF x C.

        `offset`: B x k x deg x h; `weight`: B x k x deg. Of the offsets sorted downwards, those above
        `-z_v(S_F)` are active: the sum is `Σ weight offset + z_v(S_F) Σ weight` over that prefix.
        """
        columns = offset.flatten(0, 1).transpose(1, 2).contiguous()
        ordered, order = columns.sort(dim=2)
        weights = weight.flatten(0, 1)[:, None].expand(columns.shape).gather(2, order)
        slope = functional.pad(weights.flip(2).cumsum(dim=2), (1, 0))
        level = functional.pad((weights * ordered).flip(2).cumsum(dim=2), (1, 0))
        at = masked.T.expand(len(columns), -1, -1).contiguous()
        active = ordered.shape[2] - torch.searchsorted(ordered, -at, right=True)
        summed = level.gather(2, active) + at * slope.gather(2, active)
        return (summed.transpose(1, 2) @ self._w2).unflatten(0, offset.shape[:2])

    def _add_disturbed_totals(
        self,
        logits: torch.Tensor,
        near: Surroundings,
        resolved: Deletions,
        d_set: torch.Tensor,
        masked: torch.Tensor,
    ) -> None:
        """Add each set's total over the neighbours it keeps, every neighbour with its own shift, to nR x nF x C."""
        base, degree = near.offset[0], near.degree[0]
        slots = self._index(resolved.slots)
        gain, tied = _gain(near, slots)[0], self._tensor(resolved.tied)
        size = max(1, CROWDED_ELEMENTS // (max(len(base), len(masked)) * base.shape[1]))
        for start in range(0, len(logits), size):
            part = slice(start, start + size)
            members = self._tensor(resolved.members[part])
            shift = torch.einsum("sk,kn,kh->snh", members, tied, gain) / torch.sqrt(degree)[:, None]
            root = torch.sqrt(degree * d_set[part])
            kept = near.present.repeat(len(root), 1)
            kept[:, slots] -= members
            logits[part] += self._totals(
                ((base + shift) * root[..., None])[None], (kept / root.square())[None], masked
            )[0]

    def _triangles(
        self, near: Surroundings, resolved: Deletions, roots: torch.Tensor, masked: torch.Tensor
    ) -> torch.Tensor:
        """Change of a kept neighbour's message since tied removed ends lost a degree, B x c x nF x C."""
        place, removed = self._index(resolved.case_place), self._index(resolved.case_removed)
        gain = _gain(near, self._index(resolved.slots))
        shift = (self._tensor(resolved.case_touching) @ gain) / torch.sqrt(near.degree[:, place])[..., None]
        root = roots[:, removed, place]
        weight, base = 1.0 / root.square(), near.offset[:, place]
        before = self._messages(base * root[..., None], weight, masked)
        return self._messages((base + shift) * root[..., None], weight, masked) - before

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(values), dtype=self.dtype, device=self.device)

    def _index(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(values), dtype=torch.int64, device=self.device)


def _gain(near: Surroundings, ends: torch.Tensor) -> torch.Tensor:
    """`z_q (1/sqrt(d_q - 1) - 1/sqrt(d_q))` of each candidate end, B x kX x h: what its ties gain from a cut."""
    degree = near.degree[:, ends]
    return near.hidden[:, ends] * (torch.rsqrt(degree - 1.0) - torch.rsqrt(degree))[..., None]


def _product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """`left @ right`; on the CPU by NumPy, measured six times faster than torch for so narrow a `right`."""
    if left.device.type == "cpu":
        return torch.from_numpy(np.matmul(left.numpy(), right.numpy()))
    return left @ right
