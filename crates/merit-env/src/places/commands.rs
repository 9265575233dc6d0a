//! What can be said under each skin, for models that call instead of writing lines.

use super::Skin;
use super::blocks;
use super::home::{BOXES, ROOMS, THINGS, TREATMENTS};
use super::site::{FIELDS, GOODS, HUES, MIRRORS, SECTIONS};
use super::town::{ERRANDS, PULL, places};
use merit_api::CommandCard;

pub(super) fn cards(skin: Skin) -> Vec<CommandCard> {
    match skin {
        Skin::Plan => vec![
            CommandCard::unspoken("plan", "Say the whole plan, which ends it.")
                .text("plan", "its steps behind `ok:`, with commas between: `n` before walking, `m` before any other act")
                .example("ok: n go den, m take cup, m put cup bin"),
        ],
        Skin::House | Skin::Quests => home(skin == Skin::House),
        Skin::Site => site(),
        Skin::Errands => vec![
            go(places()),
            CommandCard::unspoken("run", "Run an errand where you are.")
                .one_of("errand", "as it is told", ERRANDS.into_iter().chain([PULL]))
                .example("pay bill"),
        ],
        Skin::Blocks => vec![
            CommandCard::new("stack", "Put a block on another.")
                .one_of("block", "what is moved", blocks::HUES)
                .one_of("onto", "where to", blocks::HUES)
                .example("stack red blue"),
            CommandCard::new("unstack", "Put a block on the table.")
                .one_of("block", "what is moved", blocks::HUES)
                .example("unstack red"),
        ],
    }
}

fn go(rooms: impl IntoIterator<Item = &'static str>) -> CommandCard {
    CommandCard::new("go", "Go to a place that is next to this one.")
        .one_of("place", "where to", rooms)
        .example("go den")
}

fn home(treats: bool) -> Vec<CommandCard> {
    let of = |name: &str, summary: &str, argument: &str, known: &[&str]| {
        let example = format!("{name} {}", known.first().copied().unwrap_or_default());
        CommandCard::new(name, summary).one_of(argument, "which one", known.iter().copied()).example(&example)
    };
    let put = CommandCard::new("put", "Put what you carry into something.")
        .one_of("thing", "what you carry", THINGS)
        .one_of("box", "where it goes", BOXES)
        .example("put cup bin");
    let acts = [
        go(ROOMS),
        of("open", "Open something that is shut.", "box", &BOXES),
        of("shut", "Shut something that is open.", "box", &BOXES),
        of("take", "Take a thing that is here.", "thing", &THINGS),
        put,
        of("drop", "Put down what you carry.", "thing", &THINGS),
    ];
    let treat = |(verb, fixture): (&str, &str)| {
        of(verb, &format!("Treat what you carry so, where there is a {fixture}."), "thing", &THINGS)
    };
    let treatments = treats.then_some(TREATMENTS).into_iter().flatten().map(treat);
    acts.into_iter().chain(treatments).collect()
}

fn site() -> Vec<CommandCard> {
    let links = [&MIRRORS[..], &SECTIONS, &GOODS].concat();
    let values: Vec<&str> = FIELDS.iter().flat_map(|(_, values)| *values).collect();
    let button = |name: &str, summary: &str| CommandCard::new(name, summary).example(name);
    vec![
        CommandCard::new("click", "Follow a link of the page.")
            .one_of("link", "its name", links)
            .example("click east"),
        CommandCard::new("pick", "Show the goods of a hue.")
            .one_of("hue", "which hue", HUES)
            .example("pick red"),
        button("next", "Show the next page of a list."),
        button("prev", "Show the page before."),
        button("home", "Go back to the first page."),
        CommandCard::new("set", "Fill in a field of the form.")
            .one_of("field", "which field", FIELDS.iter().map(|(name, _)| *name))
            .one_of("value", "what stands there", values)
            .example("set size big"),
        button("send", "Send the form, which ends it."),
    ]
}
