//! Two thousand pairs that SymPy told apart (`tests/pairs/generate.py`): at most one in a hundred is judged otherwise.

use merit_maths::{MathsConfig, verify};

#[test]
fn sympys_equal_pairs_pass_and_its_near_misses_fail() {
    let pairs: Vec<[&str; 4]> = include_str!("../pairs/pairs.tsv")
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap())
        .collect();
    assert!(pairs.len() >= 2_000 && pairs.iter().filter(|[_, equal, ..]| *equal == "0").count() >= 800);
    let wrong: Vec<String> = pairs
        .iter()
        .filter_map(|[kind, equal, gold, response]| {
            let verdict = verify(gold, response, &MathsConfig::default());
            let right = verdict.passed() == Some(*equal == "1");
            (!right).then(|| {
                format!("{kind}: {gold} against {response}: {} ({})", verdict.conclusion.word(), verdict.why)
            })
        })
        .collect();
    assert!(
        wrong.len() * 100 <= pairs.len(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        pairs.len(),
        wrong.join("\n")
    );
}
