//! The policies that studies train, and what they write, recommend, discuss and ask, a module for each.

mod bandit {
    use merit_core::Seed;
    use merit_studies::bandit::Bandit;

    #[test]
    fn every_variant_is_tried_and_then_the_best() {
        let (mut bandit, mut stream) = (Bandit::new(3), Seed::root(101).stream());
        let mut tried = [0.0; 3];
        for _ in 0..300 {
            let variant = bandit.choose(&mut stream);
            bandit.learn(variant, [0.1, 0.9, 0.2][variant]);
            tried[variant] += 1.0;
        }
        assert_eq!(bandit.favourite(), 1);
        assert!(tried.iter().all(|tried| *tried >= 3.0) && tried[1] > 200.0, "{bandit:?}");
    }

    #[test]
    fn two_bandits_of_one_word_do_not_move_in_step() {
        let (mut both, mut stream) = ([Bandit::new(3), Bandit::new(3)], Seed::root(101).stream());
        // Variant 2 of the first and variant 0 of the second are best: in step, no pair of variants has both.
        for _ in 0..2000 {
            let [a, b] = [both[0].choose(&mut stream), both[1].choose(&mut stream)];
            let earned = 0.2 + 0.3 * f64::from(u8::from(a == 2)) + 0.3 * f64::from(u8::from(b == 0));
            both[0].learn(a, earned);
            both[1].learn(b, earned);
        }
        assert_eq!([both[0].favourite(), both[1].favourite()], [2, 0]);
    }

    /// The first of two variants was tried so often and earned a half each time, the second so often and earned nothing.
    fn halves(first: usize, second: usize) -> Bandit {
        let mut bandit = Bandit::new(2);
        (0..first).for_each(|_| bandit.learn(0, 0.5));
        (0..second).for_each(|_| bandit.learn(1, 0.0));
        bandit
    }

    #[test]
    fn bounds_by_hand() {
        let mut stream = Seed::root(101).stream();
        // Four tries, ln 4 = 1.386: 0.5 + √(2.773 / 3) = 1.461 against 0.0 + √2.773 = 1.665.
        assert_eq!(halves(3, 1).choose(&mut stream), 1);
        // Of 40 and 10: 0.5 + √(7.824 / 40) = 0.942 against 0 + √0.7824 = 0.885.
        assert_eq!(halves(40, 10).choose(&mut stream), 0);
    }
}

mod chooser {
    use merit_studies::chooser::{Choice, Chooser};

    fn choice() -> Choice {
        Choice { candidates: vec![vec![0, 1], vec![1, 2], vec![2, 2]], chosen: 1 }
    }

    #[test]
    fn the_direction_is_the_gradient_of_the_log_probability() {
        let chooser = Chooser { weights: vec![0.3, -0.2, 0.9] };
        let mut gradient = vec![0.0; 3];
        chooser.push(&mut gradient, &choice(), 2.0);
        for (i, found) in gradient.iter().enumerate() {
            let log = |shift: f64| {
                let mut moved = chooser.clone();
                moved.weights[i] += shift;
                moved.chances(&choice().candidates)[1].ln()
            };
            let slope = 2.0 * (log(1e-5) - log(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-8, "{slope} {found}");
        }
    }

    #[test]
    fn two_steps_of_a_preference_by_hand() {
        // Two even candidates. d = 0: loss ln 2, pull 1/2; grad ln p of the better less the worse is (1, −1).
        let at = |chosen| vec![Choice { candidates: vec![vec![0], vec![1]], chosen }];
        let (better, worse) = (at(0), at(1));
        let (mut own, start) = (Chooser::new(2), Chooser::new(2));
        let pairs: [(&[Choice], &[Choice]); 1] = [(&better, &worse)];
        assert!((own.prefer(&pairs, &start, 0.1, 1.0) - 2.0_f64.ln()).abs() < 1e-12);
        assert!((own.weights[0] - 0.5).abs() < 1e-12 && (own.weights[1] + 0.5).abs() < 1e-12);
        // The log-odds are 1 now, so that d = 0.1 and the loss ln(1 + e^-0.1).
        assert!((own.prefer(&pairs, &start, 0.1, 0.0) - (1.0 + (-0.1_f64).exp()).ln()).abs() < 1e-12);
        // Over two choices each, sums of logarithms: twice the distance.
        let (longer, shorter) = ([at(0), at(0)].concat(), [at(1), at(1)].concat());
        let twice: [(&[Choice], &[Choice]); 1] = [(&longer, &shorter)];
        assert!((own.prefer(&twice, &start, 0.1, 0.0) - (1.0 + (-0.2_f64).exp()).ln()).abs() < 1e-12);
    }

    #[test]
    fn the_reference_pulls_back_what_has_moved_away() {
        // Even chances of the reference, p = 0.8 of the own: the pull is kl (0.5 / 0.8 − 1) = −0.375 kl.
        let even = Choice { candidates: vec![vec![0], vec![1]], chosen: 0 };
        let mut own = Chooser { weights: vec![4.0_f64.ln(), 0.0] };
        own.climb(&[(&[even], 0.0)], Some((&Chooser::new(2), 1.0)), 1.0);
        // grad ln p = (1 − 0.8, −0.2).
        assert!((own.weights[0] - (4.0_f64.ln() - 0.375 * 0.2)).abs() < 1e-12);
        assert!((own.weights[1] - 0.375 * 0.2).abs() < 1e-12);
    }
}

mod copying {
    use merit_core::Seed;
    use merit_studies::chooser::Chooser;
    use merit_studies::copying::{Copying, KINDS, NEEDED, OTHER, STOP, relative};

