//! The units there are: names, sizes in base units, dimensions. To add one, add a line.

use dashu_int::UBig;
use dashu_ratio::RBig;

/// What is measured, as powers of independent dimensions.
pub(crate) type Dimensions = [i8; DIMENSIONS];
pub(crate) const DIMENSIONS: usize = 15;

const LENGTH: usize = 0;
const MASS: usize = 1;
const TIME: usize = 2;
const CURRENT: usize = 3;
const TEMPERATURE: usize = 4;
const AMOUNT: usize = 5;
const LIGHT: usize = 6;
const ANGLE: usize = 7;
const DATA: usize = 8;
const DOLLAR: usize = 9;
const EURO: usize = 10;
const POUND: usize = 11;
const YUAN: usize = 12;
const RUPEE: usize = 13;
const YEN: usize = 14;

/// One unit: `value · num/den · π^pi + offset` base units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub(crate) factor: RBig,
    /// Power of π in the size; the degree is the base of angles, so a radian is 180/π.
    pub(crate) pi: i8,
    /// Added after scaling, for temperatures; zero elsewhere.
    pub(crate) offset: RBig,
    pub(crate) dimensions: Dimensions,
}

/// Whether a name takes SI prefixes.
#[derive(Clone, Copy, PartialEq)]
enum Prefix {
    /// Short ones: `km`.
    Short,
    /// Long ones: `kilometre`.
    Long,
    None,
}

struct Line {
    names: &'static [&'static str],
    num: u64,
    den: u64,
    dimensions: &'static [(usize, i8)],
    prefix: Prefix,
}

const fn line(
    names: &'static [&'static str],
    num: u64,
    den: u64,
    dimensions: &'static [(usize, i8)],
    prefix: Prefix,
) -> Line {
    Line { names, num, den, dimensions, prefix }
}

const L: &[(usize, i8)] = &[(LENGTH, 1)];
const AREA: &[(usize, i8)] = &[(LENGTH, 2)];
const VOLUME: &[(usize, i8)] = &[(LENGTH, 3)];
const M: &[(usize, i8)] = &[(MASS, 1)];
const T: &[(usize, i8)] = &[(TIME, 1)];
const SPEED: &[(usize, i8)] = &[(LENGTH, 1), (TIME, -1)];
const FORCE: &[(usize, i8)] = &[(MASS, 1), (LENGTH, 1), (TIME, -2)];
const ENERGY: &[(usize, i8)] = &[(MASS, 1), (LENGTH, 2), (TIME, -2)];
const POWER: &[(usize, i8)] = &[(MASS, 1), (LENGTH, 2), (TIME, -3)];
const PRESSURE: &[(usize, i8)] = &[(MASS, 1), (LENGTH, -1), (TIME, -2)];

