//! The rewards of systems, read out of their own files: what an episode earns, worked out by hand from the card of the system.
//!
//! What a world knows of an episode (its infos) is given here turn by turn; that worlds tell it rightly is tested beside them.

use crate::support::{Did, play, scorer};
use merit_core::{Action, CallEnd, Episode, Score, Turn};
use merit_reward::ScoreContext;
use serde_json::Value as Json;
use toml::{Table, Value};

/// The reward of an arm of a system file, or the one of all arms where the arm sets none. Empty: it is the recipe's.
fn reward_of(file: &str, arm: &str) -> Table {
    let system: Table = file.parse().unwrap();
    let arms = system["arms"].as_array().unwrap();
    let named = arms.iter().find(|one| one["name"].as_str() == Some(arm)).unwrap();
    let own = named.get("set").and_then(|set| set.get("reward"));
    let own = own.or_else(|| system["experiment"].get("reward"));
    own.and_then(Value::as_table).cloned().unwrap_or_default()
}

/// The same with judges that never err, so that a value can be worked out.
fn without_errors(mut reward: Table) -> Table {
    fn clean(value: &mut Value) {
        match value {
            Value::Table(table) => {
                table.remove("errors");
                table.iter_mut().for_each(|(_, inner)| clean(inner));
            }
            Value::Array(parts) => parts.iter_mut().for_each(clean),
            _ => {}
        }
    }
    reward.iter_mut().for_each(|(_, inner)| clean(inner));
    reward
}

