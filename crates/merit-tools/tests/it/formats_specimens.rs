//! What models really say, good and broken, and what becomes of it.

use merit_core::ToolCall;
use merit_tools::ToolSpec;
use merit_tools::formats::{CALL_FORMATS, CallFormat, MAX_TEXT, call_format};
use serde_json::json;
use std::sync::Arc;

fn cards() -> Vec<ToolSpec> {
    let weather = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string" },
            "days": { "type": "integer", "minimum": 1 },
            "units": { "enum": ["metric", "imperial"] },
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    let nested = json!({ "type": "object", "properties": { "filter": { "type": "object" } } });
    vec![
        ToolSpec::text("calc", "Exact arithmetic.", "expression", "a sum", "1+1"),
        ToolSpec::text("python", "Runs Python.", "code", "a program", "print(1)"),
        ToolSpec::json("get_weather", "The weather.", weather, &json!({ "city": "Oslo" })),
        ToolSpec::json("find", "Finds things.", nested, &json!({ "filter": {} })),
    ]
}

fn format(name: &str) -> Arc<dyn CallFormat> {
    call_format(name).unwrap().component()
}

/// What is expected of a specimen.
enum Means {
    /// Said, then calls as (tool, input).
    Calls(&'static str, &'static [(&'static str, &'static str)]),
    /// No call: all of it is text.
    Text,
    /// Malformed, with this in the words.
    Bad(&'static str),
}
use Means::{Bad, Calls, Text};

fn check(name: &str, specimens: &[(&str, Means)]) {
    let (format, cards) = (format(name), cards());
    for (said, means) in specimens {
        let parsed = format.parse(said, &cards);
        match means {
            Calls(text, calls) => {
                let call =
                    |(tool, input): &(&str, &str)| ToolCall { tool: (*tool).into(), input: (*input).into() };
                let turn = parsed.unwrap_or_else(|error| panic!("{said:?}: {error}"));
                assert_eq!(turn.calls, calls.iter().map(call).collect::<Vec<_>>(), "{said:?}");
                assert_eq!(turn.said, *text, "{said:?}");
            }
            Text => {
                let turn = parsed.unwrap_or_else(|error| panic!("{said:?}: {error}"));
                assert_eq!((turn.said.as_str(), turn.calls.len()), (said.trim(), 0), "{said:?}");
            }
            Bad(why) => {
                let error = parsed.expect_err(said).why;
                assert!(error.contains(why), "{said:?} is answered {error:?}");
                assert!(error.len() <= MAX_TEXT, "{} bytes: {error}", error.len());
            }
        }
    }
}

const OSLO: (&str, &str) = ("get_weather", r#"{"city":"Oslo"}"#);
const SUM: (&str, &str) = ("calc", "3*47");

#[test]
fn hermes_and_qwen() {
    check(
        "hermes",
        &[
            ("The sum is 141.", Text),
            (r#"An answer: {"name": "Ada", "arguments": {}}"#, Text),
            (
                "<tool_call>\n{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*47\"}}\n</tool_call>",
                Calls("", &[SUM]),
            ),
            (
                "First this.\n<tool_call>{\"name\":\"calc\",\"arguments\":{\"expression\":\"3*47\"}}</tool_call>\n\
                 <tool_call>\n{\"arguments\": {\"city\": \"Oslo\"}, \"name\": \"get_weather\"}\n</tool_call><|im_end|>",
                Calls("First this.", &[SUM, OSLO]),
            ),
            // A tag inside a string is part of the string.
            (
                r#"<tool_call>{"name": "calc", "arguments": {"expression": "a </tool_call> b"}}</tool_call>"#,
                Calls("", &[("calc", "a </tool_call> b")]),
            ),
            // Arguments encoded twice, and none at all.
            (
                r#"<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}</tool_call>"#,
                Calls("", &[OSLO]),
            ),
            (r#"<tool_call>{"name": "find", "arguments": ""}</tool_call>"#, Calls("", &[("find", "{}")])),
            (r#"<tool_call>{"name": "find", "arguments": null}</tool_call>"#, Calls("", &[("find", "{}")])),
            // A Python dictionary, a trailing comma, Python's words, a raw line break: each means one thing.
            (
                "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Oslo', 'days': 2,},}</tool_call>",
                Calls("", &[("get_weather", r#"{"city":"Oslo","days":2}"#)]),
            ),
            (
                "<tool_call>{\"name\": \"find\", \"arguments\": {\"filter\": {\"old\": True, \"by\": None}}}</tool_call>",
                Calls("", &[("find", r#"{"filter":{"by":null,"old":true}}"#)]),
            ),
            (
                "<tool_call>{\"name\": \"python\", \"arguments\": {\"code\": \"a = 1\n\tprint(a)\"}}</tool_call>",
                Calls("", &[("python", "a = 1\n\tprint(a)")]),
            ),
            // What the thought considers is not called.
            (
                "<think>\nI could say <tool_call>{}</tool_call>.\n</think>\n\n<tool_call>{\"name\": \"calc\", \
                 \"arguments\": {\"expression\": \"3*47\"}}</tool_call>",
                Calls("<think>\nI could say <tool_call>{}</tool_call>.\n</think>", &[SUM]),
            ),
            ("<think>on and on", Bad("`<think>` is not closed")),
            // An unknown tool is for the engine to refuse; its number is of no matter.
            (
                r#"<tool_call>{"id": 7, "name": "clac", "parameters": {"b": 1, "a": 2}}</tool_call>"#,
                Calls("", &[("clac", r#"{"a":2,"b":1}"#)]),
            ),
            // The model goes on to answer itself.
            (
                "<tool_call>{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*47\"}}</tool_call>\n<tool_response>",
                Calls("", &[SUM]),
            ),
            (
                "<tool_call>{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*47\"}}",
                Bad("`</tool_call>` is missing"),
            ),
            (
                "<tool_call>{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*4",
                Bad("a string is not closed"),
            ),
            (
                "<tool_call>{\"name\": \"calc\", \"arguments\": {\"expression\": \"3\"",
                Bad("the text ends there"),
            ),
            ("<tool_call></tool_call>", Bad("a value is missing")),
            ("<tool_call>calc(3*47)</tool_call>", Bad("a name is no value")),
            ("<tool_call>[]</tool_call>", Bad("a call is a JSON object")),
            ("{\"name\": \"calc\", \"arguments\": {}}\n</tool_call>", Bad("closes nothing")),
            (
                r#"<tool_call>{"name": "find", "arguments": {}} {"name": "find", "arguments": {}}</tool_call>"#,
                Bad("one JSON object, then"),
            ),
            (
                r#"<tool_call>{"name": "calc", "arguments": ["3*47"]}</tool_call>"#,
                Bad("the arguments are an array"),
            ),
            (
                r#"<tool_call>{"name": "calc", "arguments": "3*47"}</tool_call>"#,
                Bad("the arguments are a string"),
            ),
            (r#"<tool_call>{"name": "calc", "expression": "3*47"}</tool_call>"#, Bad("has no `arguments`")),
            (
                r#"<tool_call>{"name": "calc", "arguments": {}, "expression": "1"}</tool_call>"#,
                Bad("`expression` does not belong beside the name"),
            ),
            (r#"<tool_call>{"arguments": {}}</tool_call>"#, Bad("has no `name`")),
            (r#"<tool_call>{"name": ["calc"], "arguments": {}}</tool_call>"#, Bad("the name of a tool")),
            (
                r#"<tool_call>{"name": "calc", "arguments": {"expresion": "1"}}</tool_call>"#,
                Bad("`expression`"),
            ),
            (
                r#"<tool_call>{"name": "get_weather", "arguments": {"city": 3}}</tool_call>"#,
                Bad("argument `city`"),
            ),
            (
                r#"<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>"#,
                Bad("argument `city` is missing"),
            ),
            (
                r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "day": 1}}</tool_call>"#,
                Bad("unknown argument `day`; did you mean `days`?"),
            ),
            (
                r#"<tool_call>{"name": "calc", "name": "find", "arguments": {}}</tool_call>"#,
                Bad("written twice"),
            ),
            (r#"<tool_call>{name: "calc"}</tool_call>"#, Bad("a key in quotes is missing at `name:")),
            (r#"<tool_call>{"name": "calc" "arguments": {}}</tool_call>"#, Bad("a `,` or `}` is missing")),
            (
                r#"<tool_call>{"name": "calc", "arguments": {"expression": "\d"}}</tool_call>"#,
                Bad("no such escape"),
            ),
        ],
    );
}

#[test]
fn llama_as_json() {
    check(
        "llama3-json",
        &[
            ("Oslo is cold.", Text),
            (r#"{"name": "Ada", "age": 36}"#, Text),
            (r#"{"city": "Oslo"}"#, Text),
            ("{not json at all", Text),
            (r#"He wrote {"name": "calc", "parameters": {"expression": "1"}} once."#, Text),
            (r#"{"name": "calc", "parameters": {"expression": "3*47"}}"#, Calls("", &[SUM])),
            (
                r#"{"type": "function", "name": "calc", "parameters": {"expression": "3*47"}}"#,
                Calls("", &[SUM]),
            ),
            (
                r#"<|python_tag|>{"name": "calc", "parameters": {"expression": "3*47"}}<|eom_id|>"#,
                Calls("", &[SUM]),
            ),
            (
                "I will look.\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}; \
                 {\"name\": \"calc\", \"parameters\": {\"expression\": \"3*47\"}};",
                Calls("I will look.", &[OSLO, SUM]),
            ),
            (
                r#"{"name": "find", "parameters": {"filter": {"a": {"b": {"c": ";}{"}}}}}"#,
                Calls("", &[("find", r#"{"filter":{"a":{"b":{"c":";}{"}}}}"#)]),
            ),
            (r#"{"name": "calc"}"#, Bad("has no `arguments`")),
            (r#"{"name": "calc", "parameters": {"expression": "3*47""#, Bad("bad JSON")),
            (r#"{"name": "calc", "parameters": {"expression": "1"}}; {"name""#, Bad("bad JSON")),
            ("<|python_tag|>print(1)", Bad("a name is no value")),
        ],
    );
}

#[test]
fn python_lists() {
    check(
        "pythonic",
        &[
            ("[1, 2, 3]", Text),
            ("[note] see (1)", Text),
            ("See [calc(expression='1')] there.", Text),
            ("[calc(expression=\"3*47\")]", Calls("", &[SUM])),
            ("[calc('3*47')]", Calls("", &[SUM])),
            ("<|python_start|>[calc(expression='3*47')]<|python_end|>", Calls("", &[SUM])),
            (
                "So:\n[get_weather(city=\"Oslo\"),\n calc(expression='3*47',),]<|eot_id|>",
                Calls("So:", &[OSLO, SUM]),
            ),
            (
                r#"[find(filter={'a': (1, -2.5), "b": [True, None, 'it\'s, ]'], 'c': r'\d'})]"#,
                Calls("", &[("find", r#"{"filter":{"a":[1,-2.5],"b":[true,null,"it's, ]"],"c":"\\d"}}"#)]),
            ),
            ("[python(code='''a = \"1\"\nprint(a)''')]", Calls("", &[("python", "a = \"1\"\nprint(a)")])),
            ("[mail.send-now(from=1, **{'to': 2})]", Calls("", &[("mail.send-now", r#"{"from":1,"to":2}"#)])),
            ("[find()]", Calls("", &[("find", "{}")])),
            ("calc(expression='3*47')", Bad("calls stand in a list; write [calc(expression=")),
            ("[calc(expression=x)]", Bad("a name is no value")),
            ("[calc(expression=f'{x}')]", Bad("a name is no value")),
            ("[calc(expression='3*47'", Bad("a `,` or `)` is missing")),
            ("[calc(expression='3*47')", Bad("a `,` or `]` must follow")),
            ("[calc(expression='1') calc(expression='2')]", Bad("a `,` or `]` must follow")),
            ("[get_weather('Oslo', 2)]", Bad("arguments need their names")),
            ("[get_weather(city='Oslo', city='Rome')]", Bad("given twice")),
            ("[get_weather(city='Oslo', days=0)]", Bad("argument `days`")),
            ("[calc(expression=1 + 1)]", Bad("a `,` or `)` is missing")),
            ("[calc(__import__('os').system('ls'))]", Bad("a name is no value")),
        ],
    );
}

#[test]
fn mistral_old_and_new() {
    check(
        "mistral",
        &[
            ("Oslo is cold.", Text),
            (r#"[TOOL_CALLS] [{"name": "calc", "arguments": {"expression": "3*47"}}]"#, Calls("", &[SUM])),
            (
                r#"[TOOL_CALLS][{"name":"calc","arguments":"{\"expression\":\"3*47\"}","id":"a1b2c3d4e"},{"name":"get_weather","arguments":{"city":"Oslo"}}]</s>"#,
                Calls("", &[SUM, OSLO]),
            ),
            (r#"[TOOL_CALLS]{"name": "calc", "arguments": {"expression": "3*47"}}"#, Calls("", &[SUM])),
            (r#"[TOOL_CALLS]calc{"expression": "3*47"}"#, Calls("", &[SUM])),
            (
                r#"Wait. [TOOL_CALLS]calc[CALL_ID]a1b2c3d4e[ARGS]{"expression": "3*47"}[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"} and so on"#,
                Calls("Wait.  and so on", &[SUM, OSLO]),
            ),
            (
                r#"[TOOL_CALLS] [{"name": "calc", "arguments": {"expression": "[TOOL_CALLS]"}}]"#,
                Calls("", &[("calc", "[TOOL_CALLS]")]),
            ),
            ("[TOOL_CALLS]", Bad("followed by no call")),
            ("[TOOL_CALLS] []", Bad("the list of calls is empty")),
            ("[TOOL_CALLS] [calc]", Bad("a name is no value")),
            ("[TOOL_CALLS]calc(3*47)", Bad("must be followed by its arguments")),
            (
                r#"[TOOL_CALLS] [{"name": "calc", "arguments": {"expression": "3*47"}}"#,
                Bad("a `,` or `]` is missing"),
            ),
            (r#"[TOOL_CALLS]calc[ARGS]{"expr": "3*47"}"#, Bad("unknown argument `expr`")),
        ],
    );
}

#[test]
fn fenced_code() {
    check(
        "fenced",
        &[
            ("Use `print(1)`.", Text),
            ("It is\n```rust\nfn main() {}\n```\nas you see.", Text),
            ("```json\n{\"city\": \"Oslo\"}\n```", Text),
            ("```\nprint(1)\n```", Text),
            ("Now:\n```python\nprint(1)\n```\nThen.", Calls("Now:\n\nThen.", &[("python", "print(1)")])),
            ("```py\nprint('```')\n```\n```output", Calls("", &[("python", "print('```')")])),
            ("````python\n```\nx\n```\n````", Calls("", &[("python", "```\nx\n```")])),
            ("```calc\n3*47\n```\n```get_weather\n{\"city\": \"Oslo\"}\n```", Calls("", &[SUM, OSLO])),
            (
                "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```",
                Calls("", &[OSLO]),
            ),
            ("```python\nprint(1)", Bad("not closed by a line of backticks")),
            ("```json\n{\"name\": \"calc\", \"arguments\": {\"expression\": 1\n```", Bad("bad JSON")),
            ("```get_weather\nOslo\n```", Bad("a name is no value")),
        ],
    );
}

#[test]
fn code_in_tags() {
    check(
        "code-tags",
        &[
            ("The answer is 7.", Text),
            ("Let me see.\n<code>\nprint(1)\n</code>", Calls("Let me see.", &[("python", "print(1)")])),
            ("<code>\n```python\nprint(1)\n```\n</code>", Calls("", &[("python", "print(1)")])),
            ("<code>```py\nprint(1)\n```</code>", Calls("", &[("python", "print(1)")])),
            ("<code>```py\nprint('</code>')\n```\n</code>", Calls("", &[("python", "print('</code>')")])),
            (
                "<code>print(1)</code> <code>print(2)</code>",
                Calls("", &[("python", "print(1)"), ("python", "print(2)")]),
            ),
            ("<code>print(1)", Bad("`</code>` is missing; write <code>")),
            ("<code> </code>", Bad("no code between the tags")),
            ("print(1)</code>", Bad("closes nothing")),
        ],
    );
}

#[test]
fn any_of_them() {
    check(
        "auto",
        &[
            ("Oslo is cold.", Text),
            (
                "<tool_call>{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*47\"}}</tool_call>",
                Calls("", &[SUM]),
            ),
            (r#"{"name": "calc", "parameters": {"expression": "3*47"}}"#, Calls("", &[SUM])),
            ("[calc(expression='3*47')]", Calls("", &[SUM])),
            (r#"[TOOL_CALLS]calc[ARGS]{"expression": "3*47"}"#, Calls("", &[SUM])),
            ("```calc\n3*47\n```", Calls("", &[SUM])),
            ("<code>print(1)</code>", Calls("", &[("python", "print(1)")])),
            // Another format's mark inside a call is just a string.
            (r#"[TOOL_CALLS]calc[ARGS]{"expression": "<tool_call>"}"#, Calls("", &[("calc", "<tool_call>")])),
            ("```python\nx = '<tool_call>'\n```", Calls("", &[("python", "x = '<tool_call>'")])),
            (
                "[calc(expression='3*47')]\n```calc\n1\n```",
                Bad("calls in two formats, `pythonic` and `fenced`"),
            ),
            ("<tool_call>{}", Bad("`</tool_call>` is missing")),
        ],
    );
}

#[test]
fn the_same_call_is_recorded_the_same_in_every_format() {
    let cards = cards();
    let call = ToolCall { tool: "get_weather".into(), input: r#"{"city":"Oslo","days":2}"#.into() };
    for entry in CALL_FORMATS.iter().filter(|entry| entry.about.name != "code-tags") {
        let format = call_format(entry.about.name).unwrap();
        let turn = format.parse(&format.write(std::slice::from_ref(&call), &cards), &cards).unwrap();
        assert_eq!(turn.calls, std::slice::from_ref(&call), "{}", entry.about.name);
    }
}
