"""Objectives over arrays: numbers worked out by hand, and the gradients that torch finds for the same formulas."""

import numpy as np
import pytest

import merit_rl
from merit_rl import InputError, coefficients

MASK = np.array([[True, True, False, True], [False, True, True, False]])
TOKENS = int(MASK.sum())


def stream(seed, low=-2.0, high=-0.1):
    return np.random.default_rng(seed).uniform(low, high, MASK.shape).astype(np.float32)


NEW, OLD, REFERENCE, ADVANTAGES = stream(1), stream(2), stream(3), stream(4, -2.0, 2.0)


def test_a_clipped_token_has_no_gradient_and_the_others_have_ratio_times_advantage():
    old = np.full((1, 4), -1.0, np.float32)
    ratios = np.array([[1.0, 1.5, 1.5, 0.5]])
    new = (old + np.log(ratios)).astype(np.float32)
    advantages = np.array([[2.0, 2.0, -2.0, -2.0]], np.float32)
    told = coefficients(
        {"type": "policy-gradient", "clip_low": 0.2, "clip_high": 0.3}, new, np.ones((1, 4), bool), old_logprobs=old, advantages=advantages
    )
    # -2, -2.6 (clipped), 3, 1.6 (clipped), and their mean.
    assert told.loss == pytest.approx((-2.0 - 2.6 + 3.0 + 1.6) / 4, abs=1e-6) and told.clipped == 0.5
    assert np.allclose(told.logprobs, [[-0.5, 0.0, 0.75, 0.0]], atol=1e-6)


def test_gspo_has_one_ratio_for_a_sequence():
    told = coefficients({"type": "gspo", "clip_low": 1.0, "clip_high": 9.0}, NEW, MASK, old_logprobs=OLD, advantages=ADVANTAGES)
    wanted = np.zeros(MASK.shape)
    losses = []
    for row, mask in enumerate(MASK):
        ratio = np.exp((NEW[row] - OLD[row])[mask].mean())
        losses.append(-ratio * ADVANTAGES[row][mask].mean())
        # The mean over two sequences, each the mean over its tokens.
        wanted[row][mask] = losses[-1] / mask.sum() / 2
    assert told.loss == pytest.approx(np.mean(losses), abs=1e-5) and np.allclose(told.logprobs, wanted, atol=1e-5)


def test_a_pair_is_pulled_apart_by_its_margin():
    told = coefficients({"type": "dpo", "beta": 0.5}, NEW, MASK, reference=REFERENCE, rewards=[0.0, 1.0], groups=[3, 3])
    worst, best = (float((NEW - REFERENCE)[row][MASK[row]].sum()) for row in (0, 1))
    margin = 0.5 * (best - worst)
    slope = 0.5 / (1 + np.exp(margin))
    assert told.loss == pytest.approx(np.log1p(np.exp(-margin)), abs=1e-5)
    assert np.allclose(told.logprobs, np.where(MASK, [[slope], [-slope]], 0.0), atol=1e-5)


def test_aggregations_scale_the_same_losses():
    def told(**more):
        return coefficients("policy-gradient", OLD, MASK, old_logprobs=OLD, advantages=ADVANTAGES, **more).logprobs

    assert np.allclose(told(), np.where(MASK, -ADVANTAGES / TOKENS, 0), atol=1e-6)
    assert np.allclose(told(loss_agg="sequence"), np.where(MASK, -ADVANTAGES / (2 * MASK.sum(1, keepdims=True)), 0), atol=1e-6)
    assert np.allclose(told(loss_agg={"type": "constant", "length": 8}), np.where(MASK, -ADVANTAGES / 16, 0), atol=1e-6)


def test_a_row_without_a_reward_is_left_out_of_the_mean():
    whole = coefficients("sft", NEW, MASK, rewards=[1.0, None])
    alone = coefficients("sft", NEW[:1], MASK[:1])
    assert whole.loss == alone.loss and np.array_equal(whole.logprobs[:1], alone.logprobs) and not whole.logprobs[1].any()


def test_every_objective_works_with_what_it_needs_and_names_what_is_missing():
    streams = {"old_logprobs": NEW, "advantages": ADVANTAGES, "reference": REFERENCE}
    rows = {"rewards": [0.0, 1.0], "groups": [0, 0], "mismatched": [0.1, -0.2]}
    for name in merit_rl.names("objectives"):
        told = coefficients(name, NEW, MASK, **streams, **rows)
        assert np.isfinite(told.loss) and told.logprobs[MASK].any() and not told.logprobs[~MASK].any(), name
        assert told.loss == pytest.approx(sum(told.parts.values()))
    assert {"token", "sequence"} <= set(merit_rl.names("aggregations"))
    for name, missing in {"policy-gradient": "old_logprobs", "dpo": "reference", "kto": "mismatched"}.items():
        with pytest.raises(InputError, match=f"`{name}` needs `{missing}`"):
            coefficients(name, NEW, MASK, rewards=[0.0, 1.0], groups=[0, 0])
    with pytest.raises(InputError, match="did you mean `gspo`"):
        coefficients("gpso", NEW, MASK)
    with pytest.raises(InputError, match="row 1: `advantages` is NaN at token 2"):
        bad = ADVANTAGES.copy()
        bad[1, 2] = np.nan
        coefficients("policy-gradient", NEW, MASK, old_logprobs=OLD, advantages=bad)
    with pytest.raises(InputError, match="leave `loss_agg` out"):
        coefficients("gspo", NEW, MASK, loss_agg="sequence", **streams)


def test_guests_are_learned_from_without_a_ratio_to_what_they_gave():
    told = coefficients("mixed-policy", NEW, MASK, old_logprobs=OLD, advantages=ADVANTAGES, guests=[False, True])
    assert np.allclose(told.logprobs[1], np.where(MASK[1], -np.exp(NEW[1]) * ADVANTAGES[1] / TOKENS, 0), atol=1e-6)


def test_torch_finds_the_same_gradients():
    torch = pytest.importorskip("torch")
    mask, old, reference, advantages = (torch.from_numpy(array) for array in (MASK, OLD, REFERENCE, ADVANTAGES))
    new = torch.from_numpy(NEW.copy()).double().requires_grad_()
    ratio = (new - old).exp()
    surrogate = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.3) * advantages)
    apart = new - reference
    loss = ((surrogate + 0.1 * ((-apart).exp() + apart - 1)) * mask).sum() / mask.sum()
    loss.backward()
    objective = {"type": "policy-gradient", "clip_low": 0.2, "clip_high": 0.3, "kl": {"coefficient": 0.1, "estimator": "k3"}}
    told = coefficients(objective, NEW, MASK, old_logprobs=OLD, advantages=ADVANTAGES, reference=REFERENCE)
    assert told.loss == pytest.approx(loss.item(), abs=1e-5)
    assert np.allclose(told.logprobs, new.grad.numpy(), atol=1e-6)
    # And the coefficients, given to torch, are the gradient of a model behind the log-probabilities.
    again = torch.from_numpy(NEW.copy()).requires_grad_()
    (torch.from_numpy(told.logprobs) * again).sum().backward()
    assert np.array_equal(again.grad.numpy(), told.logprobs)