/// What the world knows after a turn.
fn knows(turn: &mut Turn, info: &[(&'static str, f64)]) {
    turn.info = info.iter().copied().collect();
}

/// What it knows after the last one.
fn ending(mut episode: Episode, info: &[(&'static str, f64)]) -> Episode {
    knows(episode.turns.last_mut().unwrap(), info);
    episode
}

fn scored(reward: &Table, episode: &Episode, step: u64) -> Score {
    scorer(&toml::to_string(reward).unwrap()).score(episode, &ScoreContext::at_step(step))
}

fn check(reward: &Table, step: u64, says: &str, episode: &Episode, wanted: f64) {
    let score = scored(reward, episode, step);
    let found = score.reward.value().unwrap_or_else(|| panic!("{says}: {:?}", score.reward));
    assert!((found - wanted).abs() < 1e-9, "{says}: {found}, not {wanted}");
}

/// A zoom that showed something, and one that was refused.
const SHOWN: Did<'_> = Did::Calls(&[("zoom", "b2", CallEnd::Ok, "ring star")]);
const REFUSED: Did<'_> = Did::Calls(&[("zoom", "z9", CallEnd::Refused, "no such part")]);

/// Turns, and at the end the number of zooms and of those that showed something.
fn looked(did: &[Did<'_>], zooms: f64, zooms_ok: f64) -> Episode {
    ending(play(Some("first"), Json::Null, did), &[("zooms", zooms), ("zooms_ok", zooms_ok)])
}

const RIGHT: Did<'_> = Did::Answers("first");
const WRONG: Did<'_> = Did::Answers("second");

#[test]
fn arm_thinker_climbs_its_ladder_and_then_pays_for_calls() {
    let ladder = reward_of(include_str!("../../../../systems/arm-thinker.toml"), "ladder");
    // The card: unreadable 0; wrong 0.3, and 0.4 with a call; right 1.0, and 1.5 with a call that worked.
    for step in [0, 29] {
        let pays = |says, did: &[Did<'_>], zooms, zooms_ok, wanted| {
            check(&ladder, step, says, &looked(did, zooms, zooms_ok), wanted);
        };
        pays("nothing that can be read", &[Did::Babbles], 0.0, 0.0, 0.0);
        pays("a zoom and nothing that can be read", &[SHOWN, Did::Babbles], 1.0, 1.0, 0.0);
        pays("wrong", &[WRONG], 0.0, 0.0, 0.3);
        pays("wrong after a zoom that was refused", &[REFUSED, WRONG], 1.0, 0.0, 0.4);
        pays("wrong after a zoom", &[SHOWN, WRONG], 1.0, 1.0, 0.4);
        pays("right", &[RIGHT], 0.0, 0.0, 1.0);
        pays("right after a zoom that was refused", &[REFUSED, RIGHT], 1.0, 0.0, 1.0);
        pays("right after a zoom", &[SHOWN, RIGHT], 1.0, 1.0, 1.5);
    }
    // The second stage, as the file reconstructs it: right 1, and every call costs 0.1.
    let pays = |says, did: &[Did<'_>], zooms, zooms_ok, wanted| {
        check(&ladder, 30, says, &looked(did, zooms, zooms_ok), wanted);
    };
    pays("right", &[RIGHT], 0.0, 0.0, 1.0);
    pays("right after two zooms", &[SHOWN, SHOWN, RIGHT], 2.0, 2.0, 0.8);
    pays("wrong", &[WRONG], 0.0, 0.0, 0.0);
    pays("wrong after a zoom", &[SHOWN, WRONG], 1.0, 1.0, -0.1);
}

#[test]
fn deepeyes_pays_its_bonus_only_where_the_answer_is_right() {
    let file = include_str!("../../../../systems/deepeyes.toml");
    // The card: 0.8 for the answer, 0.2 of format, 1.2 for a zoom of a right answer. The file pays the 0.2 to readable episodes
    // where the card takes it from unreadable ones: 0.2 more for everybody.
    let conditional = reward_of(file, "conditional");
    let pays = |says, did: &[Did<'_>], shown, wanted| {
        check(&conditional, 0, says, &looked(did, shown, shown), wanted)
    };
    pays("right after a zoom", &[SHOWN, RIGHT], 1.0, 0.8 + 0.2 + 1.2);
    pays("right after two: the bonus is paid once", &[SHOWN, SHOWN, RIGHT], 2.0, 2.2);
    pays("right without", &[RIGHT], 0.0, 0.8 + 0.2);
    pays("right after a zoom that was refused", &[REFUSED, RIGHT], 0.0, 0.8 + 0.2);
    pays("wrong after a zoom", &[SHOWN, WRONG], 1.0, 0.2);
    pays("right after a zoom and a line that cannot be read", &[SHOWN, Did::Babbles, RIGHT], 1.0, 0.8 + 1.2);
    pays("no answer", &[SHOWN, Did::Says("hm")], 1.0, 0.0);
    // Without the condition a wrong answer has the bonus too; without a bonus a zoom is worth nothing.
    let wrong = looked(&[SHOWN, WRONG], 1.0, 1.0);
    check(&reward_of(file, "unconditional"), 0, "wrong after a zoom", &wrong, 0.2 + 1.2);
    check(&reward_of(file, "none"), 0, "right after a zoom", &looked(&[SHOWN, RIGHT], 1.0, 1.0), 0.8 + 0.2);
}

/// Claims and an answer; the last info says how many claims are true, and whether they suffice.
fn claimed(did: &[Did<'_>], obs_true: f64, sufficient: f64) -> Episode {
    ending(play(Some("lake"), Json::Null, did), &[("obs_true", obs_true), ("sufficient", sufficient)])
}

#[test]
fn rewatch_multiplies_what_was_seen_by_the_answer() {
    let file = include_str!("../../../../systems/rewatch-r1.toml");
    let (saw, lake, hill) = (Did::Says("saw ox lake"), Did::Answers("lake"), Did::Answers("hill"));
    // The card: accuracy · (1 + truth of the claims + sufficiency) + format, which weighs 0.1 here.
    let product = reward_of(file, "product");
    let pays = |says, did: &[Did<'_>], obs_true, sufficient, wanted| {
        check(&product, 0, says, &claimed(did, obs_true, sufficient), wanted);
    };
    pays("right, true and enough", &[saw.clone(), lake.clone()], 1.0, 1.0, 3.0 + 0.1);
    pays("right, half true and not enough", &[saw.clone(), saw.clone(), lake.clone()], 0.5, 0.0, 1.5 + 0.1);
    pays("right without a claim", std::slice::from_ref(&lake), 0.0, 0.0, 1.0 + 0.1);
    pays("wrong, though all is true and enough", &[saw.clone(), hill.clone()], 1.0, 1.0, 0.1);
    // One of two turns can be read.
    pays("right, and a line that cannot be read", &[Did::Babbles, lake.clone()], 0.0, 0.0, 1.0 + 0.05);
    // Added up, true claims are paid beside a wrong answer: 0 + 1 + 1 + 0.1.
    let trivia = claimed(&[saw.clone(), hill], 1.0, 1.0);
    check(&reward_of(file, "additive"), 0, "wrong, true and enough", &trivia, 2.1);
    check(&reward_of(file, "accuracy"), 0, "right", &claimed(&[saw, lake], 1.0, 1.0), 1.1);
}

/// A search, a note and an end; the last infos are of the note.
fn noted(did: &[Did<'_>], formed: f64, supports: f64, short: f64) -> Episode {
    let told = [("note_formed", formed), ("note_supports_gold", supports), ("note_short", short)];
    ending(play(Some("rin"), Json::Null, did), &told)
}

#[test]
fn evinote_adds_entailment_to_the_base_whether_the_answer_is_right_or_not() {
    let file = include_str!("../../../../systems/evinote-rag.toml");
    let evinote = reward_of(file, "evinote");
    let (find, note) = (Did::Says("find bak boss"), Did::Says("note bak boss dov"));
    let ends = |end: Did<'static>| vec![find.clone(), note.clone(), end];
    let (rin, kob) = (Did::Answers("rin"), Did::Answers("kob"));
    // The card: base 1 for an exact match, else 0.1 for marked notes, 0 without an answer; plus the entailment of the last note,
    // which a text over the limit has none of.
    let pays = |says, did: &[Did<'_>], formed, supports, short, wanted| {
        check(&evinote, 0, says, &noted(did, formed, supports, short), wanted);
    };
    pays("right, and the note entails it", &ends(rin.clone()), 1.0, 1.0, 1.0, 1.0 + 1.0);
    pays("right by another way", &ends(rin.clone()), 1.0, 0.0, 1.0, 1.0);
    pays("wrong, though the note entails the right one", &ends(kob.clone()), 1.0, 1.0, 1.0, 0.1 + 1.0);
    pays("wrong, with a note of something", &ends(kob.clone()), 1.0, 0.0, 1.0, 0.1);
    pays("wrong, with an empty note", &ends(kob.clone()), 0.0, 0.0, 1.0, 0.0);
    pays("right, and the note is too long to entail", &ends(rin.clone()), 1.0, 1.0, 0.0, 1.0);
    pays("no answer", &ends(Did::Says("find dov home")), 1.0, 1.0, 1.0, 0.0 + 1.0);
    // The one difference from the card, whose base is 0 without a note: a right guess without a search, which owes none, has 1.
    pays("right without a search", std::slice::from_ref(&rin), 0.0, 0.0, 1.0, 1.0);
    // The controls: the same notes without entailment, and no limit of length.
    let long = noted(&ends(kob), 1.0, 1.0, 0.0);
    check(&reward_of(file, "notes"), 0, "wrong, with a note of something", &long, 0.1);
    check(&reward_of(file, "no-cap"), 0, "a long note entails", &long, 0.1 + 1.0);
}

/// The arm's reward laid over the recipe's, whose verdict the judge gives.
fn opagent(arm: &str) -> Table {
    let recipe: Table = include_str!("../../../../recipes/places-site.toml").parse().unwrap();
    let mut reward = recipe["reward"].as_table().unwrap().clone();
    reward.extend(reward_of(include_str!("../../../../systems/opagent.toml"), arm));
    reward
}

/// Turns on a site, by what the tree says of each.
fn acted(tree: &[f64], solved: f64, blocked: f64) -> Episode {
    let did: Vec<Did<'_>> = tree.iter().map(|_| Did::Says("go shelves")).collect();
    let mut episode = play(None, Json::Null, &did);
    for (turn, tree) in episode.turns.iter_mut().zip(tree) {
        knows(turn, &[("tree", *tree), ("solved", solved), ("blocked", blocked)]);
    }
    episode
}

#[test]
fn opagent_adds_half_of_the_tree_to_the_verdict_and_leaves_out_who_was_blocked() {
    // The card: w_o · outcome + w_p · mean of the tree, with the outcome dominant; 1 and 0.5 in the file.
    let hybrid = without_errors(opagent("hybrid"));
    check(
        &hybrid,
        0,
        "done by three key points of four turns",
        &acted(&[0.5, 0.0, 0.5, 0.5], 1.0, 0.0),
        1.0 + 0.5 * 0.375,
    );
    check(&hybrid, 0, "done straight on", &acted(&[0.5, 0.5], 1.0, 0.0), 1.0 + 0.5 * 0.5);
    check(
        &hybrid,
        0,
        "a line that cannot be read, and a key point",
        &acted(&[-1.0, 0.5], 0.0, 0.0),
        0.5 * -0.25,
    );
    check(&hybrid, 0, "sent in vain", &acted(&[0.0, -0.5], 0.0, 0.0), 0.5 * -0.25);
    let blocked = acted(&[0.5, 0.0], 0.0, 1.0);
    assert_eq!(scored(&hybrid, &blocked, 0).reward.value(), None, "a drop, no punishment");
    // The other arms: the tree alone, the judge alone, and a drop that counts as a failure.
    let done = acted(&[0.5, 0.5], 1.0, 0.0);
    check(&without_errors(opagent("rules")), 0, "done straight on", &done, 0.25);
    check(&without_errors(opagent("judge")), 0, "done straight on", &done, 1.0);
    check(&without_errors(opagent("blocked-fails")), 0, "blocked", &blocked, 0.5 * 0.25);
}

#[test]
fn the_judge_of_opagent_errs_in_fifteen_of_a_hundred_and_the_verdict_that_counts_does_not() {
    let scorer = scorer(&toml::to_string(&opagent("judge")).unwrap());
    for (solved, wanted) in [(1.0, 0.85), (0.0, 0.15)] {
        let episode = acted(&[0.0], solved, 0.0);
        let score = |seed| scorer.score(&episode, &ScoreContext { seed, ..ScoreContext::default() });
        let scores: Vec<Score> = (0..4000).map(score).collect();
        assert!(scores.iter().all(|score| score.solved == Some(solved == 1.0)));
        let paid = scores.iter().filter_map(|score| score.reward.value()).sum::<f64>() / 4000.0;
        // The deviation of a mean of 4000 such verdicts is 0.0056.
        assert!((paid - wanted).abs() < 0.02, "{paid}, not about {wanted}");
    }
}

/// A turn at the form: read, of the right kind, its content, an idle question, an act too early.
fn form(did: &[Did<'_>], worth: &[[f64; 5]]) -> Episode {
    let names = ["read", "kind_right", "content_right", "idle_question", "premature"];
    let mut episode = play(Some("red big flat elm"), Json::Null, did);
    assert_eq!(episode.turns.len(), worth.len());
    for (turn, worth) in episode.turns.iter_mut().zip(worth) {
        turn.info = names.iter().copied().zip(worth.iter().copied()).collect();
    }
    episode
}

#[test]
fn speakrl_pays_the_mean_turn_beside_the_outcome() {
    let speakrl = reward_of(include_str!("../../../../systems/speakrl.toml"), "speakrl");
    let (ask, idle) = (Did::Says("ask hue"), Did::Says("ask size"));
    let (right, wrong) = (Did::Answers("red big flat elm"), Did::Answers("red big round elm"));
    let pays = |says, did: &[Did<'_>], worth: &[[f64; 5]], wanted| {
        check(&speakrl, 0, says, &form(did, worth), wanted)
    };
    // The card: 0.1 read + 0.4 kind + 0.5 kind · content, a wrong question costs 0.1, a premature act 0.3; mean over turns.
    let good = [1.0, 1.0, 1.0, 0.0, 0.0];
    pays("asks and fills in", &[ask.clone(), ask.clone(), right.clone()], &[good; 3], 1.0 + 1.0);
    // Four turns, all read and of the right kind; content 1, 0, 1 and three slots of four; one question for what is known.
    pays(
        "asks for what is known too, and errs in a slot",
        &[ask.clone(), idle, ask, wrong.clone()],
        &[good, [1.0, 1.0, 0.0, 1.0, 0.0], good, [1.0, 1.0, 0.75, 0.0, 0.0]],
        0.1 + 0.4 + 0.5 * 2.75 / 4.0 - 0.1 / 4.0,
    );
    let hasty = [1.0, 0.0, 0.0, 0.0, 1.0];
    pays("guesses rightly", std::slice::from_ref(&right), &[hasty], 1.0 + 0.1 - 0.3);
    pays("guesses wrongly", &[wrong], &[hasty], 0.1 - 0.3);
    // One turn of two is worth nothing at all.
    pays("a line that cannot be read first", &[Did::Babbles, right], &[[0.0; 5], good], 1.0 + 0.5);
}

/// Turns at the books; the last infos are shares.
fn booked(did: &[Did<'_>], state_share: f64, calls_share: f64) -> Episode {
    let right = f64::from(u8::from(state_share == 1.0));
    let told = [("state_right", right), ("state_share", state_share), ("calls_share", calls_share)];
    ending(play(None, Json::Null, did), &told)
}

#[test]
fn artist_pays_half_for_the_state_half_for_the_calls_and_one_for_the_format() {
    let file = include_str!("../../../../systems/artist-api.toml");
    let composite = reward_of(file, "composite");
    let (say, call) = (Did::Says("tell done"), Did::Calls(&[("order", "o7", CallEnd::Ok, "open")]));
    // The card: 0.5 · matched state / all + 0.5 · matched calls / all required + format.
    let pays = |says, did: &[Did<'_>], state, calls, wanted| {
        check(&composite, 0, says, &booked(did, state, calls), wanted)
    };
    pays("everything", &[call.clone(), say.clone()], 1.0, 1.0, 0.5 + 0.5 + 1.0);
    pays(
        "half of the state, two calls of three",
        &[call.clone(), say.clone()],
        0.5,
        2.0 / 3.0,
        0.25 + 1.0 / 3.0 + 1.0,
    );
    pays("nothing but readable turns", &[say.clone(), say.clone()], 0.0, 0.0, 1.0);
    pays(
        "one turn of four cannot be read",
        &[call.clone(), Did::Babbles, call.clone(), say.clone()],
        1.0,
        1.0,
        1.0 + 0.75,
    );
    let nearly = booked(&[call, say], 0.9, 1.0);
    assert_eq!(
        scored(&composite, &nearly, 0).solved,
        Some(false),
        "solved is the whole state, whatever is paid"
    );
    check(&reward_of(file, "state-only"), 0, "nearly", &nearly, 0.0);
}

/// Thoughts, whether each is right, and an end.
fn thought(units: &[f64], end: Did<'_>) -> Episode {
    let did: Vec<Did<'_>> = units.iter().map(|_| Did::Says("obs bak boss dov")).chain([end]).collect();
    let mut episode = play(Some("rin"), Json::Null, &did);
    for (turn, right) in episode.turns.iter_mut().zip(units) {
        knows(turn, &[("unit_ok", *right)]);
    }
    episode
}

#[test]
fn atom_searcher_fades_from_thoughts_to_the_answer_and_takes_one_for_a_broken_line() {
    let annealed =
        without_errors(reward_of(include_str!("../../../../systems/atom-searcher.toml"), "annealed"));
    let (rin, kob) = (Did::Answers("rin"), Did::Answers("kob"));
    // The card: −1 where the format is broken, else a · mean of units + (1 − a) · answer, a = 0.5 · (1 − T / 60).
    let mixed = thought(&[1.0, 1.0, 0.0], rin.clone());
    check(&annealed, 0, "right, two units of three", &mixed, 0.5 * 2.0 / 3.0 + 0.5);
    check(&annealed, 30, "the same half way", &mixed, 0.25 * 2.0 / 3.0 + 0.75);
    check(&annealed, 60, "the same at the end", &mixed, 1.0);
    let wrong = thought(&[1.0, 1.0, 1.0], kob);
    check(&annealed, 0, "wrong, with right thoughts", &wrong, 0.5);
    check(&annealed, 60, "the same at the end", &wrong, 0.0);
    let mut broken = thought(&[1.0, 1.0], rin);
    broken.turns[1].action = Action::Malformed { why: "no such unit".to_owned() };
    for step in [0, 30, 60] {
        check(&annealed, step, "right, with a line that cannot be read", &broken, -1.0);
    }
}

/// The reward of a shipped recipe.
fn of_recipe(text: &str) -> Table {
    text.parse::<Table>().unwrap()["reward"].as_table().unwrap().clone()
}

#[test]
fn mua_rl_pays_one_for_the_right_books_and_words_and_nothing_for_anything_less() {
    let reward = of_recipe(include_str!("../../../../recipes/service-desk.toml"));
    let (ask, say) = (Did::Says("ask name"), Did::Says("tell 30"));
    // The card: 1 where the books are those after the gold changes and every output was said, else 0; no reward for steps or form.
    let pays = |says, did: &[Did<'_>], state, solved, wanted| {
        let told = [("state_right", state), ("solved", solved)];
        check(&reward, 0, says, &ending(play(None, Json::Null, did), &told), wanted);
    };
    pays("the books and the words", &[ask.clone(), say.clone()], 1.0, 1.0, 1.0);
    pays(
        "the same after many questions",
        &[ask.clone(), ask.clone(), ask.clone(), say.clone()],
        1.0,
        1.0,
        1.0,
    );
    pays("the same after a line that cannot be read", &[Did::Babbles, say.clone()], 1.0, 1.0, 1.0);
    pays("the books without the words", &[ask.clone(), ask.clone()], 1.0, 0.0, 0.0);
    pays("neither", &[ask, say], 0.0, 0.0, 0.0);
}

#[test]
fn ai_searchplanner_adds_a_share_of_the_cost_to_gain_and_process() {
    let file = include_str!("../../../../systems/ai-searchplanner.toml");
    // The card: R = gain + λ · process + α · cost. In the file λ = 0.2, and the cost is −(turns + queries) / 20, without its constant.
    let pays = |arm, [gain, process, turns, queries]: [f64; 4], right, wanted| {
        let told = [
            ("gain", gain),
            ("process", process),
            ("turns", turns),
            ("queries", queries),
            ("reader_right", right),
        ];
        let episode = ending(play(None, Json::Null, &[Did::Says("find bak boss"), Did::Says("stop")]), &told);
        check(&reward_of(file, arm), 0, arm, &episode, wanted);
    };
    let gained = [1.0, 0.5, 3.0, 2.0];
    pays("alpha-0", gained, 1.0, 1.0 + 0.2 * 0.5);
    pays("alpha-0.1", gained, 1.0, 1.0 + 0.1 - 0.1 * 5.0 / 20.0);
    pays("alpha-0.4", gained, 1.0, 1.0 + 0.1 - 0.4 * 5.0 / 20.0);
    // A reader that was right without any search gains nothing, and loses by a plan that misleads it.
    pays("alpha-0.1", [0.0, 1.0, 1.0, 0.0], 1.0, 0.2 - 0.1 / 20.0);
    pays("alpha-0.1", [-1.0, 0.0, 2.0, 1.0], 0.0, -1.0 - 0.1 * 3.0 / 20.0);
    pays("absolute-0.1", [0.0, 1.0, 1.0, 0.0], 1.0, 1.0 + 0.2 - 0.1 / 20.0);
}

#[test]
fn optiagent_counts_a_tier_only_where_those_before_it_pass() {
    let file = include_str!("../../../../systems/optiagent.toml");
    // The card: R = Σ w_k · s_k · Π_{j<k} 1[s_j ≥ τ_j], with w = 1, 1, 2, 0.5 and τ = 1, 1, 0.9.
    let pays = |arm, tiers: [f64; 4], wanted| {
        let names = ["tier_1", "tier_2", "tier_3", "tier_4"];
        let mut told: Vec<(&'static str, f64)> = names.into_iter().zip(tiers).collect();
        told.extend([("solved", 0.0), ("sharp", 0.25)]);
        let episode = ending(play(None, Json::Null, &[Did::Answers("crown 12 -5 4")]), &told);
        check(&reward_of(file, arm), 0, arm, &episode, wanted);
    };
    pays("lexicographic", [1.0, 1.0, 0.95, 0.5], 1.0 + 1.0 + 2.0 * 0.95 + 0.5 * 0.5);
    pays("lexicographic", [1.0, 1.0, 0.5, 1.0], 1.0 + 1.0 + 2.0 * 0.5);
    pays("lexicographic", [1.0, 0.75, 1.0, 1.0], 1.0 + 0.75);
    pays("lexicographic", [0.0, 1.0, 1.0, 1.0], 0.0);
    pays("additive", [1.0, 0.75, 1.0, 1.0], 1.0 + 0.75 + 2.0 + 0.5);
    pays("spot-only", [1.0, 1.0, 1.0, 1.0], 2.0 * 0.25);
}

#[test]
fn embodiedbrain_pays_the_goals_and_a_fifth_for_the_form() {
    let reward = of_recipe(include_str!("../../../../recipes/places-plan.toml"));
    // The card: 0.8 · share of goal facts that are true in the end + 0.2 · rule.
    let pays = |says, did: &[Did<'_>], goal, rule, wanted| {
        let solved = f64::from(u8::from(goal == 1.0));
        let told = [("goal_share", goal), ("rule", rule), ("solved", solved)];
        check(&reward, 0, says, &ending(play(None, Json::Null, did), &told), wanted);
    };
    let plan = [Did::Answers("ok: n go yard, m put cup bin")];
    pays("every goal, in the right form", &plan, 1.0, 1.0, 0.8 + 0.2);
    pays("every goal, in half of the form", &plan, 1.0, 0.5, 0.8 + 0.1);
    pays("one goal of three", &plan, 1.0 / 3.0, 1.0, 0.8 / 3.0 + 0.2);
    pays("a safe and empty plan", &plan, 0.0, 1.0, 0.2);
}

#[test]
fn practitioner_guide_pays_sub_goals_in_their_turn_where_it_is_dense() {
    let system: Table = include_str!("../../../../systems/practitioner-guide.toml").parse().unwrap();
    let arms = system["parts"][0]["arms"].as_array().unwrap();
    let reward = |arm: &str| {
        let named = arms.iter().find(|one| one["name"].as_str() == Some(arm)).unwrap();
        let mut reward = of_recipe(include_str!("../../../../recipes/places-quests.toml"));
        if let Some(own) = named.get("set").and_then(|set| set.get("reward")).and_then(Value::as_table) {
            reward.extend(own.clone());
        }
        reward
    };
    let lines = ["go porch", "take cup", "go yard", "put cup bin"].map(Did::Says);
    let mut episode = play(None, Json::Null, &lines);
    // Two sub-goals of two: one in the second turn, one in the last.
    for (turn, (news, solved)) in
        episode.turns.iter_mut().zip([(0.0, 0.0), (0.5, 0.0), (0.0, 0.0), (0.5, 1.0)])
    {
        knows(turn, &[("new_milestone", news), ("solved", solved)]);
    }
    // The card: dense pays each turn its share of the sub-goals beside the end, sparse the end alone. How the rewards of turns become
    // advantages, over the tokens of all turns, is worked out in merit-credit, in `along_tokens`.
    let dense = scored(&reward("ppo-dense"), &episode, 0);
    assert_eq!((dense.reward.value(), dense.turn_rewards), (Some(2.0), vec![0.0, 0.5, 0.0, 0.5]));
    let by_group = scored(&reward("grpo-dense"), &episode, 0);
    assert_eq!((by_group.reward.value(), by_group.turn_rewards), (Some(2.0), vec![]));
    for arm in ["ppo-sparse", "grpo-sparse"] {
        let sparse = scored(&reward(arm), &episode, 0);
        assert_eq!((sparse.reward.value(), sparse.turn_rewards), (Some(1.0), vec![]), "{arm}");
    }
}
