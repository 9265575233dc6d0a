"""Credit over arrays: numbers worked out by hand, and the same rules as under `merit train`."""

import subprocess
import sys

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


ROWS = [[0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 0.0]]
VALUES = [[0.5, 0.25, 9.0, 0.125], [1.0, 9.0, 9.0, 9.0]]


def streams():
    return np.array(ROWS, np.float32), np.array(VALUES, np.float32)


@pytest.mark.parametrize("kind", ["int64", "int32", "int16", "int8", "uint8", "uint64"])
def test_a_mask_of_whole_numbers_is_one_of_truth_values(kind):
    wanted = merit_rl.gae(*streams(), MASK)
    assert np.array_equal(merit_rl.gae(*streams(), MASK.astype(kind)), wanted)
    # In any layout: it is converted anyway.
    assert np.array_equal(merit_rl.gae(*streams(), np.asfortranarray(MASK.astype(kind))), wanted)
    with pytest.raises(InputError, match="holds 2; a mask holds 0 and 1"):
        merit_rl.gae(*streams(), MASK.astype(kind) * 2)


def test_what_would_be_converted_in_silence_is_refused_with_what_to_do():
    rewards, values = streams()
    for kind in ("float64", "float16", "int64"):
        with pytest.raises(InputError, match=rf"`rewards` is {kind} and float32 is read; pass rewards.astype\(numpy.float32\)"):
            merit_rl.gae(rewards.astype(kind), values, MASK)
    with pytest.raises(InputError, match="`mask` is float32.*pass mask != 0"):
        merit_rl.gae(rewards, values, MASK.astype(np.float32))
    with pytest.raises(InputError, match="`mask` has 1 dimensions"):
        merit_rl.gae(rewards, values, MASK[0])
    with pytest.raises(InputError, match="`values` has 0 dimensions"):
        merit_rl.gae(rewards, 7.0, MASK)
    with pytest.raises(InputError, match="`last_values` has 3 entries"):
        merit_rl.gae(rewards, values, MASK, last_values=[0.0] * 3)


def test_a_rule_that_learns_from_more_than_arrays_hold_is_refused_with_what_that_is():
    assert merit_rl.credit_needs("grpo") == {"groups": True, "values": False, "beyond": []}
    assert merit_rl.credit_needs("gae")["values"] and not merit_rl.credit_needs("gae")["groups"]
    # Two turns each: what is paid at the end is compared where both have it.
    mask = np.array([[True, True, False, True]] * 2)
    for rule in merit_rl.names("rules"):
        beyond = merit_rl.credit_needs(rule)["beyond"]
        values = np.zeros(mask.shape, np.float32) if merit_rl.credit_needs(rule)["values"] else None
        if beyond:
            with pytest.raises(InputError, match=f"the rule `{rule}` learns from {beyond[0]}.*, which arrays do not hold; use it in a recipe"):
                merit_rl.advantages(rule, [1.0, 0.0], mask, groups=[0, 0])
        else:
            given, _ = merit_rl.advantages(rule, [1.0, 0.0], mask, groups=[0, 0], values=values)
            assert np.abs(given).sum() > 0, rule
    with pytest.raises(InputError, match="the info `round` of turns"):
        merit_rl.advantages({"type": "keyed-groups", "key": "round"}, [1.0, 0.0], MASK, groups=[0, 0])


class Torn:
    """What fails wherever it is looked at."""

    def __getattr__(self, name):
        raise RuntimeError("torn")


def test_whatever_is_given_an_error_is_one_that_can_be_caught():
    """No input reaches a panic, which no `except Exception` sees."""
    odd = [None, 7, -1, "no", b"no", [], [[]], [None], [1.0, None], [float("nan")], [float("inf"), 1.0], [1e308, -1e308], [0, 2**31], [0, 2**32], [-1, 0]]
    odd += [[1.0] * 5, {"type": "grpo"}, {}, [True, False], np.zeros((0, 0)), np.zeros((2, 2, 2)), np.ones((2, 4), np.float32), MASK, MASK[:, :1], Torn(), object()]
    wanted = (InputError, RuntimeError)
    tried = refused = 0

    def tries(work):
        nonlocal tried, refused
        tried += 1
        try:
            work()
        except wanted:
            refused += 1

    for one in odd:
        tries(lambda: merit_rl.group_advantages(one, [0, 0]))
        tries(lambda: merit_rl.group_advantages([1.0, 0.0], one))
        tries(lambda: merit_rl.group_advantages(one, one))
        tries(lambda: merit_rl.gae(one, np.zeros((2, 4), np.float32), MASK))
        tries(lambda: merit_rl.gae(*streams(), one))
        tries(lambda: merit_rl.gae(*streams(), MASK, last_values=one))
        tries(lambda: merit_rl.advantages("grpo", one, MASK))
        tries(lambda: merit_rl.advantages("turn-groups", [1.0, 0.0], one))
        tries(lambda: merit_rl.advantages("turn-groups", [1.0, 0.0], MASK, turn_rewards=one))
        tries(lambda: merit_rl.advantages("grpo", [1.0, 0.0], MASK, groups=one, truncated=one))
        tries(lambda: merit_rl.coefficients("sft", one, MASK).logprobs)
        tries(lambda: merit_rl.coefficients("sft", np.zeros((2, 4), np.float32), one).logprobs)
    for formula in ("grpo", "mean", "rloo"):
        tries(lambda: merit_rl.group_advantages([], [], formula=formula))
        assert merit_rl.group_advantages([None, None], [1, 1], formula=formula).tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="reward 0 is infinite"):
        merit_rl.group_advantages([float("inf"), 1.0], [0, 0])
    with pytest.raises(InputError, match="`groups` has 1 entries where 2 are needed"):
        merit_rl.group_advantages([1.0, 0.0], [0])
    assert tried > 300 and refused > 150


