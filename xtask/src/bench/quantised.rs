//! Decoding a 4-bit model beside llama.cpp: the same file, threads and batch; and how near the products come to the machine.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::Spread;
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use crate::root;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "quantised",
    by_default: true,
    peers: &["llama-cpp-python"],
    examples: &[("merit-model", "decode"), ("merit-kernels", "quant_speed")],
    measure,
};

const MODEL: &str = ".cache/weights/smollm2-135m-instruct-q4_1.gguf";
/// Sequences, and what is promised beside the peer.
const BATCHES: [(u32, f64); 2] = [(1, 1.0), (16, 1.5)];
/// What our activations are kept in, by the name that the example knows it by.
const FORMS: [(&str, &str); 2] = [("stored", "f32"), ("stored-bf16", "bf16")];
/// With the 8-bit tile products of its extra buffer types where the chip has AMX, and without.
const MODES: [(&str, &str); 2] = [("plain", ""), ("extra buffers", "--extra-buffers")];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    crate::fetch::fetch(merit_testing::WEIGHTS)?;
    ensure!(
        root().join(MODEL).exists(),
        "{MODEL} could not be fetched, and without it there is nothing to decode"
    );
    let (threads, tokens): (&[u32], u32) = if asked.quick { (&[1], 4) } else { (&[1, 2], 64) };
    interleave(&jobs(threads, tokens, asked.quick), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let beside = beside_peers(&rows(threads, &record.lines)?);
    let alone = alone(&shares(threads, &record.lines)?);
    Ok(format!("Tokens per second, greedy:\n\n{beside}\nThe products alone:\n\n{alone}"))
}

fn jobs(threads: &[u32], tokens: u32, quick: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for &threads in threads {
        for (batch, _) in BATCHES {
            for (form, _) in FORMS {
                jobs.push(Job::merit(
                    "decode",
                    &format!("{MODEL} {batch} {threads} {tokens} {form}"),
                    json!({}),
                ));
            }
            for (mode, flag) in MODES {
                let asked = format!("{MODEL} --batch {batch} --threads {threads} --tokens {tokens} {flag}");
                jobs.push(Job::peer_in(
                    "llama",
                    "llama.cpp",
                    "llama_decode.py",
                    &asked,
                    json!({"mode": mode}),
                ));
            }
        }
        let rounds = if quick { 1 } else { 20 };
        jobs.push(Job::merit("quant_speed", &format!("Q4_1 {threads} {rounds}"), json!({"on": threads})));
    }
    jobs
}

fn rows(threads: &[u32], lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (batch, bar) in BATCHES {
        for &threads in threads {
            let work = json!({"what": "decode", "batch": batch, "threads": threads});
            for (form, activations) in FORMS {
                for (mode, _) in MODES {
                    let ours = with(&work, json!({"side": "merit", "held": form}));
                    let theirs = with(&work, json!({"side": "llama.cpp", "mode": mode}));
                    rows.push(Row {
                        regime: format!("batch {batch}, {threads} thread(s), activations in {activations}"),
                        merit: per_round(lines, &ours, "tokens_per_s")?,
                        peer: format!("llama.cpp, {mode}"),
                        theirs: per_round(lines, &theirs, "tokens_per_s")?,
                        better: Better::Higher,
                        bar: Bar::Ratio(bar),
                    });
                }
            }
        }
    }
    Ok(rows)
}

/// What, value, bar, whether it is met.
type Fact = (String, String, String, Option<bool>);

fn shares(threads: &[u32], lines: &[Value]) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for &threads in threads {
        for (batch, _) in BATCHES {
            let wanted = json!({"what": "products", "on": threads, "batch": batch});
            let shown = |key: &str| -> Result<Spread> { Ok(Spread::of(&per_round(lines, &wanted, key)?)) };
            let value = format!(
                "{} GB/s of weights, {} of one thread's copy; {} GFLOP/s, {} of one thread's f32 loop",
                shown("gb_s")?,
                shown("share_of_copy")?,
                shown("gflop_s")?,
                shown("share_of_fma")?
            );
            facts.push((format!("batch {batch}, {threads} thread(s)"), value, "—".to_owned(), None));
        }
    }
    Ok(facts)
}

fn with(fields: &Value, more: Value) -> Value {
    let mut all = fields.clone();
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// Equal work is: prompts of as many tokens, as many tokens after them.
fn check_same_work(lines: &[Value]) -> Result<()> {
    for ours in matching(lines, &json!({"side": "merit", "what": "decode"})) {
        let twin = json!({"side": "llama.cpp", "batch": ours["batch"], "threads": ours["threads"]});
        let theirs = matching(lines, &twin).next().with_context(|| format!("no line has {twin}"))?;
        let same = ours["prompt"] == theirs["prompt"] && ours["tokens"] == theirs["tokens"];
        ensure!(same, "the sides did not do the same work\nmerit: {ours}\nllama.cpp: {theirs}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_other_lengths_are_other_work() {
        let line = |side: &str, prompt: u32| json!({"side": side, "what": "decode", "batch": 1, "threads": 1, "prompt": prompt, "tokens": 64});
        assert!(check_same_work(&[line("merit", 24), line("llama.cpp", 24)]).is_ok());
        let refused = |lines: &[Value]| check_same_work(lines).unwrap_err().to_string();
        assert!(refused(&[line("merit", 24), line("llama.cpp", 25)]).contains("did not do the same work"));
        assert!(refused(&[line("merit", 24)]).starts_with("no line has "));
    }

    #[test]
    fn every_regime_is_run_by_every_side() {
        // Two thread counts of two batches in two forms of ours and two modes of the peer, and the products once a thread count.
        assert_eq!(jobs(&[1, 2], 64, false).len(), 2 * (2 * 4 + 1));
    }
}
