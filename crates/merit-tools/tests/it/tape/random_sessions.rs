//! Random sessions, recorded in one interleaving and replayed in another.

use crate::tape::bench_tools::{Bench, Shelf, ask, task};
use merit_tools::{FaultPlan, Faulty, Tool, ToolAnswer, ToolSession, Toolbox};
use proptest::prelude::*;
use std::sync::Arc;

/// A session: a task, whether it forks half way, and what it asks.
type Plan = (u8, bool, Vec<String>);

/// The tool under test: it keeps state, and at times refuses or breaks.
fn tool() -> Arc<dyn Tool> {
    let plan = FaultPlan { seed: 7, broken: 0.1, refused: 0.2, ..FaultPlan::default() };
    Arc::new(Faulty::new(Bench::adder(), plan).unwrap())
}

/// Plays all sessions, one call at a time, each time of the session that `order` names; what each was told.
fn play(toolbox: &Toolbox, plans: &[Plan], order: &[prop::sample::Index]) -> Vec<Vec<ToolAnswer>> {
    let tool = toolbox.wrap(tool());
    let open = |id: u8| tool.open(&task(&format!("task {id}")), None).unwrap();
    let mut sessions: Vec<Arc<dyn ToolSession>> = plans.iter().map(|(id, ..)| open(*id)).collect();
    let mut said: Vec<Vec<ToolAnswer>> = vec![Vec::new(); plans.len()];
    let mut order = order.iter().cycle();
    loop {
        let left: Vec<usize> = (0..plans.len()).filter(|&i| said[i].len() < plans[i].2.len()).collect();
        if left.is_empty() {
            return said;
        }
        let which = *order.next().unwrap().get(&left);
        let (id, forks, inputs) = &plans[which];
        if *forks && said[which].len() == inputs.len() / 2 {
            let state = sessions[which].snapshot();
            sessions[which] = tool.open(&task(&format!("task {id}")), Some(&state)).unwrap();
        }
        let answer = ask(&sessions[which], &inputs[said[which].len()]);
        said[which].push(answer);
    }
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let inputs = prop::collection::vec("[0-9x]{1,2}", 1..5);
    prop::collection::vec((0..3_u8, any::<bool>(), inputs), 1..6)
}

fn order() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_replay_in_any_interleaving_says_what_was_said(plans in plans(), one in order(), other in order()) {
        let live = play(&Toolbox::Live, &plans, &one);
        let shelf = Shelf::new();
        let record = shelf.record();
        prop_assert_eq!(&play(&record, &plans, &one), &live, "recording changes nothing");
        record.check().unwrap();
        drop(record);
        let replay = shelf.replay();
        prop_assert_eq!(&play(&replay, &plans, &other), &live);
        replay.check().unwrap();
    }

    #[test]
    fn the_tape_does_not_depend_on_the_interleaving(plans in plans(), one in order(), other in order()) {
        let tapes = [one, other].map(|order| {
            let record = Shelf::new();
            let toolbox = record.record();
            play(&toolbox, &plans, &order);
            let mut entries = toolbox.tape().unwrap().entries().unwrap();
            entries.iter_mut().for_each(|call| (call.seconds, call.recorded_ms) = (0.0, 0));
            entries
        });
        prop_assert_eq!(&tapes[0], &tapes[1]);
    }
}
