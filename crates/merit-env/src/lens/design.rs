//! Prescriptions in words, and how designs are found: by search, by chance, and by refining.

use super::Spec;
use super::optics::{
    CURVATURE_STEP, Element, GLASSES, STRONGEST, THICKEST, feasibility, feasibility_if, focus, spot_below,
};
use merit_core::Stream;

/// Numbers of one element in a prescription: the place of its glass, two curvatures in steps, its thickness, and the gap before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub glass: usize,
    pub front: i64,
    pub back: i64,
    pub thickness: i64,
    /// Air before it; 0 for the first.
    pub gap: i64,
}

/// The words of a prescription: `crown 12 -5 4 gap 2 flint -3 10 3`.
pub fn written(rows: &[Row]) -> String {
    let row = |(place, row): (usize, &Row)| {
        let gap = if place == 0 { String::new() } else { format!("gap {} ", row.gap) };
        let glass = GLASSES.get(row.glass).map_or("", |glass| glass.0);
        format!("{gap}{glass} {} {} {}", row.front, row.back, row.thickness)
    };
    rows.iter().enumerate().map(row).collect::<Vec<String>>().join(" ")
}

/// The rows that a text describes; absent where it is no prescription.
pub fn read(text: &str) -> Option<Vec<Row>> {
    let mut words = text.split_whitespace().peekable();
    let mut rows = Vec::new();
    while words.peek().is_some() {
        let gap = if rows.is_empty() {
            0
        } else {
            number(words.next_if_eq(&"gap").and(words.next())?, 0..=THICKEST)?
        };
        let name = words.next()?;
        let glass = GLASSES.iter().position(|(glass, _)| *glass == name)?;
        let front = number(words.next()?, -STRONGEST..=STRONGEST)?;
        let back = number(words.next()?, -STRONGEST..=STRONGEST)?;
        let thickness = number(words.next()?, 1..=THICKEST)?;
        rows.push(Row { glass, front, back, thickness, gap });
    }
    (!rows.is_empty()).then_some(rows)
}

fn number(word: &str, known: std::ops::RangeInclusive<i64>) -> Option<i64> {
    word.parse().ok().filter(|number| known.contains(number) && number.to_string() == word)
}

/// The elements of a prescription.
pub fn elements(rows: &[Row]) -> Vec<Element> {
    let gap_behind = |place: usize| rows.get(place + 1).map_or(0.0, |next| next.gap as f64);
    let element = |(place, row): (usize, &Row)| Element {
        index: GLASSES.get(row.glass).map_or(1.5, |glass| glass.1),
        front: row.front as f64 * CURVATURE_STEP,
        back: row.back as f64 * CURVATURE_STEP,
        thickness: row.thickness as f64,
        gap: gap_behind(place),
    };
    rows.iter().enumerate().map(element).collect()
}

/// A prescription drawn by chance, of any focal length or none.
pub fn drawn(spec: &Spec, rng: &mut Stream) -> Vec<Row> {
    let mut within = |low: i64, high: i64| low + rng.below((high - low + 1) as u64) as i64;
    (0..spec.elements)
        .map(|place| Row {
            glass: within(0, GLASSES.len() as i64 - 1) as usize,
            front: within(-STRONGEST, STRONGEST),
            back: within(-STRONGEST, STRONGEST),
            thickness: within(1, THICKEST),
            gap: if place == 0 { 0 } else { within(0, THICKEST) },
        })
        .collect()
}

/// A prescription that can be made, of any focal length.
pub fn made(spec: &Spec, rng: &mut Stream) -> Option<Vec<Row>> {
    let mut tries = (0..TRIES).map(|_| drawn(spec, rng));
    tries.find(|rows| feasibility(&elements(rows), spec.semi_aperture()) >= 1.0)
}

/// A prescription that can be made and has the focal length of the spec: everything is drawn but the last curvature, which is solved.
pub fn solved(spec: &Spec, rng: &mut Stream) -> Option<Vec<Row>> {
    (0..TRIES).find_map(|_| {
        let mut rows = drawn(spec, rng);
        let best = (-STRONGEST..=STRONGEST).filter_map(|back| {
            if let Some(last) = rows.last_mut() {
                last.back = back;
            }
            Some((back, spec.error(focus(&elements(&rows))?.0)))
        });
        let (back, error) = best.min_by(|a, b| a.1.total_cmp(&b.1))?;
        if let Some(last) = rows.last_mut() {
            last.back = back;
        }
        let fits =
            error < super::TOLERANCE * 0.9 && feasibility(&elements(&rows), spec.semi_aperture()) >= 1.0;
        fits.then_some(rows)
    })
}

