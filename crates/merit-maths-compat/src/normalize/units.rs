//! Units at the end of an answer, dropped as Math-Verify drops them: a closing `\text{…}` with its power, then words of its
//! list, twice.

/// The words that count as units; a point stands for any character.
const UNITS: &str = "integerpoint|feet|sue|digit|pound|meal|edge|student|children ticket|multiple|east|degree|mph|kmph|ft|\
m square| m east|sq m|deg|mile|q .|monkey|prime|ratio|profit of rs|rd|o|gm|p . m|lb|tile|per|dm|lt|gain|ab|way|west|a .|b .|\
c .|d .|e .|f .|g .|h .|t|h|no change|men|soldier|pie|bc|excess|st|inches|noon|cent|by|gal|kmh|c|acre|rise|a . m|th|π r 2|\
sq|mark|l|toy|coin|sq . m|gallon|° f|profit|minw|yr|women|am|pm|hr|cu cm|square|v â € ™|are|rupee|rounds|cubic|cc|mtr|s|ohm|\
number|day|hour|minute|min|second|man|woman|sec|cube|mt|sq inch|mp|∏ cm ³|hectare|more|unit|cu . m|cm 2|rs .|rs|kg|g|month|\
km|m|cm|mm|apple|liter|loss|yard|pure|year|increase|decrease|d|less|Surface|litre|pi sq m|s .|metre|meter|inch";

/// The text without its units.
pub(super) fn drop_units(text: String) -> String {
    let mut text = drop_text(&text).unwrap_or(text);
    for _ in 0..2 {
        if let Some(shorter) = drop_word(&text) {
            text = shorter;
        }
    }
    text
}

/// Drops everything from the first `\text{` or `\mbox{` when the text ends with its brace and perhaps a power.
fn drop_text(text: &str) -> Option<String> {
    let from = ["\\text{", "\\mbox{"].iter().filter_map(|word| text.find(word)).min()?;
    let inside = &text[from + "\\text{".len()..];
    let is_power = |rest: &str| {
        let digit = |d: &str| d.len() == 1 && d.as_bytes()[0].is_ascii_digit();
        rest.is_empty()
            || rest.strip_prefix('^').is_some_and(digit)
            || rest.strip_prefix("{^").and_then(|r| r.strip_suffix('}')).is_some_and(digit)
    };
    let ends = inside.rmatch_indices('}').take(2).any(|(at, _)| is_power(&inside[at + 1..]));
    let left = text[..from].trim();
    (ends && !left.is_empty() && left != text).then(|| left.to_owned())
}

/// Drops a unit word at the end, keeping the digit, brace or white space before it.
fn drop_word(text: &str) -> Option<String> {
    // The longest unit, its plural and what `.` stands for fit easily into this many characters.
    const REACH: usize = 48;
    let body = text.trim_end();
    let from = body.char_indices().rev().take(REACH).last().map_or(0, |(i, _)| i);
    for (at, c) in body[from..].char_indices().map(|(i, c)| (from + i, c)) {
        if !(c.is_ascii_digit() || c == '}' || c.is_whitespace()) {
            continue;
        }
        let keep = at + c.len_utf8();
        let rest = &body[keep..];
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        let is_unit = |unit: &str| match unit.strip_prefix(' ') {
            Some(unit) => spaced && matches_unit(trimmed, unit),
            None => matches_unit(trimmed, unit),
        };
        let word = trimmed.starts_with(|c: char| c.is_alphabetic() || matches!(c, '°' | '∏'));
        if word && UNITS.split('|').any(is_unit) {
            return Some(text[..keep].to_owned()).filter(|shorter| shorter != text);
        }
    }
    None
}

fn matches_unit(rest: &str, unit: &str) -> bool {
    let mut chars = rest.chars();
    for u in unit.chars() {
        match chars.next() {
            Some(c) if c == u || u == '.' => {}
            _ => return false,
        }
    }
    matches!(chars.as_str(), "" | "s" | "es")
}
