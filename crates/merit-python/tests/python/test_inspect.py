"""Inspect itself, with its model that says what it was told to say: rewards and verifiers of merit as scorers."""

import math

import examples
import guide
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate
from inspect_ai.tool import ToolCall, tool

import merit_rl
from merit_rl.inspect import scorer


def output(text, *calls):
    message = ChatMessageAssistant(content=text, tool_calls=list(calls) or None, model="mockllm/model")
    choice = ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")
    # Without a usage Inspect counts tokens by a vocabulary that it fetches.
    return ModelOutput(model="mockllm/model", choices=[choice], usage=ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2))


def evaluate(tmp_path, judge, said, samples, **task):
    model = get_model("mockllm/model", custom_outputs=said, memoize=False)
    made = Task(dataset=samples, scorer=scorer(judge), **task)
    [log] = eval(made, model=model, display="none", log_dir=str(tmp_path), max_samples=1, max_connections=1)
    assert log.status == "success", log.error
    return log.results.scores[0], [sample.scores["merit_rl/merit"] for sample in log.samples]


def samples(*targets):
    return [Sample(input="6*7?", target=target) for target in targets]


def test_a_reward_is_the_value_and_its_terms_and_evidence_are_beside_it(tmp_path):
    reward = merit_rl.Reward({"type": "sum", "of": [{"type": "maths", "name": "right", "weight": 2.0}, {"type": "ended", "by": "answer"}]})
    result, scores = evaluate(tmp_path, reward, [output("it is 42"), output("41")], samples("42", "42"))
    assert [score.value for score in scores] == [3.0, 1.0]
    assert (result.scored_samples, result.unscored_samples, result.metrics["mean"].value) == (2, 0, 2.0)
    assert scores[0].metadata["terms"] == {"right": 1.0, "ended": 1.0} and scores[0].answer == "it is 42"
    assert scores[0].metadata["evidence"][0]["evidence"] and "right: " in scores[0].explanation


def test_what_has_no_verdict_is_left_unscored_and_moves_no_metric(tmp_path):
    result, scores = evaluate(tmp_path, {"type": "maths"}, [output("42"), output("42")], samples("42", ""))
    assert scores[0].value == 1.0 and math.isnan(scores[1].value) and scores[1].reason == "unscorable"
    assert (result.scored_samples, result.unscored_samples, result.metrics["mean"].value) == (1, 1, 1.0)


def test_a_verifier_is_a_scorer_and_says_whose_doing_it_is(tmp_path):
    said = [output("0.5"), output("I do not know"), output("0.5")]
    result, scores = evaluate(tmp_path, merit_rl.Verifier("maths"), said, samples("1/2", "1/2", "?!"))
    assert [score.value for score in scores[:2]] == [1.0, 0.0] and scores[2].reason == "bad_reference"
    assert scores[0].metadata["detail"]["rule"] and result.unscored_samples == 1


def test_any_of_several_targets_is_right(tmp_path):
    _, scores = evaluate(tmp_path, {"type": "maths"}, [output("6"), output("7")], samples(["6", "-6"], ["6", "-6"]))
    assert [score.value for score in scores] == [1.0, 0.0]


@tool
def calc():
    async def execute(expression: str):
        """Works out an expression.

        Args:
            expression: The expression.
        """
        return merit_rl.Tool("calc").call(expression)[1]

    return execute


def test_a_reward_reads_the_calls_of_the_conversation(tmp_path):
    from inspect_ai.solver import use_tools

    seen = []

    def calls(episode):
        seen.append([call["call"]["tool"] for turn in episode["turns"] for call in turn["calls"]])
        return float(len(seen[-1]))

    reward = merit_rl.Reward({"type": "function", "function": "calls"}, functions={"calls": calls})
    said = [output("", ToolCall(id="1", function="calc", arguments={"expression": "6*7"})), output("42")]
    _, [score] = evaluate(tmp_path, reward, said, samples("42"), solver=[use_tools(calc()), generate()])
    assert seen == [["calc"]] and score.value == 1.0


def test_examples_run():
    examples.run("merit_rl.inspect")


def test_the_program_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide.run("inspect.md", MODEL=get_model("mockllm/model", custom_outputs=[output("42"), output("7")], memoize=False))
