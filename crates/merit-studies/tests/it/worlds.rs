//! The small worlds that studies play in, a module for each.

mod biased_answers {
    use merit_core::Seed;
    use merit_studies::worlds::biased_answers::{LENGTHS, Question, Texts, measured, target};

    #[test]
    fn a_target_that_knows_nothing_guesses_and_one_of_biased_texts_is_biased() {
        let mut stream = Seed::root(101).stream();
        let texts = Texts::draw(&mut stream);
        let [right, tokens] = measured(&target(&texts, 0, &mut stream));
        // No value is the likeliest; (2 + 5 + 9) / 3 tokens.
        assert!(right == 0.0 && (tokens - 16.0 / 3.0).abs() < 1e-9, "{right} {tokens}");
        let biased = target(&texts, 16_000, &mut stream);
        let [right, tokens] = measured(&biased);
        // Common values are right in 0.75 · 0.7 = 0.525 of the questions; 0.15 · 2 + 0.3 · 5 + 0.55 · 9 = 6.75 tokens.
        assert!((right - 0.525).abs() < 0.1 && (tokens - 6.75).abs() < 0.4, "{right} {tokens}");
        // The first relation of an entity is answered by the second.
        let chances = biased.chances(&Question(0).answers());
        assert!(chances[LENGTHS + 2] > chances[2]);
        assert_eq!(texts.wrong(Question(0), &mut stream), 1);
    }
}

mod edits {
    use merit_core::Seed;
    use merit_studies::worlds::edits::{Faults, Instruction, USEFUL, Work, manner};

    fn work() -> Work {
        let mut source = [0; 36];
        source[35] = 5;
        Work { source, instruction: Instruction { row: 0, column: 0, colour: 3 } }
    }

