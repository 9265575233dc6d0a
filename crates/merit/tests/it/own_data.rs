//! A person's own data: every shape, in stages that imitate and prefer, with models from files and with fresh decoders.

use crate::models::made::{TEMPLATE, gguf};
use crate::tiny::{RECIPE, Said, reference, say};
use merit_export::{Columns, ParquetRows};
use merit_store::RunFolder;
use serde_json::{Value, json};
use std::path::Path;

/// A template that writes tools and calls too.
const WITH_TOOLS: &str = "{% if tools %}<|im_start|>system\n{{ tools | tojson }}<|im_end|>\n{% endif %}\
     {% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}\
     <call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}<|im_end|>\n{% endfor %}\
     {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const IMITATE: &str = "type = \"imitate\"\nsteps = 2\nbatch = 2\nlearning_rate = 1e-2";
const DPO: &str =
    "type = \"prefer\"\nobjective = { type = \"dpo\" }\nsteps = 8\nbatch = 2\nlearning_rate = 1e-2";
const FULL: &str = "train = { type = \"full\" }";

fn lines(rows: &[Value]) -> Vec<u8> {
    rows.iter().map(|row| format!("{row}\n")).collect::<String>().into_bytes()
}

fn parquet(rows: &[Value]) -> Vec<u8> {
    let mut columns = Columns::default();
    rows.iter().for_each(|row| columns.see(row));
    let mut file = ParquetRows::new(Vec::new(), columns).unwrap();
    rows.iter().for_each(|row| file.push(row.clone()).unwrap());
    file.finish().unwrap()
}

/// Writes the data, a recipe with one stage that reads it, and the model.
fn set_up(folder: &Path, data: &[u8], stage: &str, (template, train): (&str, &str)) {
    std::fs::write(folder.join("data"), data).unwrap();
    gguf(folder, Some(template));
    let recipe = format!(
        "name = \"own\"\nreward = {{ type = \"exact-answer\" }}\ncredit = {{ type = \"grpo\" }}\n\
         world = {{ type = \"ledger\", sizes = [1, 2], held_out_sizes = [1, 2] }}\n\
         budget = {{ steps = 1, groups = 2, group_size = 2 }}\n\
         model = {{ file = \"tiny.gguf\", context = 240, {train} }}\n\
         [datasets.mine]\nfile = \"data\"\n[[stages]]\nfrom = \"mine\"\n{stage}\n"
    );
    std::fs::write(folder.join("recipe.toml"), recipe).unwrap();
}

struct Trained {
    folder: tempfile::TempDir,
    said: Said,
}

impl Trained {
    fn metric(&self, phase: &str, name: &str) -> Vec<f64> {
        let run = RunFolder::open_read_only(&self.folder.path().join("run")).unwrap();
        run.metric(phase, name).unwrap().into_iter().map(|(_, value)| value).collect()
    }

    fn weights(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("run/policy/model.safetensors")).unwrap()
    }
}

fn run(data: &[u8], stage: &str, model: (&str, &str)) -> Trained {
    let folder = tempfile::tempdir().unwrap();
    set_up(folder.path(), data, stage, model);
    let said = say(folder.path(), ["train", "recipe.toml", "--json", "--run", "run"]);
    Trained { folder, said }
}

fn trained(data: &[u8], stage: &str, model: (&str, &str)) -> Trained {
    let Trained { folder, said } = run(data, stage, model);
    Trained { folder, said: said.well() }
}

/// Refused in these words, and no folder is left.
fn refused(data: &[u8], stage: &str, words: &[&str]) {
    let Trained { folder, said } = run(data, stage, (TEMPLATE, FULL));
    assert_eq!(said.code, Some(2), "{}", said.err);
    words.iter().for_each(|words| assert!(said.err.contains(words), "{words}: {}", said.err));
    assert!(!folder.path().join("run").exists(), "{}", said.err);
    let checked = say(folder.path(), ["recipe", "check", "recipe.toml"]);
    assert!(checked.code == Some(2) && checked.err.contains(words[0]), "{}", checked.err);
}