    const TASK: Copying = Copying { context: 4, absent: 4, budget: 8 };

    /// A policy that is sure of one kind in every state, but for stopping once the needed fact is there.
    fn sure(kind: usize) -> Chooser {
        let mut policy = Chooser::new(TASK.features());
        for state in 0..=TASK.budget {
            policy.weights[(state * 2) * KINDS + kind] = 50.0;
            policy.weights[(state * 2 + 1) * KINDS + STOP] = 50.0;
        }
        policy
    }

    #[test]
    fn rewards_are_as_worked_out_by_hand() {
        let stream = &mut Seed::root(1).stream();
        // The needed fact, then stop: 1, 1, 1 − 1/8. Stop at once: 0, 1, 1. What is not there, eight times: 0, 0, 0.
        assert_eq!(TASK.write(&sure(NEEDED), stream).rewards, [1.0, 1.0, 0.875]);
        assert_eq!(TASK.write(&sure(STOP), stream).rewards, [0.0, 1.0, 1.0]);
        assert_eq!(TASK.write(&sure(2), stream).rewards, [0.0, 0.0, 0.0]);
        assert_eq!(TASK.write(&sure(OTHER), stream).rewards, [0.0, 1.0, 0.0]);
    }

    #[test]
    fn advantages_are_relative_to_the_group() {
        // Mean 0.5, deviation 0.5.
        assert_eq!(relative(&[1.0, 0.0]), [1.0, -1.0]);
        assert_eq!(relative(&[0.3, 0.3]), [0.0, 0.0]);
    }
}

mod cues {
    use merit_core::Seed;
    use merit_studies::chooser::Chooser;
    use merit_studies::cues::{FEATURES, Trace, agreements};
    use merit_studies::worlds::records::{KINDS, Records};

    #[test]
    fn form_and_agreement_by_hand() {
        let mut stream = Seed::root(101).stream();
        let batch = Records::draw(9, [2, 2], 64, &mut stream).batch(2, &mut stream);
        let (query, record) = (&batch.queries[0], &batch.records[0]);
        let [first, second] = query.asked;
        let gold = |text| Trace::of(text, vec![first, second]);
        assert!(gold(query).formed());
        assert!(!Trace::of(query, vec![first, first]).formed() && !Trace::of(query, vec![]).formed());
        assert!(!Trace { ended: false, ..gold(query) }.formed());
        // Both named on both sides: two. One of them on one side only: one.
        assert_eq!(agreements((query, &gold(query)), (record, &gold(record))), 2);
        assert_eq!(agreements((query, &Trace::of(query, vec![first])), (record, &gold(record))), 1);
        // Two cues and an end are three decisions; the end is the candidate after the words.
        let path = gold(query).path;
        assert_eq!((path.len(), path[2].chosen, path[2].candidates.len()), (3, 14, 15));
    }

    #[test]
    fn a_trace_stops_at_the_most_cues() {
        let mut stream = Seed::root(101).stream();
        let text = &Records::draw(9, [2, 2], 64, &mut stream).batch(2, &mut stream).queries[0];
        let mut never = Chooser::new(FEATURES);
        // The end is the last candidate of every decision; its feature is how many cues there are.
        for choice in Trace::of(text, (0..=KINDS).collect()).path {
            choice.candidates.last().unwrap().iter().for_each(|feature| never.weights[*feature] = -1e3);
        }
        let trace = Trace::write(&never, text, 3, false, &mut stream);
        assert_eq!((trace.cues.len(), trace.ended, trace.formed()), (3, false, false));
    }
}

mod discussion {
    use merit_core::Seed;
    use merit_studies::discussion::{Agent, Critique};
    use merit_studies::worlds::triples::Question;

