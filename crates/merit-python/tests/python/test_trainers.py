"""TRL and verl themselves, on the CPU with a tiny model made on the spot, with merit's rewards, worlds and credit."""

import math
import os
import pathlib
import sys

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
sys.path.insert(0, str(pathlib.Path(os.environ["MERIT_ROOT"]) / "benchmarks" / "peers"))

import datasets  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402
import trainers as tiny  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

import merit_rl  # noqa: E402
import merit_rl.trl  # noqa: E402

ROWS = [{"prompt": f"{a}+{b}=", "answer": str(a + b)} for a in range(4) for b in range(4)]


def train(trainer_class, reward, rows=ROWS, **more):
    rows = datasets.Dataset.from_list(rows)
    tokenizer = tiny.tokenizer_of(rows)
    config = GRPOConfig(**tiny.settings(num_generations=4, max_completion_length=6, max_steps=5, per_device_train_batch_size=4))
    trainer = trainer_class(
        model=tiny.model_of(tokenizer), reward_funcs=reward, args=config, train_dataset=rows, processing_class=tokenizer, **more
    )
    steps = trainer.train().global_step
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert steps == 5 and all(math.isfinite(loss) for loss in losses)
    return trainer


def test_trl_trains_five_steps_with_a_reward_of_merit():
    func = merit_rl.trl.RewardFunc({"type": "maths"})
    trainer = train(GRPOTrainer, func)
    assert len(func.last) == 4 and all(score.reward in (0.0, 1.0, None) for score in func.last)
    assert any("merit/maths" in entry for entry in trainer.state.log_history)


def test_what_has_no_verdict_moves_nobody_in_trl():
    def some(episode):
        return None if len(episode["turns"][-1]["action"].get("text", "")) % 2 else 1.0

    func = merit_rl.trl.RewardFunc(merit_rl.Reward({"type": "function", "function": "some"}, functions={"some": some}))
    train(GRPOTrainer, func)
    assert {score.outcome for score in func.last} <= {"policy wrong", "solved", "unscorable"}


def test_turn_level_credit_of_merit_reaches_the_loss_of_trl():
    func = merit_rl.trl.RewardFunc({"type": "maths"})
    seen = []

    class Watched(merit_rl.trl.credited(GRPOTrainer, "grpo", func)):
        def _generate_and_score_completions(self, inputs):
            output = super()._generate_and_score_completions(inputs)
            seen.append(output["advantages"].shape == output["completion_mask"].shape)
            return output

    train(Watched, func)
    assert seen and all(seen)


def test_verl_scores_and_estimates_by_merit():
    core_algos = pytest.importorskip("verl.trainer.ppo.core_algos")
    import merit_rl.verl as by_merit

    by_merit.register()
    told = by_merit.compute_score("maths", "so 42", "42", {}, reward="final-answer")
    assert told["score"] == 1.0 and told["acc"] == 1.0
    mask = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    rewards = torch.zeros(4, 4)
    rewards[torch.arange(4), torch.tensor([3, 2, 0, 3])] = torch.tensor([1.0, 0.0, 1.0, 0.0])
    index = np.array(["a", "a", "b", "b"], dtype=object)
    theirs, _ = core_algos.compute_grpo_outcome_advantage(rewards, mask, index)
    ours, _ = core_algos.get_adv_estimator_fn("merit_grpo")(token_level_rewards=rewards, response_mask=mask, index=index)
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_gae_over_numpy_is_verls():
    core_algos = pytest.importorskip("verl.trainer.ppo.core_algos")
    random = np.random.default_rng(1)
    mask = random.random((8, 32)) < 0.7
    mask[:, -1] = True
    values = random.standard_normal((8, 32)).astype(np.float32)
    rewards = (random.standard_normal((8, 32)) * mask).astype(np.float32)
    ours, _ = merit_rl.gae(rewards, values, mask, gamma=0.99, lam=0.95, whiten=True)
    theirs, _ = core_algos.compute_gae_advantage_return(
        torch.from_numpy(rewards), torch.from_numpy(values), torch.from_numpy(mask).float(), 0.99, 0.95
    )
    assert np.allclose(ours[mask], theirs.numpy()[mask], atol=2e-4)