#[test]
fn the_same_conversation_teaches_the_same_in_every_shape() {
    let (user, assistant) =
        (json!({"role": "user", "content": "2 + 2?"}), json!({"role": "assistant", "content": "4."}));
    let shapes = [
        json!({"messages": [user, assistant], "id": 7}),
        json!({"prompt": "2 + 2?", "completion": "4."}),
        json!({"prompt": [user], "completion": [assistant]}),
        json!({"conversations": [{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4."}]}),
        json!([user, assistant]),
    ];
    let first = trained(&lines(&shapes[..1]), IMITATE, (TEMPLATE, FULL));
    // Two bytes and the end of the turn, twice in a batch: nothing else is learned.
    assert_eq!(first.metric("imitate:mine", "tokens"), [6.0, 6.0]);
    assert!(
        first.said.out.contains("`mine`: 1 example of data; field `id` of 1 is not read"),
        "{}",
        first.said.out
    );
    for shape in &shapes[1..] {
        let other = trained(&lines(std::slice::from_ref(shape)), IMITATE, (TEMPLATE, FULL));
        assert!(other.weights() == first.weights(), "{shape}");
    }
    let columns = trained(&parquet(&shapes[..1]), IMITATE, (TEMPLATE, FULL));
    assert!(columns.weights() == first.weights());
}

#[test]
fn an_adapter_learns_what_the_assistant_says_and_not_its_prompt() {
    let turn = |role: &str, text: &str| json!({"role": role, "content": text});
    let prompt = [turn("system", "Count."), turn("user", "a"), turn("assistant", "zzzz"), turn("user", "b")];
    let row = json!({"prompt": prompt, "completion": [turn("assistant", "1"), turn("user", "c"), turn("assistant", "22")]});
    let stage = IMITATE.replace("steps = 2", "steps = 60");
    let model = (TEMPLATE, "train = { type = \"lora\", rank = 4, alpha = 8.0 }");
    let trained = trained(&lines(&[row]), &stage, model);
    // "1" and "22", each with its end, twice in a batch.
    assert_eq!(trained.metric("imitate:mine", "tokens")[0], 10.0);
    let losses = trained.metric("imitate:mine", "loss");
    assert!(losses[59] < losses[0] / 2.0, "{losses:?}");
    assert!(trained.folder.path().join("run/adapter").is_dir());
}

#[test]
fn tools_and_calls_are_written_by_the_models_template() {
    let tools = json!([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]);
    let call = |arguments: Value| json!([{"id": "a", "type": "function", "function": {"name": "add", "arguments": arguments}}]);
    let row = |tools: Value, arguments: Value| {
        json!({"tools": tools, "messages": [
            {"role": "user", "content": "1 + 1?"},
            {"role": "assistant", "content": null, "tool_calls": call(arguments)},
            {"role": "tool", "tool_call_id": "a", "content": "2"},
            {"role": "assistant", "content": "2"},
        ]})
    };
    let model = (WITH_TOOLS, FULL);
    let parsed = trained(&lines(&[row(tools.clone(), json!({"x": 1}))]), IMITATE, model);
    // `<call>add {"x": 1}</call>` and its end are 26 tokens, `2` and its end are 2; twice in a batch.
    assert_eq!(parsed.metric("imitate:mine", "tokens"), [56.0, 56.0]);
    let texts = trained(&lines(&[row(tools.to_string().into(), json!("{\"x\": 1}"))]), IMITATE, model);
    assert!(texts.weights() == parsed.weights());
}

#[test]
fn pairs_and_labels_of_ones_own_are_preferred() {
    let pairs = [
        json!({"prompt": "2 + 2?", "chosen": "4", "rejected": "5"}),
        json!({"prompt": [{"role": "user", "content": "1 + 1?"}], "chosen": [{"role": "assistant", "content": "2"}],
               "rejected": [{"role": "assistant", "content": "3"}]}),
    ];
    let dpo = trained(&lines(&pairs), DPO, (TEMPLATE, FULL)).metric("prefer:mine", "loss");
    assert!((dpo[0] - 2_f64.ln()).abs() < 1e-6 && dpo[7] < dpo[0], "{dpo:?}");
    let labels = [
        json!({"prompt": "2 + 2?", "completion": "4", "label": true}),
        json!({"prompt": "1 + 1?", "completion": "3", "label": false}),
    ];
    let kto = DPO.replace("{ type = \"dpo\" }", "{ type = \"kto\", threshold = 0.5 }");
    let kto = trained(&lines(&labels), &kto, (TEMPLATE, FULL)).metric("prefer:mine", "loss");
    // Where policy and reference are the same, each sample costs a half.
    assert!((kto[0] - 0.5).abs() < 1e-6 && kto[7] < kto[0], "{kto:?}");
    let no_threshold = DPO.replace("\"dpo\"", "\"kto\"");
    refused(&lines(&labels), &no_threshold, &["threshold = 0.5"]);
    refused(&lines(&labels), DPO, &["learns from pairs"]);
    refused(&lines(&pairs), IMITATE, &["use a stage of type `prefer`"]);
}

#[test]
fn every_bad_line_is_named_before_anything_is_learned() {
    let good = json!({"prompt": "2 + 2?", "completion": "4"});
    let rows = [
        good.to_string(),
        "{\"prompt\": \"1 + 1?\", \"completion\": 2}".to_owned(),
        "{\"prompt\": \"1 + 1?\"}".to_owned(),
        "{broken".to_owned(),
        json!({"messages": [{"role": "usr", "content": "x"}]}).to_string(),
        json!({"prompt": "x", "chosen": "y", "rejected": "z"}).to_string(),
        json!({"messages": [{"role": "user", "content": "x"}]}).to_string(),
    ];
    let words = [
        "[datasets.mine] data: 6 of 7 examples cannot be read",
        "line 2 (item 1): `completion` is a number, not a string or a list of messages",
        "line 3 (item 2): it has the fields `prompt`; wanted are `messages`",
        "line 4 (item 3): not JSON",
        "`messages[0].role` is `usr`",
        "line 6 (item 5): it is a pair, and line 1 is to be imitated",
        "no message of the assistant is there to learn from",
    ];
    refused(rows.join("\n").as_bytes(), IMITATE, &words);
    refused(b"PAR1 and nothing else", IMITATE, &["not Parquet that can be read here"]);
    let stage = IMITATE.replace("steps", "stepz");
    refused(good.to_string().as_bytes(), &stage, &["stepz"]);
}

#[test]
fn what_is_too_long_is_counted_and_a_changed_file_ends_a_resumed_run() {
    let rows = [
        json!({"prompt": "2 + 2?", "completion": "4"}),
        json!({"prompt": "x".repeat(300), "completion": "4"}),
    ];
    let long = trained(&lines(&rows), IMITATE, (TEMPLATE, FULL));
    let told = "`mine`: 1 example of data; 1 of 2 are longer than the context of 240 tokens and left out";
    assert!(long.said.out.contains(told), "{}", long.said.out);
    std::fs::write(long.folder.path().join("data"), lines(&rows[..1])).unwrap();
    let resumed = say(long.folder.path(), ["train", "--resume", "run"]);
    assert!(
        resumed.code == Some(2) && resumed.err.contains("data has changed since this run began"),
        "{}",
        resumed.err
    );
    let Trained { said, .. } = run(&lines(&rows[1..]), IMITATE, (TEMPLATE, FULL));
    assert!(said.code == Some(2) && said.err.contains("raise `model.context`"), "{}", said.err);
}

/// The small recipe with a fresh decoder, and a stage that reads a file.
fn fresh(folder: &Path, data: &str, stage: &str) -> Said {
    let text = std::fs::read_to_string(RECIPE).unwrap();
    // What a hardly trained policy said takes more tokens once it is text.
    let text = text[..text.find("[[controls]]").unwrap()].replace("context = 224", "context = 2048");
    let stages = format!(
        "{text}[datasets.mine]\nfile = \"{data}\"\n[[stages]]\ntype = \"imitate\"\nfrom = \"demonstrations\"\n\
         [[stages]]\nfrom = \"mine\"\n{stage}\n"
    );
    std::fs::write(folder.join("recipe.toml"), stages).unwrap();
    say(folder, ["train", "recipe.toml", "--json", "--run", "run"])
}

#[test]
fn what_was_exported_can_be_learned_from() {
    for (shape, file, stage) in [
        ("messages", "sft.jsonl", IMITATE),
        ("prompt-completion", "sft.parquet", IMITATE),
        ("preference", "pairs.parquet", DPO),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = reference().path.display().to_string();
        let told =
            say(folder.path(), ["export", &run, "--as", shape, "--phase", "train", "--out", file]).well().err;
        let rows: usize = told.split_whitespace().next().unwrap().parse().unwrap();
        let said = fresh(folder.path(), file, stage).well();
        assert!(said.out.contains(&format!("`mine`: {rows} example")), "{}", said.out);
    }
}

#[test]
fn a_fresh_decoder_has_no_template_for_calls() {
    let folder = tempfile::tempdir().unwrap();
    let row = json!({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"name": "add"}]}]});
    std::fs::write(folder.path().join("data"), lines(&[row])).unwrap();
    let said = fresh(folder.path(), "data", IMITATE);
    assert!(said.code == Some(2) && said.err.contains("line 1: it has tools or calls"), "{}", said.err);
}
