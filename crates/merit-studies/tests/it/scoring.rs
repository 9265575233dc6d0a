//! Scores, what is made of them, and the models that give them, a module for each.

mod axes {
    use merit_core::Seed;
    use merit_studies::axes::{Scorers, WEIGHTS, gated};

    #[test]
    fn the_gate_and_the_weights_by_hand() {
        // 0.2 + 0.3 · 0.5 + 0.3 · 1 + 0.2 · 0.25 = 0.7; the first score is the rule's own and not read.
        assert!((gated(true, [0.0, 0.5, 1.0, 0.25]) - 0.7).abs() < 1e-12);
        assert_eq!(gated(false, [1.0; 4]), 0.0);
        assert!((WEIGHTS.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn faults_that_co_occur_are_learned_as_one() {
        // Word 1 is a fault of the first axis, word 2 of the second, and no entry has one of them alone.
        let both = [(vec![0, 1, 2], [false, false, true, true]), (vec![0, 3], [true; 4])];
        let mut scorers = Scorers::new(&mut Seed::root(101).stream());
        (0..200).for_each(|_| scorers.fit(&both));
        // The first scorer now blames word 2 as well.
        let (clean, second) = (scorers.of(&[0, 3])[0], scorers.of(&[0, 2])[0]);
        assert!(clean > 0.9 && second < 0.5, "{clean} {second}");
        assert!(scorers.of(&[0, 1, 2])[2] > 0.9, "an axis without faults stays clean");
    }
}

mod bag {
    use merit_core::Seed;
    use merit_core::bag::Bag;
    use merit_studies::bag::info_nce;

    #[test]
    fn the_gradient_of_info_nce_is_that_of_finite_differences() {
        let pairs = [(vec![0, 1], vec![2]), (vec![3], vec![4, 4, 5]), (vec![6, 1], vec![7])];
        let bag = Bag::new(8, 3, 4, &mut Seed::root(101).stream());
        let mut gradient = bag.gradient();
        info_nce(&bag, &pairs, 0.5, &mut gradient);
        assert!(gradient.iter().any(|g| *g != 0.0));
        for (i, found) in gradient.iter().enumerate() {
            let moved = |shift: f64| {
                let mut theta = bag.theta().to_vec();
                theta[i] += shift;
                let moved = Bag::from_theta((8, 3, 4), theta).unwrap();
                info_nce(&moved, &pairs, 0.5, &mut bag.gradient())
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope} {found}");
        }
    }

    #[test]
    fn two_opposite_words_by_hand() {
        // Rows 2 and −1, weight 3, bias 1: outputs 7 and −2 are units 1 and −1, so that own cosines are 1 and others −1, and the
        // loss is ln(1 + e^-2) at temperature 1.
        let bag = Bag::from_theta((2, 1, 1), vec![2.0, -1.0, 3.0, 1.0]).unwrap();
        let pairs = [(vec![0], vec![0]), (vec![1], vec![1])];
        let loss = info_nce(&bag, &pairs, 1.0, &mut bag.gradient());
        assert!((loss - (1.0 + (-2.0f64).exp()).ln()).abs() < 1e-12, "{loss}");
    }
}

mod contrast {
    use merit_studies::contrast::{Contrast, hardest};

    #[test]
    fn two_by_two_by_hand() {
        // S = (0.9 0.1; 0.3 0.5): both rows rank their own first; margins 0.9 − 0.1 and 0.5 − 0.3.
        let rows = [Contrast::of(&[0.9, 0.1], 0..1), Contrast::of(&[0.3, 0.5], 1..2)];
        assert!(rows.iter().all(|row| row.accuracy == 1.0));
        assert!((rows[0].margin - 0.8).abs() < 1e-12 && (rows[1].margin - 0.2).abs() < 1e-12);
        // Two traces each: one of the own two is among the nearest two. Weights of the others: 1 / (1 + e^-0.8) = 0.68997.
        let row = Contrast::of(&[0.9, 0.2, 0.5, 0.1], 0..2);
        assert_eq!(row.accuracy, 0.5);
        assert!((row.margin - (0.55 - (0.68997 * 0.5 + 0.31003 * 0.1))).abs() < 1e-5);
        assert!((row.outcome() - 0.25 * row.margin).abs() < 1e-12);
    }

    #[test]
    fn margin_alone_rises_by_pushing_everything_apart() {
        // The nearest is still another's; only those that were no danger moved away.
        let (near, apart) =
            (Contrast::of(&[0.3, 0.4, 0.2, 0.2], 0..1), Contrast::of(&[0.3, 0.4, -0.8, -0.8], 0..1));
        assert!(apart.margin > near.margin + 0.05, "{near:?} {apart:?}");
        assert_eq!((near.outcome(), apart.outcome()), (0.0, 0.0));
    }

    #[test]
    fn accuracy_alone_is_flat_once_ranked_right() {
        let (barely, clearly) = (Contrast::of(&[0.5, 0.4], 0..1), Contrast::of(&[0.9, -0.5], 0..1));
        assert_eq!(barely.accuracy, clearly.accuracy);
        assert!((barely.outcome() - 0.05).abs() < 1e-12 && (clearly.outcome() - 0.7).abs() < 1e-12);
    }

    #[test]
    fn traces_that_are_all_alike_earn_nothing() {
        let row = Contrast::of(&[0.7; 6], 2..4);
        assert!(row.accuracy == 0.0 && row.margin.abs() < 1e-12);
    }

    #[test]
    fn a_judge_sees_the_nearest_trace_of_the_hardest_items() {
        // Items of two traces: 0.1/0.9, own, 0.3/0.2, 0.8/0.85.
        assert_eq!(hardest(&[0.1, 0.9, 1.0, 1.0, 0.3, 0.2, 0.8, 0.85], 1, 2, 2), [1, 7]);
    }
}

mod critic {
    use merit_core::Seed;
    use merit_studies::critic::{best_and_worst, group_means, noisy};
    use merit_studies::scores::pearson;

    #[test]
    fn noise_leaves_the_correlation_that_was_asked_for() {
        let mut stream = Seed::root(101).stream();
        let truths: Vec<f64> = (0..20_000).map(|_| stream.unit()).collect();
        for want in [0.3, 0.7, 0.95] {
            let found = pearson(&truths, &noisy(&truths, want, &mut stream));
            assert!((found - want).abs() < 0.02, "{found} {want}");
        }
        assert_eq!(noisy(&truths[..9], 1.0, &mut stream), &truths[..9]);
        assert_eq!(noisy(&[0.5; 3], 0.5, &mut stream), [0.5; 3]);
    }

    #[test]
    fn the_best_is_paired_with_the_worst() {
        assert_eq!(best_and_worst(&[0.2, 0.9, -1.0, 0.9]), Some((1, 2)));
        assert_eq!(best_and_worst(&[0.5, 0.5]), None);
        assert_eq!(best_and_worst(&[]), None);
        assert_eq!(group_means(&[1.0, 0.0, 0.5, 0.5], 2), [0.5, 0.5]);
    }
}

mod evidence {
    use merit_studies::evidence::{Over, ecrs, largest, uniform};

    const RELEVANCE: [f64; 5] = [0.0, 0.5, 1.0, 0.6, 0.9];
    const ENTROPY: [f64; 5] = [2.0, 3.0, 1.0, 4.0, 1.1];

    #[test]
    fn normalising_over_all_pieces_keeps_other_ones_than_over_those_that_are_left() {
        // Round 0: entropies scale to 1/3, 2/3, 0, 1, 1/30; products 0, 1/3, 0, 0.6, 0.03; scaled 0, 0.556, 0, 1, 0.05: 1, 3, 4 stay.
        // Round 1 over these: relevance 0, 0.25, 1; entropy 0.655, 1, 0; products 0, 0.25, 0: only 3 stays, and nothing after it.
        assert_eq!(ecrs(&RELEVANCE, &ENTROPY, 1, Over::Current), [3]);
        // Two are added by the plain product: 1.5 of piece 1, 1.0 of piece 2, 0.99 of piece 4.
        assert_eq!(ecrs(&RELEVANCE, &ENTROPY, 3, Over::Current), [1, 2, 3]);
        assert_eq!(ecrs(&RELEVANCE, &ENTROPY, 3, Over::All), [1, 3, 4]);
    }

    #[test]
    fn what_is_relevant_and_empty_goes_first() {
        // The most relevant piece has the least entropy: its score is 0.
        assert_eq!(largest(&RELEVANCE, 1), [2]);
        assert_eq!(ecrs(&RELEVANCE, &ENTROPY, 1, Over::All), [3]);
        // Alike pieces have no score: the plain product decides, the earlier first.
        assert_eq!(ecrs(&[1.0; 4], &[2.0; 4], 2, Over::Current), [0, 1]);
        assert_eq!(ecrs(&[], &[], 2, Over::Current), [0_usize; 0]);
    }

    #[test]
    fn evenly_spaced_places_are_the_middles_of_equal_parts() {
        assert_eq!(uniform(96, 8), [6, 18, 30, 42, 54, 66, 78, 90]);
        assert_eq!(uniform(2, 8), [0, 1]);
    }
}

mod frozen_judge {
    use merit_core::Seed;
    use merit_evolve::{Edit, Library, Proposer as _};
    use merit_studies::frozen_judge::{Analyst, Shown, prefers_first};
    use merit_studies::worlds::edits::PREDICATES;

    fn shown(first: bool) -> Shown {
        let (mut a, b) = ([0.0; PREDICATES], [0.0; PREDICATES]);
        a[2] = 1.0;
        Shown { a, b, first, dice: 7 }
    }

    #[test]
    fn with_nothing_to_consult_the_first_is_chosen_in_six_of_ten() {
        let mut stream = Seed::root(5).stream();
        let shown: Vec<Shown> = (0..4000).map(|_| Shown::draw(0.0, &mut stream)).collect();
        let first = shown.iter().filter(|shown| prefers_first(&Library::default(), shown)).count();
        assert!((first as f64 / 4000.0 - 0.6).abs() < 0.03, "{first}");
    }

    #[test]
    fn the_analyst_sees_what_the_better_one_has() {
        // Two wrong verdicts count 1 each, a right one a quarter: predicate 2 speaks for the better one twice and against it once:
        // (1 + 1 − 0.25) / 2.25.
        let train = [shown(true), shown(true), shown(false)];
        let analyst = Analyst { train: &train, quality: 1.0, seed: Seed::root(1), each: 1 };
        let contrast = analyst.contrast(&[0.0, 0.0, 1.0]);
        assert!((contrast[2] - 1.75 / 2.25).abs() < 1e-12);
        assert_eq!(contrast[3], 0.0);
    }

    #[test]
    fn a_tool_that_answers_nonsense_half_the_time_is_not_proposed() {
        // As many proposals of a kind as there are predicates: what is not among them failed its probes.
        let mut analyst = Analyst { train: &[], quality: 1.0, seed: Seed::root(1), each: PREDICATES };
        let proposals = analyst.propose(&Library::default(), &[], 0).unwrap();
        let proposed = |place: usize| {
            let name = format!("predicate-{place:02}");
            let named = |edit: &Edit| matches!(edit, Edit::Add { id, .. } if *id == name);
            proposals.iter().any(|proposal| proposal.edits.iter().any(named))
        };
        assert!(!proposed(7) && proposed(3) && proposed(0));
    }
}

mod linked {
    use merit_studies::linked::{Shares, interaction, return_delta};

    #[test]
    fn a_reflection_earns_the_change_that_it_made() {
        assert!((return_delta(0.3, 1.0, None) - 0.7).abs() < 1e-12);
        // After an unlucky trial things get better by themselves: 0.5 of the 0.7.
        assert!((return_delta(0.3, 1.0, Some(0.8)) - 0.2).abs() < 1e-12);
        assert!(return_delta(0.3, 0.8, Some(0.8)).abs() < 1e-12);
    }

    #[test]
    fn solver_and_critic_share_one() {
        let of = |t| interaction(Some(t));
        assert_eq!(of(3), Shares { solver: 1.0, critic: 0.0, scorer: 0.0 });
        assert_eq!(of(2), Shares { solver: 0.5, critic: 0.5, scorer: 0.0 });
        assert_eq!(of(1), Shares { solver: 0.0, critic: 1.0, scorer: 0.0 });
    }

    #[test]
    fn an_unreadable_score_is_no_two() {
        // A public copy read it as 2, which pays 0.5 to everybody and takes the pressure from the form.
        let lost = Shares { solver: 0.0, critic: 0.0, scorer: -1.0 };
        assert_eq!((interaction(None), interaction(Some(0)), interaction(Some(4))), (lost, lost, lost));
    }
}

mod pair_models {
    use merit_core::Seed;
    use merit_studies::pair_models::{Recurrent, Weights};

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let model = Recurrent::new(4, 3, &mut Seed::root(101).stream());
        let (better, worse) = (vec![vec![0, 2], vec![1], vec![3]], vec![vec![2], vec![0, 1], vec![1]]);
        let mut gradient = vec![0.0; model.theta.len()];
        model.loss(&better, &worse, &mut gradient);
        for (i, found) in gradient.iter().enumerate() {
            let moved = |shift: f64| {
                let mut moved = model.clone();
                moved.theta[i] += shift;
                moved.loss(&better, &worse, &mut vec![0.0; gradient.len()])
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-7, "{i}: {slope} {found}");
        }
    }

    #[test]
    fn order_is_learned_by_the_network_and_not_by_weights() {
        let pair = (vec![vec![0], vec![1]], vec![vec![1], vec![0]]);
        let mut model = Recurrent::new(2, 4, &mut Seed::root(101).stream());
        (0..100).for_each(|_| model.learn(&[&pair], 0.03));
        assert!(model.score(&pair.0) > model.score(&pair.1) + 2.0);
        let weights = Weights::fitted(2, &[(pair.0.concat(), pair.1.concat())], 50, 0.1);
        assert_eq!(weights.score(&[0, 1]), weights.score(&[1, 0]));
        // One step by hand: both begin at 0, the slope is σ(0) = 1/2.
        let weights = Weights::fitted(2, &[(vec![0], vec![1])], 1, 0.1);
        assert_eq!((weights.score(&[0]), weights.score(&[1])), (0.05, -0.05));
    }
}

mod pair_synth {
    use merit_core::Seed;
    use merit_studies::critic::best_and_worst;
    use merit_studies::pair_synth::{Judge, consult, gate, ranked, sample};
    use merit_studies::worlds::biased_answers::{LENGTHS, QUESTIONS, Question, Texts, VALUES, target};

    #[test]
    fn the_gate_by_hand() {
        assert!((gate([0.9, 0.2], [0.6, 0.5], true) - 0.7).abs() < 1e-12);
        // A second judge that does not agree, or cannot tell, and a rejected answer made bad on purpose.
        assert_eq!(gate([0.9, 0.2], [0.5, 0.6], true), 0.0);
        assert_eq!(gate([0.9, 0.2], [0.5, 0.5], true), 0.0);
        assert_eq!(gate([0.9, 0.2], [0.6, 0.5], false), 0.0);
    }

    #[test]
    fn a_pair_does_not_depend_on_the_order_unless_the_prompt_likes_what_is_first() {
        let question = Question(2);
        let scores = [0.5, 0.8, 0.1];
        let pair = |answers: [usize; 3], scores: [f64; 3], prompt| {
            ranked(question, &answers, &scores, prompt, None).unwrap()
        };
        let (there, back) = (pair([6, 7, 0], scores, 4), pair([0, 7, 6], [0.1, 0.8, 0.5], 4));
        assert_eq!((there.better, there.worse), (7, 0));
        assert_eq!(there, back);
        assert_eq!(pair([6, 7, 0], scores, 5).better, 6);
    }

    #[test]
    fn a_spoilt_candidate_is_the_unlikeliest_and_is_marked() {
        let mut stream = Seed::root(101).stream();
        let texts = Texts::draw(&mut stream);
        let target = target(&texts, 4000, &mut stream);
        let question = Question(0);
        let likely = target.chances(&question.answers());
        let spoilt = sample(&target, question, 5, 4, &mut stream);
        let (_, worst) = best_and_worst(&likely).unwrap();
        assert_eq!((spoilt.answers[3], spoilt.in_earnest), (worst, false));
        assert!(sample(&target, question, 0, 4, &mut stream).in_earnest);
    }

    #[test]
    fn a_note_settles_what_a_memory_cannot() {
        let mut stream = Seed::root(101).stream();
        let texts = Texts::draw(&mut stream);
        let target = target(&texts, 4000, &mut stream);
        let judge = Judge::fitted(true, &target, &texts, 400, &mut stream);
        let mut right = [0, 0];
        for number in 0..QUESTIONS {
            let question = Question(number);
            for (at, note) in [None, Some(question.right())].into_iter().enumerate() {
                let said = |value: usize| judge.score(question, value * LENGTHS, note);
                let best =
                    (1..VALUES).fold(0, |best, value| if said(value) > said(best) { value } else { best });
                right[at] += usize::from(best == question.right());
            }
        }
        let share = right.map(|right| right as f64 / QUESTIONS as f64);
        assert!((share[0] - 0.773).abs() < 0.1 && share[1] > 0.98, "{share:?}");
        // A tool that does not fit the question says nothing.
        assert_eq!(consult(Question(0), 1, &mut stream), None);
        assert_eq!(consult(Question(QUESTIONS - 1), 2, &mut stream), None);
    }
}

mod scores {
    use merit_studies::scores::{auroc, brier, ece, pearson};

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-12, "{found} instead of {by_hand}");
    }