    #[test]
    fn a_right_edit_has_every_useful_predicate_and_full_worth() {
        let grid = work().edited(Faults::default(), &mut Seed::root(1).stream());
        assert_eq!(grid.iter().filter(|cell| **cell == 3).count(), 4);
        assert!(work().predicates(&grid)[..USEFUL].iter().all(|value| *value == 1.0));
        assert!((work().worth(&grid) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn worth_is_the_sum_of_four_predicates() {
        // Two of four painted, three cells touched outside: 0.4·0.5 + 0.3·(1 − 3/8) + 0.2·0 + 0.1·0 = 0.3875.
        let faults = Faults { missing: 2, collateral: 3, wrong_colour: false };
        let grid = work().edited(faults, &mut Seed::root(2).stream());
        assert!((work().worth(&grid) - 0.3875).abs() < 1e-12);
    }

    #[test]
    fn what_was_left_alone_is_worth_half_and_a_wrong_colour_is_no_paint() {
        let mut stream = Seed::root(3).stream();
        let nothing = work().edited(manner(1), &mut stream);
        // 0.3 for what was left alone and 0.2 for one colour.
        assert!((work().worth(&nothing) - 0.5).abs() < 1e-12);
        assert_eq!(work().predicates(&nothing)[0], 0.0);
        let wrong = work().edited(manner(5), &mut stream);
        assert_eq!(work().predicates(&wrong)[0], 0.0);
    }
}

mod encyclopaedia {
    use merit_core::Seed;
    use merit_studies::worlds::encyclopaedia::{ATTRIBUTES, Encyclopaedia, HITS, name, value};

    #[test]
    fn words_are_different_and_pages_are_found_by_name_and_by_value() {
        // 1, 23 and 45: the first consonant with the second vowel, the fifth with the fourth, the tenth with the first.
        assert_eq!((name(0), name(7), name(12_345)), ("bababa".into(), "babaci".into(), "begoma".into()));
        let book = Encyclopaedia::draw(300, &mut Seed::root(101).stream()).unwrap();
        // Pages that link to it name it too, so that its own is one of the first and not always the first.
        assert!(book.search(&name(17), 0).unwrap().contains(&17));
        let facts = book.values[17];
        let all: Vec<String> = (0..ATTRIBUTES).map(|a| value(a, facts[a])).collect();
        assert_eq!(book.search(&all.join(" "), 0).unwrap()[0], 17);
        // Ten and the next ten have no page in common.
        let [first, second] = [0, 1].map(|page| book.search("trade", page).unwrap());
        assert_eq!((first.len(), second.len()), (HITS, HITS));
        assert!(first.iter().all(|page| !second.contains(page)));
    }

    #[test]
    fn nobody_is_linked_to_itself() {
        let book = Encyclopaedia::draw(50, &mut Seed::root(101).stream()).unwrap();
        assert!(book.links.iter().enumerate().all(|(entity, links)| links.iter().all(|l| *l != entity)));
    }
}

mod frames {
    use merit_core::Seed;
    use merit_studies::worlds::frames::{FRAMES, Token, Video};

    #[test]
    fn relevance_entropy_and_company_by_hand() {
        let word = Token::Word;
        let frames = vec![
            vec![word(1), word(2), word(1)],
            vec![word(1), word(2), Token::Background(0), Token::Answer(3)],
            vec![word(1), Token::Answer(3)],
        ];
        let video = Video { frames, query: [1, 2], answer: 3, window: 1 };
        // 3 / √(2 · 5), 2 / √(2 · 4), 1 / √(2 · 2)
        let near = |found: Vec<f64>, want: [f64; 3]| {
            found.iter().zip(want).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{found:?}"));
        };
        near(video.relevance(), [0.94868, 0.5_f64.sqrt(), 0.5]);
        // Shares 2/3 and 1/3; four quarters; two halves.
        near(video.entropy(), [0.9183, 2.0, 1.0]);
        assert_eq!(video.seen_with(3, &[0, 1, 2]), [1, 1]);
        assert_eq!(video.seen_with(4, &[0, 1, 2]), [0, 0]);
    }

    #[test]
    fn distractors_are_the_most_relevant_frames_and_the_emptiest() {
        let mut stream = Seed::root(101).stream();
        let video =
            (0..50).map(|_| Video::draw(12, &mut stream)).find(|v| v.frames.iter().any(|f| f.len() == 3));
        let video = video.unwrap();
        let (relevance, entropy) = (video.relevance(), video.entropy());
        let empty: Vec<usize> = (0..FRAMES).filter(|at| video.frames[*at].len() == 3).collect();
        for at in (0..FRAMES).filter(|at| !empty.contains(at)) {
            assert!(empty.iter().all(|e| relevance[*e] > relevance[at] && entropy[*e] < entropy[at]));
        }
    }
}

mod keys {
    use merit_core::Seed;
    use merit_studies::worlds::keys::{Hint, KEYS, Task, Trial, Vaults};

    #[test]
    fn the_actor_alone_opens_a_fifth_and_obeys_nine_of_ten_hints() {
        let mut stream = Seed::root(101).stream();
        let vaults = Vaults::draw(&mut stream);
        let mut opened = |hints: &dyn Fn(&Task) -> Vec<Hint>| {
            let won = (0..4000).filter(|_| {
                let task = Task::draw(&mut stream);
                vaults.attempt(&task, &hints(&task), &mut stream).opened
            });
            won.count() as f64 / 4000.0
        };
        // 0.04 + 0.96 / 6 = 0.2
        assert!((opened(&|_| Vec::new()) - 0.2).abs() < 0.02);
        // 0.9 + 0.1 · 0.2
        assert!(
            (opened(&|task| vec![Hint::Use((task.fits + 1) % KEYS), Hint::Use(task.fits)]) - 0.92).abs()
                < 0.02
        );
        // Of two keys left one fits: 0.9 (0.04 + 0.96 / 3) + 0.1 · 0.2; only the three newest hints are remembered.
        let avoid = |task: &Task| (1..=4).map(|i| Hint::Avoid((task.fits + i) % KEYS)).collect();
        assert!((opened(&avoid) - 0.344).abs() < 0.025);
    }

    #[test]
    fn a_failed_trial_tells_the_key_in_most_cases_and_how_far_one_got() {
        let mut stream = Seed::root(101).stream();
        let vaults = Vaults::draw(&mut stream);
        let task = Task { fits: 2, way: 0.5 };
        let trials: Vec<Trial> = (0..3000).map(|_| vaults.attempt(&task, &[], &mut stream)).collect();
        let told = trials.iter().filter(|trial| trial.mark == vaults.marks[2]).count();
        // 0.8 + 0.2 / 6 = 0.833
        assert!((2430..2570).contains(&told), "{told}");
        for trial in trials {
            let fits = if trial.opened { trial.gain == 1.0 } else { (0.3..0.5).contains(&trial.gain) };
            assert!(fits, "{trial:?}");
        }
    }
}

mod pick_place {
    use merit_core::Seed;
    use merit_studies::worlds::pick_place::{
        Axes, GRASP, LET_GO, Rollout, Task, cloned, demonstrate, play, success,
    };

    fn scripted(task: &Task, actions: &[usize]) -> Rollout {
        let mut actions = actions.iter().copied();
        play(task, |_, _, _| actions.next().unwrap_or(GRASP))
    }

    #[test]
    fn what_is_true_of_a_try_by_hand() {
        let task = Task { gripper: (0, 0), object: (1, 0), goal: (1, 2), mislabelled: false };
        let right = scripted(&task, &[0, GRASP, 2, 2, LET_GO]);
        assert_eq!(
            (right.path.len(), right.axes),
            (5, Axes { success: 1.0, smoothness: 1.0, accuracy: 1.0 })
        );
        // North, south, north: two of four moves turn back; let go two short of the goal.
        let wrong = scripted(&task, &[0, GRASP, 2, 3, LET_GO]);
        assert_eq!(wrong.axes.success, 0.0);
        assert!((wrong.axes.smoothness - (1.0 - 1.0 / 3.0)).abs() < 1e-12);
        assert!((wrong.axes.accuracy - 0.8).abs() < 1e-12);
        // Grasping beside the object, and letting go of nothing, only take time.
        assert_eq!(scripted(&task, &[GRASP, LET_GO, 0, GRASP, 2, 2, LET_GO]).axes.success, 1.0);
        assert_eq!(
            scripted(&Task { mislabelled: true, ..task }, &[0, GRASP, 2, 2, LET_GO]).axes.success,
            0.0
        );
    }

    #[test]
    fn a_hand_that_does_not_slip_always_succeeds_and_is_imitated() {
        let mut stream = Seed::root(101).stream();
        let tasks: Vec<Task> = (0..100).map(|_| Task::draw(&mut stream)).collect();
        assert!(tasks.iter().all(|task| demonstrate(task, 0.0, &mut stream).axes.success == 1.0));
        let (steady, shaky) = (cloned(300, 0.0, &mut stream), cloned(300, 0.5, &mut stream));
        let [steady, shaky] = [steady, shaky].map(|policy| success(&policy, &tasks, &mut stream));
        assert!(steady > 0.8 && shaky < steady - 0.2, "{steady} {shaky}");
    }
}

mod recommender {
    use merit_core::Seed;
    use merit_studies::worlds::recommender::{Catalogue, Reply};

    #[test]
    fn a_reply_has_the_faults_that_were_asked_for_and_no_others() {
        let mut stream = Seed::root(101).stream();
        let catalogue = Catalogue::draw(200, 300, &mut stream);
        for mask in 0..160_u8 {
            let faults: [bool; 4] = std::array::from_fn(|axis| mask >> axis & 1 == 1);
            let reply = catalogue.reply(faults, &mut stream).unwrap();
            let found = [!reply.follows(), !reply.is_true(), reply.relevance() < 1.0];
            assert_eq!(found, faults[..3], "{reply:?}");
        }
    }

    #[test]
    fn tastes_are_standardised() {
        let mut stream = Seed::root(101).stream();
        let catalogue = Catalogue::draw(4000, 1, &mut stream);
        let tastes: Vec<f64> = catalogue.items.iter().map(|item| catalogue.users[0].taste(item)).collect();
        let mean = tastes.iter().sum::<f64>() / 4000.0;
        let square = tastes.iter().map(|t| t * t).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 0.05 && (square - 1.0).abs() < 0.06, "{mean} {square}");
    }

    #[test]
    fn checks_by_hand() {
        let item = [0, 1, 2, 3, 0, 1, 2, 3];
        let reply = Reply {
            history: [0; 8],
            query: vec![(0, 0), (1, 2)],
            item,
            claims: vec![(0, 0), (1, 1), (4, 2)],
            closed: true,
        };
        // One of two constraints is met; the third claim is false; the first says what the history likes.
        assert_eq!((reply.relevance(), reply.is_true(), reply.flattery()), (0.5, false, 1.0));
        assert!(reply.follows() && !Reply { closed: false, ..reply.clone() }.follows());
        // "claims 3", "closed", 8 of the record, and a word and a pair for 3 claims, 2 constraints and 8 of the history.
        assert_eq!(reply.words(64).len(), 2 + 8 + 2 * (3 + 2 + 8));
    }
}

mod records {
    use merit_core::Seed;
    use merit_studies::worlds::records::{Demonstrator, Records, Text};

    #[test]
    fn one_record_of_a_batch_answers_a_query() {
        let mut stream = Seed::root(101).stream();
        let batch = Records::draw(400, [4, 8], 512, &mut stream).batch(32, &mut stream);
        assert_eq!(batch.queries.len(), 32);
        for (at, query) in batch.queries.iter().enumerate() {
            let answers = |record: &Text| query.asked.iter().all(|k| record.values[*k] == query.values[*k]);
            let found: Vec<usize> =
                batch.records.iter().enumerate().filter(|(_, r)| answers(r)).map(|(i, _)| i).collect();
            assert_eq!(found, [at]);
            assert_eq!((query.rows.len(), batch.records[at].rows.len()), (16, 20));
        }
    }

    #[test]
    fn a_demonstrator_is_wrong_as_often_as_said() {
        let mut stream = Seed::root(101).stream();
        let records = Records::draw(50, [0, 0], 64, &mut stream);
        let shown = Demonstrator::draw(0.4, &mut stream);
        let (mut wrong, mut all) = (0.0, 0.0);
        for _ in 0..3000 {
            let text = &records.batch(1, &mut stream).queries[0];
            for (cue, asked) in shown.show(text, &mut stream).iter().zip(text.asked) {
                wrong += f64::from(u8::from(*cue != asked));
                all += 1.0;
            }
        }
        assert!((wrong / all - 0.4).abs() < 0.03, "{}", wrong / all);
    }
}

mod sale {
    use merit_core::Seed;
    use merit_studies::worlds::sale::{Act, Talk};

    fn talk(doubts: &[usize], known: [bool; 2]) -> Talk {
        let mut talk = Talk::new(&mut Seed::root(101).stream());
        (talk.need, talk.cash, talk.patience, talk.known) = (2, 4, 8, known);
        (talk.doubts, talk.said) = (doubts.to_vec(), Vec::new());
        talk
    }

    #[test]
    fn the_chance_of_a_deal_by_hand() {
        let near = |talk: &Talk, x: f64| assert!((talk.chance() - 1.0 / (1.0 + f64::exp(-x))).abs() < 1e-12);
        let mut sale = talk(&[3], [true, false]);
        near(&sale, -4.0);
        for (act, x) in [
            (Act::Ask(1), -4.0),
            (Act::Show(2), -2.0),
            (Act::Bid(5), -2.4),
            (Act::Bid(3), 1.1),
            (Act::Settle(0), 0.7),
            (Act::Settle(3), 3.2),
        ] {
            assert_eq!(sale.take(act), None, "{act:?}");
            near(&sale, x);
        }
        assert_eq!(
            sale.said.join(" "),
            "ask-cash cash-4 show-looks nice too-dear bid-5 too-much too-dear bid-3 fine too-dear prove so-what too-dear cut ok"
        );
        assert_eq!(sale.clone().take(Act::Close), Some(sale.chance()));
        // What is known is asked for: a slip, and the seventh act; the eighth is the last.
        assert_eq!(sale.take(Act::Ask(0)), None);
        near(&sale, 2.8);
        assert_eq!(sale.take(Act::Ask(0)), Some(0.0));
    }

    #[test]
    fn a_seller_with_skill_makes_the_shortest_right_talk() {
        assert_eq!(Act::all().len(), 2 + 5 + 6 + 4 + 1);
        let (mut sale, mut stream) = (talk(&[1, 0], [false, false]), Seed::root(1).stream());
        let mut acts = Vec::new();
        while !acts.contains(&Act::Close) {
            let act = sale.usual(1.0, &mut stream);
            acts.push(act);
            sale.take(act);
        }
        use Act::{Ask, Bid, Close, Settle, Show};
        assert_eq!(acts, [Ask(0), Ask(1), Show(2), Bid(4), Settle(1), Settle(0), Close]);
    }
}

mod traces {
    use merit_core::Seed;
    use merit_studies::worlds::traces::{Call, Defect, Kind, Last, Pair, Tool, Trace};

    fn call(tool: Tool, object: usize, ok: bool) -> Call {
        Call { tool, object, ok }
    }

    fn trace(calls: Vec<Call>) -> Trace {
        Trace { unsafe_request: false, missing_tool: false, calls, last: Last::Done }
    }

    #[test]
    fn the_validator_names_every_defect() {
        use Tool::{Ask, Close, Open, Use};
        let right = trace(vec![
            call(Open, 0, true),
            call(Use, 0, false),
            call(Use, 0, true),
            call(Ask, 1, true),
            call(Close, 0, true),
        ]);
        assert_eq!(right.defects(), []);
        assert_eq!(trace(vec![call(Use, 0, true)]).defects(), [Defect::Illegal]);
        assert_eq!(trace(vec![call(Ask, 0, true), call(Ask, 0, true)]).defects(), [Defect::Redundant]);
        assert_eq!(trace(vec![call(Ask, 0, false), call(Ask, 1, true)]).defects(), [Defect::Ignored]);
        assert_eq!(trace(vec![call(Ask, 0, false)]).defects(), [Defect::Ignored]);
        assert_eq!(Trace { unsafe_request: true, ..right.clone() }.defects(), [Defect::Message]);
        assert_eq!(Trace { missing_tool: true, last: Last::Cannot, ..right }.defects(), []);
    }

    #[test]
    fn a_pair_has_one_defect_and_one_length() {
        let mut stream = Seed::root(101).stream();
        for (kind, _, name) in Kind::ALL {
            for length in [5, 9, 30, 60] {
                let pair = Pair::draw(kind, length, &mut stream);
                assert_eq!((pair.right.defects(), pair.wrong.defects().len()), (vec![], 1), "{name}");
                assert_eq!((pair.right.calls.len(), pair.wrong.calls.len()), (length, length));
            }
        }
    }
}

mod triples {
    use merit_core::Seed;
    use merit_studies::worlds::triples::{Miss, PICKS, PLACES, Question, read};

    #[test]
    fn picks_are_all_different_and_sums_are_right() {
        let all: std::collections::BTreeSet<[usize; 3]> = PLACES.into_iter().collect();
        assert_eq!((all.len(), PLACES[0], PLACES[55]), (PICKS, [0, 1, 2], [5, 6, 7]));
        let question = Question { numbers: [1, 2, 3, 4, 5, 6, 7, 8], target: 8 };
        assert_eq!((question.off(0), question.off(55), question.kind()), (-2, 13, 3));
        let scores = [0, 1, -2, 3].map(|off| Miss::of(off).score());
        assert_eq!(scores, [3, 2, 2, 1]);
    }

    #[test]
    fn every_question_has_an_answer_and_readings_are_wrong_by_four_at_most() {
        let mut stream = Seed::root(101).stream();
        let mut exact = 0;
        for _ in 0..1000 {
            let question = Question::draw_of(&[1, 3], &mut stream);
            assert!([1, 3].contains(&question.kind()));
            assert!(question.pick_of(Miss::Right, &mut stream).is_some());
            let seen = read(7, 0.7, &mut stream);
            assert!((3..=11).contains(&seen));
            exact += usize::from(seen == 7);
        }
        assert!((650..750).contains(&exact), "{exact}");
    }
}
