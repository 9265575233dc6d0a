use merit_core::{Component as _, Seed};
use merit_studies::commons::mind::{Mind, Seen, Table};
use merit_studies::commons::resource::Resource;
use merit_studies::commons::society::{Agent, Costs, Institutions, Society};
use merit_studies::studies::CprNorms;

fn agent(effort: f64, cap: f64) -> Agent {
    let mind = Mind::Constant;
    Agent { effort, cap, tolerance: 0.0, compliance: 0.5, wealth: 3.0, alive: true, mind }
}

fn society(agents: Vec<Agent>, institutions: Institutions) -> Society {
    let costs = Costs {
        most_harvest: 2.0,
        living: 0.1,
        effort: 0.05,
        sanction: 0.2,
        fine: 0.6,
        watched: 3,
        imitation: 1.0,
    };
    Society::new(Resource { level: 50.0, capacity: 100.0, growth: 0.2 }, agents, institutions, costs)
}

#[test]
fn one_harvest_by_hand() {
    // 2 * 0.5 * 0.5 and 2 * 1 * 0.5; 48.5 are left and grow by 0.2 * 48.5 * 0.515.
    let mut resource = Resource { level: 50.0, capacity: 100.0, growth: 0.2 };
    assert_eq!(resource.harvest(&[0.5, 1.0], 2.0), [0.5, 1.0]);
    assert!((resource.level - (48.5 + 0.2 * 48.5 * 0.515)).abs() < 1e-12);
    // More than there is: shared out in proportion, nothing grows back.
    let mut poor = Resource { level: 10.0, capacity: 10.0, growth: 0.2 };
    assert_eq!(poor.harvest(&[1.0, 1.0], 20.0), [5.0, 5.0]);
    assert_eq!((poor.level, poor.collapsed()), (0.0, true));
}

#[test]
fn the_sustainable_yield_holds_the_resource_at_half_its_capacity() {
    // In the limit of small rounds; here regrowth follows the harvest, so that the level settles a little lower.
    let mut resource = Resource { level: 50.0, capacity: 100.0, growth: 0.02 };
    let effort = 2.0 * resource.sustainable_yield() / 20.0;
    (0..5000).for_each(|_| drop(resource.harvest(&[effort; 10], 2.0)));
    assert!((45.0..=50.5).contains(&resource.level), "{}", resource.level);
}

#[test]
fn wealth_is_the_harvest_less_costs() {
    let mut society = society(vec![agent(0.4, 1.0), agent(0.8, 1.0)], Institutions::default());
    let round = society.round(&mut Seed::root(1).stream());
    // 2 * 0.4 * 0.5 − 0.1 − 0.05 * 0.4.
    assert!((society.agents[0].wealth - (3.0 + 0.4 - 0.1 - 0.02)).abs() < 1e-12);
    assert!((round.harvest - 1.2).abs() < 1e-12);
}

#[test]
fn a_sanction_costs_who_gets_it_and_who_gives_it() {
    let agents = vec![agent(0.9, 1.0), agent(0.3, 0.3), agent(0.3, 0.3)];
    let mut society = society(agents, Institutions { punishment: true, ..Institutions::default() });
    let sanctions = society.round(&mut Seed::root(2).stream()).sanctions;
    assert!(sanctions > 0.0);
    let earned = |effort: f64| 2.0 * effort * 0.5 - 0.1 - 0.05 * effort;
    assert!((society.agents[0].wealth - (3.0 + earned(0.9) - 0.6 * sanctions)).abs() < 1e-9);
    let judges: f64 = (1..3).map(|i| 3.0 + earned(0.3) - society.agents[i].wealth).sum();
    assert!((judges - 0.2 * sanctions).abs() < 1e-9);
}

#[test]
fn imitation_follows_wealth() {
    let mut copied = [0, 0];
    for seed in 0..400 {
        let mut agents = vec![agent(0.2, 0.2), agent(0.9, 0.9)];
        agents[1].wealth = 10.0;
        let mut society = society(agents, Institutions { social_learning: true, ..Institutions::default() });
        society.round(&mut Seed::root(seed).stream());
        copied[0] += usize::from(society.agents[0].cap == 0.9);
        copied[1] += usize::from(society.agents[1].cap == 0.2);
    }
    // Each looks at the other half of the time; the lead is about 7.6: chance 0.9995 and 0.0005.
    assert!((160..240).contains(&copied[0]) && copied[1] <= 3, "{copied:?}");
}

#[test]
fn a_vote_gives_all_the_same_cap_and_those_above_it_give_way() {
    let agents = (0..5).map(|i| agent(0.9, 0.3 + 0.1 * f64::from(i))).collect();
    let institutions = Institutions { vote: true, punishment: false, social_learning: false };
    let mut society = society(agents, institutions);
    society.round(&mut Seed::root(3).stream());
    let cap = society.agents[0].cap;
    assert!(society.agents.iter().all(|agent| agent.cap == cap && (0.2..0.75).contains(&cap)));
    assert!(society.agents.iter().all(|agent| (agent.effort - (0.9 - 0.5 * (0.9 - cap))).abs() < 1e-12));
}

#[test]
fn a_q_value_moves_towards_its_target() {
    let mut table = Table::new(0.9, 0.5, 0.9, 0.0);
    table.values = [[0.0; 5]; 5];
    table.values[2][1] = 2.0;
    table.learn(1.0, 2);
    // Born with effort 0.9 at a full resource: 0 + 0.5 (1 + 0.9 * 2 − 0).
    assert!((table.values[4][4] - 1.4).abs() < 1e-12);
}

#[test]
fn a_sanction_sends_a_climber_down() {
    let mut mind = Mind::Climber { upward: true, last_gain: 0.0 };
    let mut stream = Seed::root(4).stream();
    let mut next = |effort: f64, gain: f64, sanctions: u32| {
        mind.revise(effort, Seen { gain, sanctions, resource: 1.0 }, &mut stream)
    };
    assert!((next(0.5, 1.0, 0) - 0.55).abs() < 1e-12, "the gain rose");
    assert!((next(0.5, 0.5, 0) - 0.45).abs() < 1e-12, "it fell");
    assert!(
        (next(0.5, 0.2, 1) - 0.45).abs() < 1e-12,
        "it fell again, which would turn upwards, but for the sanction"
    );
}

#[test]
fn a_vote_without_punishment_is_refused() {
    let refused = CprNorms { vote: true, ..CprNorms::default() }.check().unwrap_err().to_string();
    assert!(refused.starts_with("`vote` needs `punishment`"), "{refused}");
}

#[test]
fn the_smoke_run_ends_with_numbers() {
    crate::cells::check_smoke("cpr-norms");
}