#[rustfmt::skip]
const TABLE: &[Line] = &[
    line(&["m"], 1, 1, L, Prefix::Short),
    line(&["meter", "metre"], 1, 1, L, Prefix::Long),
    line(&["in", "inch", "inche"], 127, 5000, L, Prefix::None),
    line(&["ft", "foot", "feet"], 381, 1250, L, Prefix::None),
    line(&["yd", "yard"], 1143, 1250, L, Prefix::None),
    line(&["mi", "mile"], 201168, 125, L, Prefix::None),
    line(&["nmi", "nautical mile"], 1852, 1, L, Prefix::None),
    line(&["ha", "hectare"], 10_000, 1, AREA, Prefix::None),
    line(&["acre"], 316_160_658, 78_125, AREA, Prefix::None),
    line(&["L", "l", "ℓ"], 1, 1000, VOLUME, Prefix::Short),
    line(&["liter", "litre"], 1, 1000, VOLUME, Prefix::Long),
    line(&["cc"], 1, 1_000_000, VOLUME, Prefix::None),
    line(&["gal", "gallon"], 473_176_473, 125_000_000_000, VOLUME, Prefix::None),
    line(&["qt", "quart"], 473_176_473, 500_000_000_000, VOLUME, Prefix::None),
    line(&["pt", "pint"], 473_176_473, 1_000_000_000_000, VOLUME, Prefix::None),
    line(&["g"], 1, 1000, M, Prefix::Short),
    line(&["gram", "gramme"], 1, 1000, M, Prefix::Long),
    line(&["t", "tonne", "metric ton"], 1000, 1, M, Prefix::None),
    line(&["lb", "lbs", "pound"], 45_359_237, 100_000_000, M, Prefix::None),
    line(&["oz", "ounce"], 45_359_237, 1_600_000_000, M, Prefix::None),
    line(&["s"], 1, 1, T, Prefix::Short),
    line(&["sec", "second"], 1, 1, T, Prefix::Long),
    line(&["min", "minute"], 60, 1, T, Prefix::None),
    line(&["h", "hr", "hour"], 3600, 1, T, Prefix::None),
    line(&["d", "day"], 86_400, 1, T, Prefix::None),
    line(&["wk", "week"], 604_800, 1, T, Prefix::None),
    line(&["mph"], 1397, 3125, SPEED, Prefix::None),
    line(&["kph", "kmh", "kmph"], 5, 18, SPEED, Prefix::None),
    line(&["kn", "knot"], 463, 900, SPEED, Prefix::None),
    line(&["A", "amp", "ampere"], 1, 1, &[(CURRENT, 1)], Prefix::Short),
    line(&["K", "kelvin"], 1, 1, &[(TEMPERATURE, 1)], Prefix::None),
    line(&["mol", "mole"], 1, 1, &[(AMOUNT, 1)], Prefix::Short),
    line(&["cd", "candela"], 1, 1, &[(LIGHT, 1)], Prefix::None),
    line(&["N"], 1, 1, FORCE, Prefix::Short),
    line(&["newton"], 1, 1, FORCE, Prefix::Long),
    line(&["J"], 1, 1, ENERGY, Prefix::Short),
    line(&["joule"], 1, 1, ENERGY, Prefix::Long),
    line(&["cal", "calorie"], 523, 125, ENERGY, Prefix::Short),
    line(&["Wh"], 3600, 1, ENERGY, Prefix::Short),
    line(&["eV"], 1_602_176_634, 10_000_000_000_000_000_000, ENERGY, Prefix::None),
    line(&["W"], 1, 1, POWER, Prefix::Short),
    line(&["watt"], 1, 1, POWER, Prefix::Long),
    line(&["Pa", "pascal"], 1, 1, PRESSURE, Prefix::Short),
    line(&["bar"], 100_000, 1, PRESSURE, Prefix::Short),
    line(&["atm"], 101_325, 1, PRESSURE, Prefix::None),
    line(&["Hz", "hertz"], 1, 1, &[(TIME, -1)], Prefix::Short),
    line(&["C", "coulomb"], 1, 1, &[(CURRENT, 1), (TIME, 1)], Prefix::Short),
    line(&["V", "volt"], 1, 1, &[(MASS, 1), (LENGTH, 2), (TIME, -3), (CURRENT, -1)], Prefix::Short),
    line(&["Ω", "ohm", "Ohm"], 1, 1, &[(MASS, 1), (LENGTH, 2), (TIME, -3), (CURRENT, -2)], Prefix::Short),
    line(&["F", "farad"], 1, 1, &[(MASS, -1), (LENGTH, -2), (TIME, 4), (CURRENT, 2)], Prefix::Short),
    line(&["T", "tesla"], 1, 1, &[(MASS, 1), (TIME, -2), (CURRENT, -1)], Prefix::Short),
    line(&["°", "deg", "degree"], 1, 1, &[(ANGLE, 1)], Prefix::None),
    line(&["arcmin", "′"], 1, 60, &[(ANGLE, 1)], Prefix::None),
    line(&["arcsec", "″"], 1, 3600, &[(ANGLE, 1)], Prefix::None),
    line(&["bit"], 1, 1, &[(DATA, 1)], Prefix::Short),
    line(&["B", "byte"], 8, 1, &[(DATA, 1)], Prefix::Short),
    line(&["$", "\\$", "USD", "usd", "dollar", "US$"], 1, 1, &[(DOLLAR, 1)], Prefix::None),
    line(&["¢", "cent"], 1, 100, &[(DOLLAR, 1)], Prefix::None),
    line(&["€", "EUR", "euro"], 1, 1, &[(EURO, 1)], Prefix::None),
    line(&["£", "GBP"], 1, 1, &[(POUND, 1)], Prefix::None),
    line(&["CNY", "RMB", "yuan"], 1, 1, &[(YUAN, 1)], Prefix::None),
    line(&["₹", "INR", "Rs", "rupee"], 1, 1, &[(RUPEE, 1)], Prefix::None),
    line(&["JPY", "yen"], 1, 1, &[(YEN, 1)], Prefix::None),
];

