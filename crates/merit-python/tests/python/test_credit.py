"""Credit over arrays: numbers worked out by hand, and the same rules as under `merit train`."""

import numpy as np
import pytest

import merit_rl
from merit_rl import InputError

MASK = np.array([[True, True, False, True], [True, False, False, False]])


def test_grpo_is_its_formula_on_the_tokens_of_the_mask():
    advantages, returns = merit_rl.advantages("grpo", [1.0, 0.0], MASK, groups=[4, 4])
    # Mean 0.5, unbiased standard deviation 0.7071.
    one = 0.5 / (0.5**0.5 + 1e-6)
    assert np.allclose(advantages, [[one, one, 0, one], [-one, 0, 0, 0]]) and returns is None


def test_an_episode_without_a_verdict_gets_nothing_and_moves_nobody():
    advantages, _ = merit_rl.advantages("grpo", [1.0, 0.0, None], np.vstack([MASK, MASK[:1]]), groups=[0, 0, 0])
    alone, _ = merit_rl.advantages("grpo", [1.0, 0.0], MASK, groups=[0, 0])
    assert np.array_equal(advantages[:2], alone) and not advantages[2].any()
    assert merit_rl.group_advantages([1.0, 0.0, None, float("nan")], [1, 1, 1, 1], formula="rloo").tolist() == [1.0, -1.0, 0.0, 0.0]


def test_gae_skips_what_the_policy_did_not_choose():
    rewards = np.array([[0, 0, 0, 1], [2, 0, 0, 0]], dtype=np.float32)
    values = np.array([[0.5, 0.25, 9, 0.125], [1, 9, 9, 9]], dtype=np.float32)
    advantages, returns = merit_rl.gae(rewards, values, MASK, gamma=0.5, lam=0.5)
    last = 1 - 0.125
    middle = 0.5 * 0.125 - 0.25 + 0.25 * last
    first = 0.5 * 0.25 - 0.5 + 0.25 * middle
    assert np.allclose(advantages, [[first, middle, 0, last], [1, 0, 0, 0]])
    assert np.allclose(returns, [[first + 0.5, middle + 0.25, 0, 1], [2, 0, 0, 0]])
    whitened, _ = merit_rl.gae(rewards, values, MASK, whiten=True)
    assert abs(whitened[MASK].mean()) < 1e-6


def test_a_rule_by_turn_reads_the_turns_off_the_mask():
    mask = np.array([[True, False, True], [True, False, True]])
    paid = [[1.0, 0.0], [0.0, 0.0]]
    by_turn = [name for name in merit_rl.names("rules") if "turn" in name]
    worked = []
    for rule in by_turn:
        try:
            advantages, _ = merit_rl.advantages(rule, [1.0, 0.0], mask, groups=[0, 0], turn_rewards=paid)
        except InputError as error:
            assert "probe" in str(error) or "continuation" in str(error) or "missing" in str(error), (rule, error)
            continue
        assert advantages.shape == mask.shape and not advantages[:, 1].any(), rule
        worked.append(rule)
    assert worked


def test_arrays_that_do_not_fit_are_refused_in_words():
    with pytest.raises(InputError, match="shape"):
        merit_rl.gae(np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32), MASK)
    with pytest.raises(InputError, match="ascontiguousarray"):
        merit_rl.gae(np.zeros((4, 2), np.float32).T, np.zeros((2, 4), np.float32), MASK)
    with pytest.raises(InputError, match="3 entries"):
        merit_rl.advantages("grpo", [1.0, 0.0, 1.0], MASK)
    with pytest.raises(InputError, match="did you mean `grpo`"):
        merit_rl.advantages("grppo", [1.0, 0.0], MASK)