def test_a_list_of_rows_may_be_ragged_and_comes_back_as_one():
    mask = [np.array([True, True, False, True]), np.array([1])]
    rewards, values = [np.array(row, np.float32)[: len(one)] for row, one in zip(ROWS, mask)], [VALUES[0], VALUES[1][:1]]
    advantages, returns = merit_rl.gae(rewards, values, mask, gamma=0.5, lam=0.5)
    wanted = merit_rl.gae(*streams(), MASK, gamma=0.5, lam=0.5)
    for made, whole in ((advantages, wanted[0]), (returns, wanted[1])):
        assert isinstance(made, list) and [row.shape for row in made] == [(4,), (1,)]
        assert np.array_equal(made[0], whole[0]) and made[1][0] == whole[1, 0]
    made, nothing = merit_rl.advantages("grpo", [1.0, 0.0], mask, groups=[4, 4])
    whole, _ = merit_rl.advantages("grpo", [1.0, 0.0], MASK, groups=[4, 4])
    assert np.array_equal(made[0], whole[0]) and made[1][0] == whole[1, 0] and nothing is None
    told = merit_rl.coefficients("sft", [[-1.0, -2.0, -3.0, -4.0], [-0.5]], mask)
    assert told.loss == 1.875 and [row.tolist() for row in told.logprobs] == [[-0.25, -0.25, 0.0, -0.25], [-0.25]]
    with pytest.raises(InputError, match=r"`values` has the shape 2 rows of \[4, 2\] and the mask 2 rows of \[4, 1\]"):
        merit_rl.gae(rewards, [VALUES[0], VALUES[1][:2]], mask)
    with pytest.raises(InputError, match="row 1 of `mask` has 2 dimensions"):
        merit_rl.gae(rewards, values, [mask[0], MASK])
    empty, _ = merit_rl.gae([[], [1.0]], [[], [0.0]], [[], [True]])
    assert [row.tolist() for row in empty] == [[], [1.0]]


def test_tensors_of_torch_are_read_as_they_are():
    torch = pytest.importorskip("torch")
    rewards, values = map(torch.from_numpy, streams())
    wanted = merit_rl.gae(*streams(), MASK, last_values=[0.5, 0.0])
    for mask in (torch.from_numpy(MASK), torch.from_numpy(MASK).long(), torch.from_numpy(MASK).int()):
        assert np.array_equal(merit_rl.gae(rewards, values, mask, last_values=torch.tensor([0.5, 0.0])), wanted)
    made, _ = merit_rl.advantages("grpo", torch.tensor([1.0, 0.0]), mask, groups=torch.tensor([4, 4]), truncated=torch.tensor([True, False]))
    assert np.array_equal(made, merit_rl.advantages("grpo", [1.0, 0.0], MASK, groups=[4, 4], truncated=[True, False])[0])
    with pytest.raises(InputError, match=r"`rewards` is float64.*rewards.float\(\) of a tensor"):
        merit_rl.gae(rewards.double(), values, mask)
    with pytest.raises(InputError, match="`values` cannot be read as an array.*detach"):
        merit_rl.gae(rewards, values.clone().requires_grad_(), mask)
    with pytest.raises(InputError, match="`values` cannot be read as an array"):
        merit_rl.gae(rewards, values.bfloat16(), mask)
    with pytest.raises(InputError, match="does not lie row by row.*contiguous"):
        merit_rl.gae(rewards.T.contiguous().T, values, mask)
    rows = [rewards[0], rewards[1, :1]], [values[0], values[1, :1]], [torch.from_numpy(MASK[0]), torch.from_numpy(MASK[1, :1])]
    assert np.array_equal(merit_rl.gae(*rows, last_values=[0.5, 0.0])[0][0], wanted[0][0])


def test_what_there_is_for_each_row_may_be_an_array():
    wanted = merit_rl.group_advantages([1.0, 0.0, float("nan")], [7, 7, 7])
    assert np.array_equal(merit_rl.group_advantages(np.array([1.0, 0.0, np.nan], np.float32), np.array([7, 7, 7])), wanted)
    with pytest.raises(InputError, match="`groups` cannot be read.*one for each row"):
        merit_rl.group_advantages([1.0, 0.0], [0.5, 0.5])
    with pytest.raises(InputError, match="`truncated` cannot be read"):
        merit_rl.advantages("grpo", [1.0, 0.0], MASK, truncated=[0.5, 0.5])


GROWN = """
import pathlib, sys
import numpy as np
import merit_rl

def memory(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) * 1024

shape = (256, 1 << 15)
given = [np.ones(shape, np.float32), np.full(shape, 0.5, np.float32), np.ones(shape, bool)]
if sys.argv[1] == "torch":
    import torch
    given = [torch.from_numpy(array) for array in given]
merit_rl.gae(*[array[:1] for array in given])
pathlib.Path("/proc/self/clear_refs").write_text("5")
before = memory("VmRSS")
merit_rl.gae(*[np.asarray(array).copy() for array in given] if sys.argv[2] == "copied" else given)
print((memory("VmHWM") - before) / np.asarray(given[0]).nbytes)
"""


def grown(kind, how):
    """By how many times one array a process of its own was greater at most than before. An allocator keeps what a call before has freed."""
    return float(subprocess.check_output([sys.executable, "-c", GROWN, kind, how]))


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_arrays_are_read_where_they_lie(kind):
    if kind == "torch":
        pytest.importorskip("torch")
    # Two arrays come back; a copy of one that is given would be half as much again.
    assert grown(kind, "in place") < 2.4 < 3.4 < grown(kind, "copied")