/// A prescription out of a textbook: elements alike, as nearly the same on both sides as the focal length allows, of the first glass and
/// the thinnest edge that will do. Absent: none of these fits.
pub fn textbook(spec: &Spec) -> Option<Vec<Row>> {
    let count = i64::from(spec.elements);
    // All curvatures together, front less back; every element takes its share of it, the last one what is left over.
    let bends = 1..=2 * STRONGEST * count;
    let glasses = 0..GLASSES.len();
    glasses.flat_map(|glass| bends.clone().map(move |bend| (glass, bend))).find_map(|(glass, bend)| {
        (1..=THICKEST).find_map(|thickness| {
            let row = |place: i64| {
                let own = bend / count + if place == count - 1 { bend % count } else { 0 };
                Row { glass, front: own - own / 2, back: -(own / 2), thickness, gap: i64::from(place > 0) }
            };
            let rows: Vec<Row> = (0..count).map(row).collect();
            let known = rows.iter().all(|row| row.front <= STRONGEST);
            let fits = known
                && spec.error(focus(&elements(&rows))?.0) < super::TOLERANCE * 0.9
                && feasibility(&elements(&rows), spec.semi_aperture()) >= 1.0;
            fits.then_some(rows)
        })
    })
}

/// Draws in which any spec of the world's range is met many times over.
const TRIES: usize = 20_000;

/// The cost of a design without a focus, or that loses a ray.
const LOST: f64 = 1e6;

/// What refining makes small: the spot, in thousandths of the focal length, and how far the focal length is off. Infinity, or any number
/// that is not below `most`, where it is not below `most`: the parts are not negative, and rays are traced last.
fn cost(design: &[Element], spec: &Spec, most: f64) -> f64 {
    let Some((efl, distance)) = focus(design) else { return LOST };
    let (off, semi_aperture) = (200.0 * spec.error(efl), spec.semi_aperture());
    // Where a spot is found no ray is lost.
    let unmade = 1e3 * (1.0 - feasibility_if(design, semi_aperture, true));
    let whole = |spot: f64| 1e3 * spot / spec.focus() + off + unmade;
    // A lost ray costs less than some designs do.
    if most > LOST {
        return spot_below(design, semi_aperture, distance, |_| true).map_or(LOST, whole);
    }
    if off + unmade >= most {
        return f64::INFINITY;
    }
    spot_below(design, semi_aperture, distance, |spot| whole(spot) < most).map_or(f64::INFINITY, whole)
}

/// The cost of a design after `looks` looks of a search by coordinates, or once it is below `enough`: curvatures go up or down by a step
/// that is halved when nothing helps.
fn refine(mut design: Vec<Element>, spec: &Spec, looks: usize, enough: f64) -> f64 {
    let mut best = cost(&design, spec, f64::INFINITY);
    let mut step = CURVATURE_STEP;
    let (mut left, mut at, mut vain) = (looks.saturating_sub(1), 0, 0);
    let moves = design.len() * 4;
    while left > 0 && moves > 0 && best >= enough {
        let by = if at % 2 == 0 { step } else { -step };
        let before = turned(&mut design, at, |curvature| curvature + by);
        let found = cost(&design, spec, best);
        left -= 1;
        if found < best {
            (best, vain) = (found, 0);
        } else {
            turned(&mut design, at, |_| before);
            (at, vain) = ((at + 1) % moves, vain + 1);
        }
        if vain >= moves {
            (step, vain) = (step / 2.0, 0);
        }
    }
    best
}

/// Changes the curvature that move `at` is about; what it was.
fn turned(design: &mut [Element], at: usize, change: impl FnOnce(f64) -> f64) -> f64 {
    let Some(element) = design.get_mut(at / 4) else { return 0.0 };
    let curvature = if at % 4 < 2 { &mut element.front } else { &mut element.back };
    std::mem::replace(curvature, change(*curvature))
}

/// Whether the optimiser makes something of a prescription in `looks` looks at rays whose cost is below `enough`.
pub fn refines_below(rows: &[Row], spec: &Spec, looks: usize, enough: f64) -> bool {
    refine(elements(rows), spec, looks, enough) < enough
}

/// What chance and the optimiser make of a spec with the same number of looks: half of them draw, half refine the best draw.
pub fn refined_from_chance(spec: &Spec, looks: usize, rng: &mut Stream) -> f64 {
    let draws = looks / 2;
    let mut best: Option<(f64, Vec<Element>)> = None;
    for _ in 0..draws {
        let tried = elements(&drawn(spec, rng));
        let known = best.as_ref().map_or(f64::INFINITY, |(cost, _)| *cost);
        let found = cost(&tried, spec, known);
        if best.is_none() || found.total_cmp(&known).is_lt() {
            best = Some((found, tried));
        }
    }
    best.map_or(f64::INFINITY, |(_, design)| refine(design, spec, looks - draws, f64::NEG_INFINITY))
}
