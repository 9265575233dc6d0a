"""TRL and verl themselves, on the CPU with a tiny model made on the spot, with merit's rewards, worlds and credit."""

import asyncio
import json
import math
import os
import pathlib
import subprocess
import sys
import types

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
sys.path.insert(0, str(pathlib.Path(os.environ["MERIT_ROOT"]) / "benchmarks" / "peers"))

import datasets  # noqa: E402
import examples  # noqa: E402
import guide  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402
import trainers as tiny  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo import core_algos, ray_trainer  # noqa: E402

import merit_rl  # noqa: E402
import merit_rl.trl  # noqa: E402
import merit_rl.verl as by_merit  # noqa: E402

ROWS = [{"prompt": f"{a}+{b}=", "answer": str(a + b)} for a in range(4) for b in range(4)]


def train(trainer_class, reward, rows=ROWS, tokenizer=None, **more):
    rows = datasets.Dataset.from_list(rows)
    tokenizer = tokenizer or tiny.tokenizer_of(rows)
    longest = more.pop("max_completion_length", 6)
    settings = tiny.settings(num_generations=4, max_completion_length=longest, max_steps=5, per_device_train_batch_size=4)
    trainer = trainer_class(
        model=tiny.model_of(tokenizer),
        reward_funcs=reward,
        args=GRPOConfig(**settings),
        train_dataset=rows,
        processing_class=tokenizer,
        **more,
    )
    steps = trainer.train().global_step
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert steps == 5 and all(math.isfinite(loss) for loss in losses)
    return trainer


def watched(trainer_class, reward):
    """The trainer, and what it learns from: for each batch the scores, the advantages and the tokens that the model wrote."""
    seen = []

    class Watched(trainer_class):
        def _generate_and_score_completions(self, inputs):
            output = super()._generate_and_score_completions(inputs)
            written = output["completion_mask"].bool()
            if output.get("tool_mask") is not None:
                written = written & output["tool_mask"].bool()
            seen.append((reward.last, output["advantages"].clone(), written))
            return output

    return Watched, seen


def test_trl_trains_five_steps_with_a_reward_of_merit():
    func = merit_rl.trl.RewardFunc({"type": "maths"})
    trainer = train(GRPOTrainer, func)
    assert len(func.last) == 4 and all(score.reward in (0.0, 1.0, None) for score in func.last)
    assert any("merit/maths" in entry for entry in trainer.state.log_history)


def test_what_has_no_verdict_moves_nobody_in_trl():
    def some(episode):
        count = len(episode["turns"][-1]["action"].get("text", ""))
        return None if count % 3 == 0 else float(count)

    func = merit_rl.trl.RewardFunc(merit_rl.Reward({"type": "function", "function": "some"}, functions={"some": some}))
    trainer_class, seen = watched(GRPOTrainer, func)
    train(trainer_class, func)
    rewards = [[score.reward for score in scores] for scores, _, _ in seen]
    assert any(None in group for group in rewards), "no group had one without a verdict"
    for group, (_, advantages, _) in zip(rewards, seen):
        judged = [reward for reward in group if reward is not None]
        middle = sum(judged) / len(judged) if judged else 0.0
        for reward, advantage in zip(group, advantages.tolist()):
            if reward is None:
                assert advantage == 0.0
            else:
                assert (advantage > 0) == (reward > middle + 1e-6)


def test_turn_level_credit_of_merit_reaches_the_loss_of_trl():
    func = merit_rl.trl.RewardFunc({"type": "maths"})
    trainer_class, seen = watched(merit_rl.trl.credited(GRPOTrainer, "grpo", func), func)
    train(trainer_class, func)
    assert seen and all(advantages.shape == written.shape for _, advantages, written in seen)


