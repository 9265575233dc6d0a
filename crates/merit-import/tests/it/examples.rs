//! A person's own data: shapes that differ from person to person, and files that are damaged.

use merit_core::Role;
use merit_import::{Examples, ImportError, Purpose, read_examples};
use serde_json::{Value, json};

fn read(bytes: &[u8]) -> Result<Examples, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, bytes).unwrap();
    read_examples(&path)
}

fn one(row: &Value) -> Examples {
    read(row.to_string().as_bytes()).unwrap()
}

/// Who speaks and what is said: before, and in each completion.
fn told(examples: &Examples) -> (String, Vec<String>) {
    let text = |messages: &[merit_import::ExampleMessage]| {
        let each = messages.iter().map(|m| {
            format!(
                "{}:{}{}",
                m.role.name(),
                m.text,
                m.calls.iter().map(|(_, c)| format!("{}{}", c.tool, c.input)).collect::<String>()
            )
        });
        each.collect::<Vec<_>>().join(" ")
    };
    let example = &examples.examples[0];
    (text(&example.prompt), example.completions.iter().map(|c| text(&c.messages)).collect())
}

#[test]
fn sharegpt_has_its_own_names_for_everybody() {
    let row = json!({"system": "s", "tools": "[{\"name\": \"f\"}]", "conversations": [
        {"from": "human", "value": "q"}, {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"},
        {"from": "observation", "value": "o"}, {"from": "gpt", "value": "a"}]});
    let examples = one(&row);
    assert_eq!(told(&examples), ("system:s user:q".into(), vec!["policy:f{\"a\":1} tool:o policy:a".into()]));
    assert_eq!((examples.purpose, examples.examples[0].tools.len()), (Purpose::Imitation, 1));
}

#[test]
fn a_pair_may_repeat_its_prompt_or_leave_it_out() {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let (chosen, rejected) = (
        json!([said("user", "q"), said("assistant", "a")]),
        json!([said("user", "q"), said("assistant", "b")]),
    );
    let wanted = ("user:q".to_owned(), vec!["policy:a".to_owned(), "policy:b".to_owned()]);
    let repeated = one(&json!({"prompt": "q", "chosen": chosen, "rejected": rejected}));
    assert_eq!((repeated.purpose, told(&repeated)), (Purpose::Pairs, wanted.clone()));
    assert_eq!(told(&one(&json!({"chosen": chosen, "rejected": rejected}))), wanted);
    let rewards: Vec<f64> = repeated.examples[0].completions.iter().map(|c| c.reward).collect();
    assert_eq!(rewards, [1.0, 0.0]);
    let missing =
        read(json!({"chosen": "a", "rejected": "b"}).to_string().as_bytes()).unwrap_err().to_string();
    assert!(missing.contains("`prompt` is missing"), "{missing}");
}

#[test]
fn labels_are_truth_values_and_fields_that_are_not_read_are_counted() {
    let row = |label: Value| json!({"prompt": "q", "completion": "a", "label": label, "source": "x"});
    let examples = read(format!("{}\n{}\n", row(true.into()), row(0.into())).as_bytes()).unwrap();
    assert_eq!((examples.purpose, examples.unread.get("source")), (Purpose::Labels, Some(&2)));
    assert_eq!(examples.examples[1].completions[0].reward, 0.0);
    assert_eq!((examples.examples[1].line, examples.examples[0].prompt[0].role), (2, Role::User));
    let refused = read(row("good".into()).to_string().as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("`label` is a string, not true or false"), "{refused}");
}

#[test]
fn nothing_that_a_file_holds_ends_the_program() {
    let rows = [
        json!([]),
        json!({}),
        json!(null),
        json!({"conversations": [{"from": "nobody", "value": "x"}]}),
        json!({"conversations": [{"from": "function_call", "value": "{"}]}),
        json!({"messages": "x"}),
        json!({"messages": [], "tools": 3}),
        json!({"prompt": [], "completion": "a"}),
        json!({"prompt": {}, "completion": "a"}),
        json!({"messages": [{"role": "assistant", "tool_calls": [{}]}]}),
    ];
    for row in &rows {
        let lines = format!("{row}\n{row}\n");
        let error = read(lines.as_bytes()).unwrap_err();
        let known = match row {
            Value::Null => matches!(error, ImportError::NotJson { .. }),
            _ => matches!(&error, ImportError::Examples { bad, total: 2 } if bad.len() == 2),
        };
        assert!(known, "{row}: {error}");
    }
    assert!(matches!(read(b""), Err(ImportError::Empty)));
    assert!(matches!(read(b"PAR1"), Err(ImportError::NotParquet { .. })));
    assert!(matches!(read(&[0xff; 40]), Err(ImportError::NotJson { .. })));
}

#[test]
fn a_damaged_parquet_file_is_refused() {
    let mut columns = merit_export::Columns::default();
    let row = json!({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "n": 1});
    columns.see(&row);
    let mut file = merit_export::ParquetRows::new(Vec::new(), columns).unwrap();
    file.push(row).unwrap();
    let whole = file.finish().unwrap();
    assert_eq!(told(&read(&whole).unwrap()), ("user:q".into(), vec!["policy:a".into()]));
    for cut in 0..whole.len() {
        let error = read(&whole[..cut]).unwrap_err();
        let known = match cut {
            0 => matches!(error, ImportError::Empty),
            1..4 => matches!(error, ImportError::NotJson { .. }),
            _ => matches!(error, ImportError::NotParquet { .. }),
        };
        assert!(known, "cut at {cut}: {error}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        // A letter may be another letter; what matters is that it ends in words.
        let _ = read(&damaged);
    }
}