    #[test]
    fn an_agent_solves_what_it_was_schooled_in() {
        let mut stream = Seed::root(101).stream();
        let agent = Agent::schooled(&[0, 1, 2], 0.8, 200, &mut stream);
        let mut known = |kinds: &[usize]| {
            let chance = |_| agent.accuracy(&Question::draw_of(kinds, &mut stream));
            (0..200).map(chance).sum::<f64>() / 200.0
        };
        let (at_home, abroad) = (known(&[0, 1, 2]), known(&[3, 4]));
        assert!(at_home > 0.3 && abroad < 0.1, "{at_home} {abroad}");
    }

    #[test]
    fn scores_follow_readings_and_a_critique_that_is_borne_out() {
        let mut stream = Seed::root(101).stream();
        let agent = Agent::schooled(&[], 1.0, 200, &mut stream);
        let mut mean = |off: i64, critique| {
            let said: Vec<f64> = (0..400)
                .filter_map(|_| agent.score(off, true, critique, &mut stream).0)
                .map(f64::from)
                .collect();
            said.iter().sum::<f64>() / said.len() as f64
        };
        assert!(mean(0, None) > 2.5 && mean(9, None) < 1.5);
        // The same near miss, with the error named and without.
        assert!(mean(1, Some(Critique::TooLarge)) < mean(1, Some(Critique::NoError)));
    }
}

mod gaussian_policy {
    use merit_core::Seed;
    use merit_studies::gaussian_policy::GaussianPolicy;

    #[test]
    fn the_gradient_of_the_policy_is_the_slope_of_its_log_probability() {
        let mut policy = GaussianPolicy::new(1e-3, &mut Seed::root(3).stream());
        let (state, action) = ([0.85, 0.025], [0.4, -0.7]);
        let gradient = policy.taken(state, action).gradient().to_vec();
        for at in (0..gradient.len()).step_by(7) {
            let mut at_offset = |offset: f64| {
                policy.weights[at] += offset;
                let log_prob = policy.taken(state, action).log_prob;
                policy.weights[at] -= offset;
                log_prob
            };
            let slope = (at_offset(1e-6) - at_offset(-1e-6)) / 2e-6;
            assert!(
                (slope - gradient[at]).abs() < 1e-5 * (1.0 + slope.abs()),
                "{at}: {slope} {}",
                gradient[at]
            );
        }
    }
}

mod preferring {
    use merit_core::Seed;
    use merit_studies::chooser::Chooser;
    use merit_studies::preferring::{
        Asking, Likeness, Path, log_probability, preference_gradient, process_reward,
    };

    const FIRST: [Likeness; 2] = [[1.0, 1.0, 1.0], [0.0; 3]];
    const SECOND: [Likeness; 2] = [[0.0; 3], [1.0, 1.0, 1.0]];