def test_a_message_is_paid_for_the_turns_that_it_called_for():
    call = {"type": "function", "function": {"name": "say", "arguments": {"text": "look"}}}
    wrong = {"type": "function", "function": {"name": "say", "arguments": {"txet": "look"}}}
    tool, last = {"role": "tool", "content": "a box"}, {"role": "assistant", "content": "That was all."}
    completion = [{"role": "assistant", "tool_calls": [call, call]}, tool, tool, {"role": "assistant", "tool_calls": [wrong, call]}, tool, last]
    score = types.SimpleNamespace(turn_rewards=[1.0, 2.0, 4.0])
    assert merit_rl.trl._by_message(score, completion, np.array([True, True, False, True, False, True])) == [3.0, 4.0, 0.0]


def script(world, tokenizer, tasks, stumble="answer 0"):
    """A trainer whose model says what the world's expert would, all by the tool `say`; every other time it begins with `stumble`."""
    experts = {}
    for index in range(tasks):
        task = world.task("train", index)
        shown = world.open(task, seed=index).reset()
        experts["\n".join(message["content"] for message in shown)] = world.demonstrate(task)

    def reply(prompt, member):
        asked = prompt[prompt.index("<|im_start|>user") :]
        lines = next(lines for shown, lines in experts.items() if shown in asked)
        said = asked.count("<tool_call>")
        # Later on those that are over are not among the prompts any more.
        if member % 2 if said == 0 else json.dumps(stumble) in asked:
            lines = [stumble, *lines]
        if '"answer 0"' in asked or said == len(lines):
            return "That was all.<|im_end|>"
        line = lines[said]
        call = json.dumps({"name": "say", "arguments": {"text": line}})
        return f"<tool_call>\n{call}\n</tool_call><|im_end|>"

    class Scripted(GRPOTrainer):
        def _generate_single_turn(self, prompt_ids, *_, **__):
            prompts = [tokenizer.decode(ids) for ids in prompt_ids]
            replies = [reply(prompt, member) for member, prompt in enumerate(prompts)]
            return [tokenizer(one, add_special_tokens=False)["input_ids"] for one in replies], None

    return Scripted


@pytest.mark.parametrize("rule", [None, "grpo"])
def test_trl_plays_a_world_of_merit_by_its_tool(rule):
    world = merit_rl.World("ledger")
    rows = merit_rl.trl.dataset(4)
    tokenizer = qwen(rows)
    func = merit_rl.trl.RewardFunc("ledger-tools")
    scripted = script(world, tokenizer, len(rows))
    trainer_class, seen = watched(scripted if rule is None else merit_rl.trl.credited(scripted, rule, func), func)
    factory = merit_rl.trl.environment(world)
    trainer = train(trainer_class, func, rows, tokenizer, environment_factory=factory, max_completion_length=2000)
    for scores, advantages, written in seen:
        assert [score.outcome for score in scores] == ["solved", "policy wrong"] * 2
        assert not written.all(dim=1).any(), "what the world answered counts as written by the model"
        if rule is None:
            assert (advantages > 0).tolist() == [True, False] * 2
        else:
            assert not advantages[~written].any() and (advantages[0][written[0]] > 0).all() and (advantages[1][written[1]] < 0).all()
    logged = [entry for entry in trainer.state.log_history if "tools/call_frequency" in entry]
    assert logged and all(entry["tools/call_frequency"] > 1 and entry["tools/failure_frequency"] == 0 for entry in logged)


