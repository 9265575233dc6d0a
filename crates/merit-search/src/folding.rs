//! Latin letters without their accents and strokes, so that `Łódź` is found by `lodz`.
//!
//! A letter that decomposes into a letter of ASCII and marks becomes that letter; those that do not decompose stand in a table.
//! Other scripts keep their marks, which are part of the letter there (`й` is not `и`).

use unicode_normalization::char::decompose_canonical;

/// Letters that Unicode does not take apart, by what they are searched as.
const WHOLE: &[(&str, &str)] = &[
    ("a", "ɐəɚᴀᶏᶕⱥ"),
    ("aa", "ꜳ"),
    ("ae", "æǣǽᴁᴂ"),
    ("ao", "ꜵ"),
    ("au", "ꜷ"),
    ("av", "ꜹꜻ"),
    ("ay", "ꜽ"),
    ("b", "ƀƃɓʙᴃᵬᶀ"),
    ("c", "ƈȼɕʗᴄↄꜿ"),
    ("d", "ðđƌȡɖɗᴅᴆᵭᶁᶑꝺ"),
    ("db", "ȸ"),
    ("dz", "ʣʥ"),
    ("e", "ǝɇɘɛɜɝɞʚᴇᴈᶒᶓᶔⱸⱻ"),
    ("f", "ƒᵮᶂꜰꝼꟻ"),
    ("g", "ǥɠɡɢʛᵷᵹᶃꝿ"),
    ("h", "ħɥɦʜʮʯⱨⱶ"),
    ("hv", "ƕ"),
    ("i", "ıɨɪᴉᵻᵼᶖꟾ"),
    ("j", "ȷɉɟʄʝᴊ"),
    ("k", "ƙʞᴋᶄⱪꝁꝃꝅ"),
    ("l", "łƚȴɫɬɭʟᴌᶅⱡꝇꝉꞁ"),
    ("ll", "ỻ"),
    ("ls", "ʪ"),
    ("lz", "ʫ"),
    ("m", "ɯɰɱᴍᵯᶆꟽꟿ"),
    ("n", "ŋƞȵɲɳɴᴎᵰᶇ"),
    ("o", "øǿɔɵᴏᴐᴖᴗᶗⱺꝋꝍ"),
    ("oe", "œɶᴔ"),
    ("oo", "ꝏ"),
    ("ou", "ȣᴕ"),
    ("p", "ƥᴘᵱᵽᶈꝑꝓꝕꟼ"),
    ("q", "ĸɋʠꝗꝙ"),
    ("qp", "ȹ"),
    ("r", "ɍɼɽɾɿʀʁᴙᴚᵲᵳᶉꝛꞃ"),
    ("s", "ȿʂᵴᶊẜẝꜱꞅ"),
    ("ss", "ß"),
    ("t", "ŧƫƭȶʇʈᴛᵵⱦ"),
    ("tc", "ʨ"),
    ("th", "þᵺꝧ"),
    ("ts", "ʦ"),
    ("tz", "ꜩ"),
    ("u", "ʉᴜᵾᶙ"),
    ("ue", "ᵫ"),
    ("v", "ʋʌᴠᶌⱱⱴꝟ"),
    ("vy", "ꝡ"),
    ("w", "ƿʍᴡⱳ"),
    ("x", "ᶍ"),
    ("y", "ƴɏʎʏỿ"),
    ("z", "ƶȝȥɀʐʑᴢᵶᶎⱬꝣ"),
];

/// Writes a lowercase letter as it is searched.
pub(crate) fn fold(letter: char, folded: &mut String) {
    if !is_latin(letter) {
        return folded.push(letter);
    }
    let mut first = None;
    decompose_canonical(letter, |part| first = first.or(Some(part)));
    match first.filter(char::is_ascii_alphabetic) {
        Some(plain) => folded.push(plain),
        None => match WHOLE.iter().find(|(_, letters)| letters.contains(letter)) {
            Some((plain, _)) => folded.push_str(plain),
            None => folded.push(letter),
        },
    }
}

/// The blocks of Unicode that hold Latin letters beyond ASCII.
fn is_latin(letter: char) -> bool {
    matches!(letter,
        '\u{c0}'..='\u{2af}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1eff}' | '\u{2184}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, want: &str) {
        let mut folded = String::new();
        word.chars().for_each(|letter| fold(letter, &mut folded));
        assert_eq!(folded, want);
    }

    #[test]
    fn latin_letters_lose_accents_and_strokes() {
        check("łódź", "lodz");
        check("smørrebrød", "smorrebrod");
        check("straße", "strasse");
        check("œuvre", "oeuvre");
        check("ǻǽǿǧ", "aaeog");
        check("việt", "viet");
        check("þórr", "thorr");
    }

    #[test]
    fn other_scripts_stay_as_they_are() {
        check("ελλάδα", "ελλάδα");
        check("йод", "йод");
        check("日本", "日本");
        check("abc123", "abc123");
    }
}