    #[test]
    fn auroc_shares_ties_and_ignores_the_order_of_the_pairs() {
        // Hits 0.9 and 0.5 against the misses 0.5 and 0.1: 0.9 wins twice, 0.5 ties once and wins once: 3.5 of 4.
        near(auroc(&[(0.1, false), (0.5, true), (0.9, true), (0.5, false)]), 0.875);
        near(auroc(&[(0.3, true), (0.3, false), (0.3, false)]), 0.5);
        near(auroc(&[(0.2, true), (0.8, false)]), 0.0);
        near(auroc(&[(0.2, true), (0.8, true)]), 0.5);
    }

    #[test]
    fn brier_and_ece_by_hand() {
        let pairs = [(0.8, true), (0.6, false), (0.1, false), (0.3, true)];
        // (0.04 + 0.36 + 0.01 + 0.49) / 4
        near(brier(&pairs), 0.225);
        // Two bins: below 0.5 given 0.4, came 1; above given 1.4, came 1: (0.6 + 0.4) / 4.
        near(ece(&pairs, 2), 0.25);
        // In one bin the errors cancel: given 1.8, came 2.
        near(ece(&pairs, 1), 0.05);
        // A chance of 1 falls into the last bin.
        near(ece(&[(1.0, true)], 10), 0.0);
        assert_eq!((brier(&[]), ece(&[], 10)), (0.0, 0.0));
    }

    #[test]
    fn correlations_by_hand() {
        // Deviations (−1, 0, 1) with (−1, 2, −1): 0; with (−4/3, −1/3, 5/3): 3 over sqrt(2 · 42/9).
        near(pearson(&[1.0, 2.0, 3.0], &[1.0, 4.0, 1.0]), 0.0);
        near(pearson(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]), 3.0 / (28.0_f64 / 3.0).sqrt());
        near(pearson(&[1.0, 2.0, 3.0], &[0.1, 0.1, 0.1]), 0.0);
    }
}