def test_turns_of_one_completion_get_advantages_of_their_own_in_trl():
    """Every second completion looks up what is not there in its first turn: that turn alone is held against it."""
    world = merit_rl.World("ledger")
    rows = merit_rl.trl.dataset(4)
    tokenizer = qwen(rows)
    tried = {"type": "per-turn", "reduce": "sum", "of": {"type": "tool-success"}}
    func = merit_rl.trl.RewardFunc({"type": "sum", "of": [{"type": "exact-answer", "weight": 0.0}, tried]})
    rule = {"type": "turn-groups", "scale_by_std": False, "min_rows": 2}
    scripted = script(world, tokenizer, len(rows), stumble="lookup nothing")
    trainer_class, seen = watched(merit_rl.trl.credited(scripted, rule, func), func)
    factory = merit_rl.trl.environment(world)
    train(trainer_class, func, rows, tokenizer, environment_factory=factory, max_completion_length=2000)
    apart = 0
    for scores, advantages, written in seen:
        for member, (score, given, own) in enumerate(zip(scores, advantages, written)):
            assert score.turn_rewards[0] == (0.0 if member % 2 else 1.0)
            starts = [at for at in range(len(own)) if own[at] and not (at and own[at - 1])]
            turns = [given[at].item() for at in starts]
            # Turn 0: of four members two are paid 1 and two 0.
            assert turns[0] == (-0.5 if member % 2 else 0.5) and len(turns) > 2
            apart += len(set(turns)) > 1
            assert all(given[at] == turns[sum(start <= at for start in starts) - 1] for at in range(len(own)) if own[at])
            assert not given[~own].any()
    assert apart == sum(len(scores) for scores, _, _ in seen)


def test_verl_scores_by_merit_through_its_own_reward_manager():
    from verl.experimental.reward_loop.reward_manager import naive as manager
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    function = {"path": "pkg://merit_rl.verl", "name": "compute_score", "reward_kwargs": {"reward": "final-answer"}}
    config = OmegaConf.create({"reward": {"custom_reward_function": function}})
    tokenizer = tiny.tokenizer_of(ROWS)

    def run(said, right):
        ids = torch.tensor([tokenizer(said, add_special_tokens=False)["input_ids"]])
        tensors = {"responses": ids, "attention_mask": torch.ones_like(ids)}
        others = {"data_source": "sums", "reward_model": {"ground_truth": right}, "extra_info": {"question": "6*7?"}}
        data = DataProto.from_dict(tensors=tensors, non_tensors={key: np.array([one], dtype=object) for key, one in others.items()})

        async def single():
            return await manager.NaiveRewardManager(config, tokenizer, get_custom_reward_fn(config)).run_single(data)

        return asyncio.run(single())

    told = [run(said, "42") for said in ("42", "41", "who knows")]
    assert [one["reward_score"] for one in told] == [1.0, 0.0, 0.0]
    # verl reads every key of the first response off all of them.
    assert len({tuple(one["reward_extra_info"]) for one in told}) == 1 and told[0]["reward_extra_info"]["merit/exact-answer"] == 1.0
    assert [one["reward_extra_info"]["acc"] for one in told] == [1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="no reward for this response of sums"):
        by_merit.compute_score("sums", "42", "", reward='type = "maths"')
    assert by_merit.compute_score("sums", "42", "42", reward='type = "maths"')["acc"] == 1.0


def test_verl_estimates_advantages_by_the_rules_of_merit():
    by_merit.register()
    mask = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    rewards = torch.zeros(4, 4)
    rewards[torch.arange(4), torch.tensor([3, 2, 0, 3])] = torch.tensor([1.0, 0.0, 1.0, 0.0])
    index = np.array(["a", "a", "b", "b"], dtype=object)
    theirs, _ = core_algos.compute_grpo_outcome_advantage(rewards, mask, index)
    ours, _ = core_algos.get_adv_estimator_fn("merit_grpo")(token_level_rewards=rewards, response_mask=mask, index=index)
    assert torch.allclose(ours, theirs, atol=1e-6)
    tensors = {"token_level_rewards": rewards, "response_mask": mask}
    data = ray_trainer.compute_advantage(DataProto.from_dict(tensors=tensors, non_tensors={"uid": index}), "merit_grpo")
    assert torch.allclose(data.batch["advantages"], theirs, atol=1e-6)


