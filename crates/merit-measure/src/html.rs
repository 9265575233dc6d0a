//! Safe text in a page. Every string that comes from a run passes through [`escape`] on its way out.

/// Text as it may stand in an element or a quoted attribute. Control characters and marks that turn the direction of
/// writing become visible signs, so that a hostile transcript cannot disguise itself.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// A table; cells are already safe. Columns after the first are numbers where `numeric` says so.
pub fn table(head: &[&str], numeric: bool, rows: &[Vec<String>]) -> String {
    let class = |column: usize| if numeric && column > 0 { " class=\"n\"" } else { "" };
    let heads: String = head.iter().enumerate().map(|(c, h)| format!("<th{}>{h}</th>", class(c))).collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let cells: String =
                row.iter().enumerate().map(|(c, cell)| format!("<td{}>{cell}</td>", class(c))).collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    format!("<div class=\"scroll\"><table>\n<tr>{heads}</tr>\n{body}</table></div>\n")
}

/// A share as a percentage.
pub fn percent(value: f64) -> String {
    format!("{:.1}%", value * 100.0)
}

/// A number of any size, short, with a true minus sign.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if !value.is_finite() => "not a number".to_owned(),
        0.0 => "0".to_owned(),
        _ if !(1e-3..1e6).contains(&size) => format!("{value:.1e}").replace(".0e", "e"),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    text.replace('-', "−")
}

/// A count with thin spaces between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Unix milliseconds as a date and minute in UTC (days to civil date after H. Hinnant's published algorithm).
pub fn date(ms: u64) -> String {
    let (days, minute) = (ms / 86_400_000, ms / 60_000 % 1440);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// Milliseconds as a person says them.
pub fn duration(ms: u64) -> String {
    match ms / 1000 {
        0..=119 => format!("{:.1} s", ms as f64 / 1000.0),
        s @ 120..=7199 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_survives() {
        assert_eq!(escape("<script>alert('x')</script>"), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
        assert_eq!(escape("a\" onload=\"b & c"), "a&quot; onload=&quot;b &amp; c");
        assert_eq!(escape("a\0b\x1b[31m\u{202e}c\n"), "a␀b␛[31m\u{fffd}c\n");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        // 2000-02-29 12:34 UTC is 951 827 640 s; 2026-01-01 00:00 UTC is 1 767 225 600 s
        assert_eq!(date(951_827_640_000), "2000-02-29 12:34 UTC");
        assert_eq!(date(1_767_225_600_000), "2026-01-01 00:00 UTC");
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (-0.25, "−0.25"), (12.345, "12.3"), (1234.5, "1234"), (2e-5, "2e−5"), (1.0, "1")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(duration(5_400_000), "90 min 0 s");
    }
}