    #[test]
    fn reading_the_same_again_adds_nothing_above_and_costs_below() {
        // Two pieces in two steps: 2/2. The first one read twice: 2/3. A sum over steps instead of the maximum would give 3/3.
        let steps = |of: &[[Likeness; 2]]| of.iter().map(|step| step.to_vec()).collect::<Vec<_>>();
        assert!((process_reward(&steps(&[FIRST, SECOND])) - 1.0).abs() < 1e-12);
        assert!((process_reward(&steps(&[FIRST, FIRST, SECOND])) - 2.0 / 3.0).abs() < 1e-12);
        // Asked for and not brought: a third.
        assert!((process_reward(&[vec![[1.0, 0.0, 0.0]]]) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(process_reward(&[]), 0.0);
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let asking = Asking { brings: 0.9, guess: 0.1, most: 6 };
        let stream = &mut Seed::root(3).stream();
        let mut policy = Chooser::new(asking.features());
        policy.weights.iter_mut().for_each(|weight| *weight = stream.unit());
        let reference = Chooser::new(asking.features());
        let paths: Vec<Path> = (0..2).map(|_| asking.sample(2, &policy, stream)).collect();
        let (beta, lambda) = (0.4, 0.3);
        let mut gradient = vec![0.0; policy.weights.len()];
        preference_gradient(&policy, &reference, (&paths[0], &paths[1]), (beta, lambda), &mut gradient);
        let loss = |policy: &Chooser| {
            let gain = |path: &Path| log_probability(policy, path) - log_probability(&reference, path);
            let d = beta * (gain(&paths[0]) - gain(&paths[1]));
            (1.0 + (-d).exp()).ln() - lambda * log_probability(policy, &paths[0])
        };
        for (i, found) in gradient.iter().enumerate() {
            let moved = |shift: f64| {
                let mut moved = policy.clone();
                moved.weights[i] += shift;
                loss(&moved)
            };
            let slope = -(moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-7, "{i}: {slope} {found}");
        }
    }

    #[test]
    fn a_demonstration_is_right_and_its_redundant_steps_cost_its_process_reward() {
        let asking = Asking { brings: 1.0, guess: 0.0, most: 8 };
        let stream = &mut Seed::root(1).stream();
        let plain = asking.demonstrate(3, 0.0, stream);
        assert_eq!((plain.steps, plain.right, plain.well_formed, plain.process), (3, true, true, 1.0));
        let wordy: Vec<Path> = (0..50).map(|_| asking.demonstrate(2, 0.5, stream)).collect();
        assert!(wordy.iter().any(|path| path.steps > 2));
        for path in wordy.iter().filter(|path| path.right) {
            assert!((path.process - 2.0 / path.steps as f64).abs() < 1e-12);
        }
    }
}

mod recommending {
    use merit_core::Seed;
    use merit_studies::recommending::{AT_HAND, CLOSED, Case, INVENTED, UNMET, recommend, template};
    use merit_studies::worlds::recommender::{ATTRIBUTES, Catalogue, Reply};

    #[test]
    fn a_policy_that_cares_for_one_thing_does_it() {
        let mut stream = Seed::root(101).stream();
        let catalogue = Catalogue::draw(200, 10, &mut stream);
        let mut keen = template();
        (keen.weights[UNMET], keen.weights[INVENTED], keen.weights[CLOSED]) = (50.0, 50.0, 50.0);
        for _ in 0..50 {
            let case = Case::draw(&catalogue, &mut stream).unwrap();
            let (reply, path) = recommend(&keen, &case, &mut stream);
            // An item, three claims, the wrapper; the item that was chosen is the first at hand or as good.
            assert_eq!((path.len(), case.items.len()), (5, AT_HAND));
            let first = Reply { item: case.items[0], ..reply.clone() };
            assert!(reply.relevance() == first.relevance() || first.relevance() < 1.0);
            assert!(reply.follows());
            let differ = (0..ATTRIBUTES).filter(|a| reply.item[*a] != reply.history[*a]).count();
            assert!(differ == 0 || !reply.is_true(), "{reply:?}");
        }
    }

    #[test]
    fn the_template_errs_in_a_fifth_of_its_wrappers() {
        let mut stream = Seed::root(101).stream();
        let catalogue = Catalogue::draw(200, 300, &mut stream);
        let open = |_| {
            let case = Case::draw(&catalogue, &mut stream).unwrap();
            usize::from(!recommend(&template(), &case, &mut stream).0.closed)
        };
        let open: usize = (0..2000).map(open).sum();
        assert!((350..450).contains(&open), "{open}");
    }
}

mod reflecting {
    use merit_core::Seed;
    use merit_studies::reflecting::{random_writer, reflect, taught_writer};
    use merit_studies::worlds::keys::{Hint, KEYS, Trial};

    #[test]
    fn a_writer_that_knows_the_marks_names_the_key() {
        let mut stream = Seed::root(101).stream();
        let mut writer = random_writer();
        // Mark 4 tells of key 1.
        writer.weights[KEYS + 4 * KEYS + 1] = 20.0;
        let trial = Trial { tried: 0, mark: 4, opened: false, gain: 0.2 };
        assert_eq!(reflect(&writer, &trial, false, &mut stream).0, Hint::Use(1));
    }

    #[test]
    fn a_taught_writer_prefers_to_avoid_what_was_tried() {
        let mut stream = Seed::root(101).stream();
        let writer = taught_writer(&mut stream);
        let trial = Trial { tried: 3, mark: 4, opened: false, gain: 0.2 };
        let chances = writer.chances(&reflect(&writer, &trial, true, &mut stream).1.candidates);
        // 0.3 + 0.7 / 13 = 0.354 in the lessons.
        assert!((0.25..0.45).contains(&chances[KEYS + 3]), "{chances:?}");
    }
}