def by_verl(estimate, **more):
    """What an estimator makes of two questions with two answers each, the first of two turns that are paid."""
    mask = torch.tensor([[1, 1, 0, 1], [1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]])
    rewards = torch.zeros(4, 4)
    rewards[torch.arange(4), torch.tensor([3, 3, 0, 3])] = torch.tensor([1.0, 0.0, 1.0, 0.0])
    rewards[0, 1] = 0.5
    given, returns = estimate(token_level_rewards=rewards, response_mask=mask, **more)
    assert given.shape == returns.shape == mask.shape and not given[mask == 0].any()
    return given


def test_verl_is_given_the_rules_that_work_with_what_it_hands_over_and_no_others():
    index = np.array(["a", "a", "b", "b"], dtype=object)
    lacks = {
        "gae": "the values of a value head",
        "branch-monte-carlo": "continuations from every turn",
        "tree-monte-carlo": "what branches of a tree earn",
        "checklist-step": "what terms say of turns",
    }
    works = set(merit_rl.names("rules")) - set(lacks)
    assert set(by_merit.register()) == {f"merit_{rule}" for rule in works} and "turn-groups" in works
    registered = {name.removeprefix("merit_") for name in core_algos.ADV_ESTIMATOR_REGISTRY if str(name).startswith("merit_")}
    assert registered == works
    for rule in works:
        given = by_verl(core_algos.get_adv_estimator_fn(f"merit_{rule}"), index=index, config=None)
        assert given.abs().sum() > 0 and torch.isfinite(given).all(), rule
    for rule, why in lacks.items():
        for refused in (lambda: by_merit.register("grpo", rule), lambda: by_merit.estimator(rule), lambda: by_merit.estimator({"type": rule})):
            with pytest.raises(merit_rl.InputError, match=f"the rule `{rule}` learns from {why}, and verl hands .* the rules that work are `grpo`"):
                refused()
    # Settings may ask for more than the rule does by itself.
    for rule, why in (
        ({"type": "keyed-groups", "key": "round"}, "the info `round` of turns"),
        ({"type": "two-level", "annotation": "rubric"}, "the annotation `rubric`"),
    ):
        with pytest.raises(merit_rl.InputError, match=why):
            by_merit.estimator(rule)
    with pytest.raises(merit_rl.InputError, match="did you mean `grpo`"):
        by_merit.register("grop")
    # Without groups nothing can be compared, and 0 everywhere would teach nothing in silence.
    with pytest.raises(merit_rl.InputError, match="verl gave no `index`"):
        by_verl(by_merit.estimator("grpo"))
    assert by_verl(by_merit.estimator("reinforce-plus-plus")).abs().sum() > 0


def test_verl_knows_the_rules_of_merit_in_every_process_that_is_told_so():
    asks = "from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY as known; print('merit_grpo' in known)"
    told = {**os.environ, "VERL_USE_EXTERNAL_MODULES": "merit_rl.verl"}
    assert subprocess.check_output([sys.executable, "-W", "ignore", "-c", asks], env=told, text=True).endswith("True\n")


def test_verl_calls_the_sandbox_as_its_tool(tmp_path):
    from verl.tools import tool_registry as registry

    (tmp_path / "tools.yaml").write_text("tools: [{class_name: merit_rl.verl.MeritSandbox, config: {type: native, seconds: 2}}]")
    [tool] = registry.initialize_tools_from_config(str(tmp_path / "tools.yaml"))
    assert tool.name == "python" and tool.get_openai_tool_schema().function.parameters.required == ["code"]

    async def call(code, trajectory):
        # As verl's agent loop does: an instance for every call.
        instance, _ = await tool.create(create_kwargs={})
        response, reward, told = await tool.execute(instance, {"code": code}, agent_data=trajectory)
        await tool.release(instance)
        return response.text, reward, told["ended"]

    class Trajectory:
        pass

    one, other = Trajectory(), Trajectory()
    assert asyncio.run(call("x = 6 * 7", one))[2] == "ok"
    assert asyncio.run(call("print(x)", one)) == ("42", 0.0, "ok")
    assert "NameError" in asyncio.run(call("print(x)", other))[0]
    assert asyncio.run(call("while True: pass", other))[2] == "timed out"