/// Short prefix, long prefix, power of ten.
const PREFIXES: &[(&str, &str, i32)] = &[
    ("da", "deca", 1),
    ("h", "hecto", 2),
    ("k", "kilo", 3),
    ("M", "mega", 6),
    ("G", "giga", 9),
    ("T", "tera", 12),
    ("d", "deci", -1),
    ("c", "centi", -2),
    ("m", "milli", -3),
    ("μ", "micro", -6),
    ("µ", "micro", -6),
    ("u", "micro", -6),
    ("n", "nano", -9),
    ("p", "pico", -12),
];

/// A unit by one name, plural or not, with or without a prefix.
pub(crate) fn lookup(name: &str) -> Option<Unit> {
    if let Some(special) = special(name) {
        return Some(special);
    }
    let lower = name.to_lowercase();
    let singular = lower.strip_suffix('s').filter(|stem| stem.chars().count() > 1);
    for candidate in [Some(name), Some(lower.as_str()), singular] {
        let Some(candidate) = candidate else { continue };
        // A lower-cased symbol is another unit (`M` and `m`); only longer names are looked up that way.
        if candidate != name && candidate.chars().count() < 3 {
            continue;
        }
        if let Some(unit) = exact_name(candidate) {
            return Some(unit);
        }
    }
    None
}

fn exact_name(name: &str) -> Option<Unit> {
    let plain = TABLE.iter().find(|line| line.names.contains(&name));
    if let Some(line) = plain {
        return Some(unit(line, 0));
    }
    for (short, long, power) in PREFIXES {
        for (prefix, kind) in [(short, Prefix::Short), (long, Prefix::Long)] {
            let Some(rest) = name.strip_prefix(prefix) else { continue };
            let found = TABLE.iter().find(|line| line.prefix == kind && line.names.contains(&rest));
            if let Some(line) = found {
                return Some(unit(line, *power));
            }
        }
    }
    None
}

fn unit(line: &Line, power_of_ten: i32) -> Unit {
    let ten = RBig::from(UBig::from(10u8).pow(power_of_ten.unsigned_abs() as usize));
    let factor = RBig::from_parts(line.num.into(), line.den.into());
    let factor = if power_of_ten >= 0 { factor * ten } else { factor / ten };
    let mut dimensions = [0; DIMENSIONS];
    for &(which, power) in line.dimensions {
        dimensions[which] = power;
    }
    Unit { factor, pi: 0, offset: RBig::ZERO, dimensions }
}

/// Radians and temperatures, whose sizes are not plain fractions.
fn special(name: &str) -> Option<Unit> {
    let mut dimensions = [0; DIMENSIONS];
    let ratio = |num: i64, den: u64| RBig::from_parts(num.into(), den.into());
    Some(match name {
        "rad" | "radian" | "radians" => {
            dimensions[ANGLE] = 1;
            Unit { factor: ratio(180, 1), pi: -1, offset: RBig::ZERO, dimensions }
        }
        "°C" | "℃" | "degC" | "degree Celsius" | "degrees Celsius" | "celsius" | "Celsius" => {
            dimensions[TEMPERATURE] = 1;
            Unit { factor: ratio(1, 1), pi: 0, offset: ratio(27_315, 100), dimensions }
        }
        "°F" | "℉" | "degF" | "degree Fahrenheit" | "degrees Fahrenheit" | "fahrenheit" | "Fahrenheit" => {
            dimensions[TEMPERATURE] = 1;
            Unit { factor: ratio(5, 9), pi: 0, offset: ratio(45_967 * 5, 900), dimensions }
        }
        _ => return None,
    })
}

/// Whether only an angle is measured.
pub(crate) fn is_angle(unit: &Unit) -> bool {
    unit.dimensions.iter().enumerate().all(|(which, &power)| power == i8::from(which == ANGLE))
}
