//! Dates for templates that state today's: seconds since 1970 to what `strftime` writes, in UTC.
//!
//! In: the time, handed in by the caller, so that rendering stays a function of its inputs. Out: text.

use minijinja::{Error, ErrorKind};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// What the `format` of `strftime` writes at `seconds` since 1970.
pub(super) fn strftime(seconds: i64, format: &str) -> Result<String, Error> {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (month_name, day_name) = (MONTHS[month as usize - 1], DAYS[(days + 3).rem_euclid(7) as usize]);
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let part = match letters.next() {
            Some('Y') => year.to_string(),
            Some('y') => format!("{:02}", year.rem_euclid(100)),
            Some('m') => format!("{month:02}"),
            Some('d') => format!("{day:02}"),
            Some('B') => month_name.to_owned(),
            Some('b') => month_name[..3].to_owned(),
            Some('A') => day_name.to_owned(),
            Some('a') => day_name[..3].to_owned(),
            Some('H') => format!("{hour:02}"),
            Some('M') => format!("{minute:02}"),
            Some('S') => format!("{second:02}"),
            Some('%') => "%".to_owned(),
            other => {
                let letter = other.map(String::from).unwrap_or_default();
                let message = format!(
                    "strftime_now: `%{letter}` is not known; known are %Y %y %m %d %B %b %A %a %H %M %S"
                );
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        };
        out.push_str(&part);
    }
    Ok(out)
}

/// Year, month and day of a day since 1970, in the Gregorian calendar. Counts in eras of 400 years that begin in March, so
/// that the leap day is the last of a year.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let check = |seconds: i64, want: &str| {
            assert_eq!(strftime(seconds, "%A %d %b %Y %H:%M:%S").unwrap(), want);
        };
        check(0, "Thursday 01 Jan 1970 00:00:00");
        check(951_782_400, "Tuesday 29 Feb 2000 00:00:00");
        check(1_721_952_000 + 3_661, "Friday 26 Jul 2024 01:01:01");
        check(-1, "Wednesday 31 Dec 1969 23:59:59");
        assert!(strftime(0, "%Q").unwrap_err().to_string().contains("%Q"));
    }
}