class Scripted:
    """A server of the model for verl's agent loops: it says what it was told to, and gives every token a log-probability."""

    def __init__(self, tokenizer, says):
        self.tokenizer, self.says, self.asked = tokenizer, says, []

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        from verl.workers.rollout.replica import TokenOutput

        shown = self.tokenizer.decode(prompt_ids)
        self.asked.append((request_id, shown))
        ids = self.tokenizer(self.says(shown) + "<|im_end|>", add_special_tokens=False)["input_ids"]
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields={"max_global_steps": len(self.asked)})


def qwen(rows):
    from trl.chat_template_utils import qwen3_chat_template

    tokenizer = tiny.tokenizer_of([*rows, {"text": qwen3_chat_template}])
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def rollouts(**more):
    """The part of verl's configuration that its agent loops read."""
    from omegaconf import OmegaConf

    turns = {"max_user_turns": None, "max_assistant_turns": None, "max_parallel_calls": 1, "format": "hermes"}
    cut = {"max_tool_response_length": 200, "tool_response_truncate_side": "right"}
    rollout = {"prompt_length": 2048, "response_length": 2048, "full_determinism": False, "multi_turn": {**turns, **cut}, **more}
    return OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}, "data": {}})


def looped(made, config, tokenizer, server, row, **more):
    """What an agent loop of verl makes of a row, made and run as its worker does."""
    from verl.experimental.agent_loop.agent_loop import DictConfigWrap
    from verl.utils.dataset.rl_dataset import RLHFDataset

    async def run():
        wrapped = {"trainer_config": DictConfigWrap(config), "data_config": DictConfigWrap(config.data), "dataset_cls": RLHFDataset}
        loop = made(**wrapped, server_manager=server, tokenizer=tokenizer, processor=None, **more)
        return await loop.run({"temperature": 1.0}, **row)

    return asyncio.run(run())


def written(output, tokenizer):
    """What the model wrote and what it was told after the prompt, by the mask; log-probabilities are the model's alone."""
    parts = []
    for token, own, logprob in zip(output.response_ids, output.response_mask, output.response_logprobs, strict=True):
        assert logprob == (-0.5 if own else 0.0)
        if not parts or parts[-1][0] != own:
            parts.append((own, []))
        parts[-1][1].append(token)
    return [(own, tokenizer.decode(ids)) for own, ids in parts]


def test_verls_agent_loop_plays_with_the_sandbox_to_its_end():
    from verl.experimental.agent_loop import tool_agent_loop as loop
    from verl.experimental.agent_loop.agent_loop import ToolListWrap

    tool = by_merit.MeritSandbox({"type": "native"}, None)
    programs = iter(["x = 6 * 7", "print(x)", None])

    def says(shown):
        program = next(programs)
        if program is None:
            return "It is 42."
        call = json.dumps({"name": "python", "arguments": {"code": program}})
        return f"<tool_call>\n{call}\n</tool_call>"

    tokenizer = qwen([])
    server = Scripted(tokenizer, says)
    row = {"raw_prompt": [{"role": "user", "content": "What is 6 * 7?"}]}
    output = looped(loop.ToolAgentLoop, rollouts(), tokenizer, server, row, tools=ToolListWrap([tool]))
    told = written(output, tokenizer)
    assert [own for own, _ in told] == [1, 0, 1, 0, 1]
    assert "x = 6 * 7" in told[0][1] and "print(x)" in told[2][1] and "It is 42." in told[4][1]
    # What one call defines the next one sees, and the model is told what it printed.
    assert "42" in told[3][1] and "42" not in told[1][1] and "42" in server.asked[2][1]
    assert len({request for request, _ in server.asked}) == 1 and '"python"' in server.asked[0][1]
    assert tokenizer.decode(output.prompt_ids) == server.asked[0][1] and output.num_turns == 6


