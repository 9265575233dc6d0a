//! Chat templates: the texts of the usual formats, and limits on templates that misbehave.

use crate::support::{CHATML, GEMMA, LLAMA3, QWEN_TOOLS, template};
use merit_text::{
    CalledFunction, ChatMessage, ChatTemplate, ChatTool, SpecialTokens, TemplateContext, TemplateError,
};
use serde_json::json;

fn conversation(turns: &[(&str, &str)]) -> Vec<ChatMessage> {
    turns.iter().map(|(role, text)| ChatMessage::new(*role, *text)).collect()
}

#[track_caller]
fn check(source: &str, turns: &[(&str, &str)], generate: bool, want: &str) {
    let text = template(source).render(&conversation(turns), &TemplateContext::default(), generate).unwrap();
    assert_eq!(text, want);
}

#[test]
fn chatml_puts_in_its_own_system_message_where_there_is_none() {
    let system = "<|im_start|>system\nYou answer test questions.<|im_end|>\n";
    check(
        CHATML,
        &[("user", "hi")],
        true,
        &format!("{system}<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"),
    );
    check(
        CHATML,
        &[("system", "Be brief."), ("user", "<b>&\"hi\"")],
        false,
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<b>&\"hi\"<|im_end|>\n",
    );
}

#[test]
fn llama_headers_are_dated_and_trimmed() {
    let want = |date: &str| {
        format!(
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday: {date}\n\nBe brief.<|eot_id|>\
             <|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
        )
    };
    let messages = conversation(&[("system", " Be brief.\n"), ("user", "\n hi ")]);
    let render = |setting: &TemplateContext| template(LLAMA3).render(&messages, setting, true).unwrap();
    assert_eq!(render(&TemplateContext::default()), want("26 Jul 2024"), "no clock, no date of ours");
    assert_eq!(render(&TemplateContext { now: Some(0), ..TemplateContext::default() }), want("01 Jan 1970"));
    let mut setting = TemplateContext::default();
    setting.variables.insert("date_string".to_owned(), json!("today"));
    assert_eq!(render(&setting), want("today"));
}

#[test]
fn gemma_has_no_system_message_and_wants_turns_to_alternate() {
    check(
        GEMMA,
        &[("system", "Be brief."), ("user", " hi "), ("assistant", "Hello."), ("user", "Bye.")],
        true,
        "<bos><start_of_turn>user\nBe brief.\n\nhi<end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n\
         <start_of_turn>user\nBye.<end_of_turn>\n<start_of_turn>model\n",
    );
    let twice = conversation(&[("user", "a"), ("user", "b")]);
    let error = template(GEMMA).render(&twice, &TemplateContext::default(), true).unwrap_err();
    let message = "Conversation roles must alternate user/assistant/user/assistant/...";
    assert_eq!(error, TemplateError::Refused(message.to_owned()));
}

#[test]
fn tools_calls_and_answers_are_written_as_the_template_wants_them() {
    let tool = ChatTool {
        name: "add".to_owned(),
        description: "adds <numbers>".to_owned(),
        parameters: json!({"type": "object"}),
    };
    let call = |id: &str, a: u32| CalledFunction {
        id: Some(id.to_owned()),
        name: "add".to_owned(),
        arguments: json!({"a": a, "b": [1, 2.5, "é"]}),
    };
    let mut messages = conversation(&[("user", "1+2?"), ("assistant", ""), ("tool", "3"), ("tool", "4")]);
    messages[1].tool_calls = vec![call("x", 1), call("y", 2)];
    let setting = TemplateContext { tools: vec![tool], ..TemplateContext::default() };
    let text = template(QWEN_TOOLS).render(&messages, &setting, true).unwrap();
    let want = "<|im_start|>system\nYou are a test model.\n\n# Tools\n\nSignatures:\n<tools>\n{\"type\": \"function\", \
                \"function\": {\"name\": \"add\", \"description\": \"adds <numbers>\", \"parameters\": {\"type\": \
                \"object\"}}}\n</tools><|im_end|>\n<|im_start|>user\n1+2?<|im_end|>\n<|im_start|>assistant\n<tool_call>\n\
                {\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": [1, 2.5, \"é\"]}}\n</tool_call>\n<tool_call>\n\
                {\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": [1, 2.5, \"é\"]}}\n</tool_call><|im_end|>\n\
                <|im_start|>user\n<tool_response>\n3\n</tool_response>\n<tool_response>\n4\n</tool_response><|im_end|>\n\
                <|im_start|>assistant\n";
    assert_eq!(text, want);
}

#[test]
fn the_python_that_templates_lean_on_is_there() {
    let check = |source: &str, want: &str| {
        let template = ChatTemplate::parse(source, SpecialTokens::default()).unwrap();
        let messages = conversation(&[("user", " a,b </think> c ")]);
        assert_eq!(template.render(&messages, &TemplateContext::default(), false).unwrap(), want, "{source}");
    };
    check("{{ messages[0].content.strip().split(',')[0] }}", "a");
    check("{{ messages[0]['content'].split('</think>')[-1].lstrip() }}", "c ");
    check("{{ 'abc'.startswith('ab') and not 'abc'.endswith('x') }}", "True");
    check("{% for m in messages[::-1] %}{{ loop.index0 }}{% endfor %}", "0");
    check(
        "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        "02",
    );
    check(
        "{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
        "3",
    );
    check("{{ {'b': 1, 'a': [true, none]} | tojson }}", r#"{"b": 1, "a": [true, null]}"#);
    check("{{ {'a': [1, {}]} | tojson(indent=2) }}", "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
    check(
        "{{ {'a': ['é😀']} | tojson(separators=(',', ':'), ensure_ascii=true) }}",
        r#"{"a":["\u00e9\ud83d\ude00"]}"#,
    );
    check("{%- generation -%}x{%- endgeneration -%}", "x");
    check("{{ messages[0].tool_calls is defined }}{{ messages[0].name }}", "False");
    check("{% macro f(x) %}[{{ x }}]{% endmacro %}{{ f('y') }}", "[y]");
    check("{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}{{ {'a': 1}.get('b', 2) }}", "a12");
}

#[test]
fn a_template_that_does_not_end_or_floods_is_stopped() {
    let render = |source: &str| {
        let template = ChatTemplate::parse(source, SpecialTokens::default()).unwrap();
        template.render(&conversation(&[("user", "x")]), &TemplateContext::default(), false).unwrap_err()
    };
    let endless =
        "{% for a in range(9999) %}{% for b in range(9999) %}{% set c = b %}{% endfor %}{% endfor %}";
    assert!(matches!(render(endless), TemplateError::OutOfFuel { .. }));
    let flood = "{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}";
    assert!(matches!(render(flood), TemplateError::TooLong { .. }));
    assert!(matches!(render("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), TemplateError::Failed(_)));
}

#[test]
fn a_broken_template_is_refused_with_its_line() {
    let error = ChatTemplate::parse("fine\n{% for %}", SpecialTokens::default()).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    let template =
        ChatTemplate::parse("\n\n{{ messages[0].content.nonsense() }}", SpecialTokens::default()).unwrap();
    let error =
        template.render(&conversation(&[("user", "x")]), &TemplateContext::default(), false).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
}