def says_like_the_expert(world, split, indices, wrong=()):
    """What the world's expert says next in a conversation; `answer 0` for the tasks in `wrong`."""
    experts = {}
    for index in indices:
        task = world.task(split, index)
        shown = world.open(task, seed=index).reset()[-1]["content"]
        experts[shown] = ["answer 0"] if index in wrong else world.demonstrate(task)

    def says(prompt):
        asked = prompt[prompt.rindex("<|im_start|>system") if "<|im_start|>system" in prompt else 0 :]
        lines = next(lines for shown, lines in experts.items() if shown in asked)
        return lines[asked.count("<|im_start|>assistant") - 1]

    return says


def test_an_agent_loop_of_verl_plays_a_world_of_merit():
    from verl.experimental.agent_loop import agent_loop as registry

    import functools

    import hydra

    world = merit_rl.World("ledger")
    tokenizer = qwen(merit_rl.trl.dataset(4))
    server = Scripted(tokenizer, says_like_the_expert(world, "train", range(4), wrong=[3]))
    # As verl's worker reads it from the file that the configuration names.
    settings = {"_target_": "merit_rl.verl.MeritWorldLoop", "world": "ledger", "reward": "ledger-tools"}
    made = functools.partial(hydra.utils.instantiate, settings)

    def run(index, **more):
        row = {"raw_prompt": [{"role": "user", "content": "-"}], "extra_info": {"index": index}}
        return looped(made, rollouts(**more), tokenizer, server, row, tools=registry.ToolListWrap([]))

    for index in range(4):
        output = run(index)
        task = world.task("train", index)
        lines = world.demonstrate(task) if index != 3 else ["answer 0"]
        told = written(output, tokenizer)
        assert [text.removesuffix("<|im_end|>") for own, text in told if own] == lines
        opened = world.open(task, seed=index)
        assert opened.reset()[-1]["content"] in tokenizer.decode(output.prompt_ids)
        observed = [opened.step(line)["messages"] for line in lines]
        assert all(message["content"] in text for (_, text), messages in zip(told[1::2], observed) for message in messages)
        [score] = merit_rl.Reward("ledger-tools").score([opened])
        assert output.reward_score == score.reward and (score.outcome == "solved") == (index != 3)
        assert output.extra_fields["reward_extra_info"]["acc"] == float(index != 3)
        assert output.extra_fields["max_global_steps"] == len(server.asked) and output.num_turns == 2 * len(lines)
    # What is too long is cut, scored as it is, and never longer than verl's tensors.
    cut = run(0, response_length=12)
    assert len(cut.response_ids) == len(cut.response_mask) == len(cut.response_logprobs) <= 12 and cut.extra_fields["reward_extra_info"]["acc"] == 0.0
    with pytest.raises(merit_rl.InputError, match="extra_info.index"):
        looped(made, rollouts(), tokenizer, server, {"raw_prompt": []}, tools=None)
    nobody = {**settings, "reward": 'type = "reported"\nname = "r"'}
    with pytest.raises(merit_rl.MeritError, match="no reward for task 1 of ledger"):
        row = {"raw_prompt": [], "extra_info": {"index": 1}}
        looped(functools.partial(hydra.utils.instantiate, nobody), rollouts(), tokenizer, server, row)


def test_gae_over_numpy_is_verls():
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


def test_the_program_of_the_page_for_trl_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer = tiny.tokenizer_of(ROWS)
    assert guide.run("trl.md", MODEL=tiny.model_of(tokenizer), TOKENIZER=tokenizer)["reward"].last


def test_the_program_of_the_page_for_verl_runs():
    guide.run("verl.md")


def test_examples_run():
    examples.run("merit_rl.trl")
    examples.run("merit_rl.verl")
