//! The units there are: symbols, names, sizes, what they measure. To add one, add a line.
//!
//! The base units are metre, kilogram, second, ampere, kelvin, mole, candela, degree and bit; each currency is its own. Every
//! factor is exact by definition of the unit: international feet and pounds, US liquid measures, the calorie of 4.184 J, the
//! BTU of the International Table, the Julian year and its twelfth, the month. Units that are only measured (such as the
//! dalton) are not here.

use super::Dimension;

/// Which prefixes a unit takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefixes {
    /// None: `kft` is no unit.
    None,
    /// Those of the SI: k, M, m and so on.
    Si,
    /// Those of the SI and the binary ones: Ki, Mi and so on.
    Binary,
}

/// A unit as it is written below.
pub(super) struct Line {
    /// Symbols, by case, then after `;` names, in any case and number. A word after `?` is a unit only where one is asked for:
    /// in an answer it more often means something else.
    pub(super) words: &'static str,
    pub(super) dimension: Dimension,
    /// Base units in one: a product of decimals, after `/` the divisors.
    pub(super) factor: &'static str,
    /// Power of π that belongs to the factor.
    pub(super) pi: i8,
    /// Base units at 0 of this unit, written as the factor is.
    pub(super) zero: &'static str,
    pub(super) prefixes: Prefixes,
}

const fn unit(words: &'static str, dimension: Dimension, factor: &'static str, prefixes: Prefixes) -> Line {
    Line { words, dimension, factor, pi: 0, zero: "0", prefixes }
}

/// A unit whose size is a fraction over π.
const fn over_pi(words: &'static str, dimension: Dimension, factor: &'static str) -> Line {
    Line { words, dimension, factor, pi: -1, zero: "0", prefixes: Prefixes::Si }
}

const fn with_zero(words: &'static str, factor: &'static str, zero: &'static str) -> Line {
    Line { words, dimension: Dimension::TEMPERATURE, factor, pi: 0, zero, prefixes: Prefixes::None }
}

use Prefixes::{Binary, None, Si};

/// All units. Names that people write behind short prefixes (`Mbyte`) are among the symbols too, and symbols that people write
/// in the plural or with a capital (`hrs`) among the names.
pub(super) const TABLE: &[Line] = &[
    unit("m; meter metre", Dimension::LENGTH, "1", Si),
    unit("in; inch inches", Dimension::LENGTH, "0.0254", None),
    unit("ft; foot feet", Dimension::LENGTH, "0.3048", None),
    unit("yd; yard yd", Dimension::LENGTH, "0.9144", None),
    unit("mi; mile", Dimension::LENGTH, "1609.344", None),
    unit("nmi ?NM; nautical_mile", Dimension::LENGTH, "1852", None),
    unit("?thou ?mil", Dimension::LENGTH, "0.0000254", None),
    unit("; fathom", Dimension::LENGTH, "1.8288", None),
    unit("; ?rod", Dimension::LENGTH, "5.0292", None),
    unit("; ?chain", Dimension::LENGTH, "20.1168", None),
    unit("; furlong", Dimension::LENGTH, "201.168", None),
    unit("; micron", Dimension::LENGTH, "0.000001", None),
    unit("Å; angstrom", Dimension::LENGTH, "0.0000000001", None),
    unit("au AU; astronomical_unit", Dimension::LENGTH, "149597870700", None),
    unit("ly; light_year lightyear", Dimension::LENGTH, "9460730472580800", None),
    over_pi("?pc; parsec", Dimension::LENGTH, "648000 149597870700"),
    unit("g; gram gramme", Dimension::MASS, "0.001", Si),
    unit("t; tonne metric_ton", Dimension::MASS, "1000", Si),
    unit("lb lbs; pound", Dimension::MASS, "0.45359237", None),
    unit("oz; ounce", Dimension::MASS, "0.028349523125", None),
    unit("ozt; troy_ounce", Dimension::MASS, "0.0311034768", None),
    unit("?st; ?stone", Dimension::MASS, "6.35029318", None),
    unit("?gr; ?grain", Dimension::MASS, "0.00006479891", None),
    unit("?ct; carat", Dimension::MASS, "0.0002", None),
    unit("?slug", Dimension::MASS, "0.45359237 9.80665 / 0.3048", None),
    unit("; short_ton", Dimension::MASS, "907.18474", None),
    unit("; long_ton", Dimension::MASS, "1016.0469088", None),
    unit("s sec; second sec", Dimension::TIME, "1", Si),
    unit("min; minute min", Dimension::TIME, "60", None),
    unit("h hr; hour hr", Dimension::TIME, "3600", None),
    unit("d; day", Dimension::TIME, "86400", None),
    unit("wk; week", Dimension::TIME, "604800", None),
    unit("; fortnight", Dimension::TIME, "1209600", None),
    unit("?mo; month", Dimension::TIME, "2629800", None),
    unit("yr; year yr", Dimension::TIME, "31557600", None),
    unit("; century centuries", Dimension::TIME, "3155760000", None),
    unit("ha; hectare", Dimension::AREA, "10000", None),
    unit("?ac; acre", Dimension::AREA, "4046.8564224", None),
    unit("; ?are", Dimension::AREA, "100", None),
    unit("; ?barn", Dimension::AREA, "0.0000000000000000000000000001", Si),
    unit("L l ℓ; liter litre", Dimension::VOLUME, "0.001", Si),
    unit("cc", Dimension::VOLUME, "0.000001", None),
    unit("gal; gallon", Dimension::VOLUME, "0.003785411784", None),
    unit("qt; quart", Dimension::VOLUME, "0.000946352946", None),
    unit("pt; pint", Dimension::VOLUME, "0.000473176473", None),
    unit("; cup", Dimension::VOLUME, "0.0002365882365", None),
    unit("floz fl_oz; fluid_ounce", Dimension::VOLUME, "0.0000295735295625", None),
    unit("tbsp; tablespoon", Dimension::VOLUME, "0.00001478676478125", None),
    unit("tsp; teaspoon", Dimension::VOLUME, "0.00000492892159375", None),
    unit("impgal; imperial_gallon", Dimension::VOLUME, "0.00454609", None),
    unit("imppt; imperial_pint", Dimension::VOLUME, "0.00056826125", None),
    unit("bbl; barrel", Dimension::VOLUME, "0.158987294928", None),
    unit("mpg; mile_per_gallon miles_per_gallon", Dimension::ECONOMY, "1609.344 / 0.003785411784", None),
    unit("kn ?kt; knot", Dimension::SPEED, "1852 / 3600", None),
    unit("mph", Dimension::SPEED, "1609.344 / 3600", None),
    unit("kph kmh kmph", Dimension::SPEED, "1000 / 3600", None),
    unit("fps", Dimension::SPEED, "0.3048", None),
    unit("?c; speed_of_light", Dimension::SPEED, "299792458", None),
    unit("N; newton", Dimension::FORCE, "1", Si),
    unit("dyn; dyne", Dimension::FORCE, "0.00001", None),
    unit("lbf; pound_force", Dimension::FORCE, "0.45359237 9.80665", None),
    unit("kgf; kilogram_force", Dimension::FORCE, "9.80665", None),
    unit("Pa pascal; pascal", Dimension::PRESSURE, "1", Si),
    unit("bar; bar", Dimension::PRESSURE, "100000", Si),
    unit("atm; atmosphere", Dimension::PRESSURE, "101325", None),
    unit("Torr; torr", Dimension::PRESSURE, "101325 / 760", None),
    unit("mmHg", Dimension::PRESSURE, "133.322387415", None),
    unit("inHg", Dimension::PRESSURE, "133.322387415 25.4", None),
    unit("psi", Dimension::PRESSURE, "0.45359237 9.80665 / 0.0254 0.0254", None),
    unit("J; joule", Dimension::ENERGY, "1", Si),
    unit("Wh; watt_hour", Dimension::ENERGY, "3600", Si),
    unit("cal calorie; calorie", Dimension::ENERGY, "4.184", Si),
    unit("eV; electronvolt", Dimension::ENERGY, "0.0000000000000000001602176634", Si),
    unit("erg; erg", Dimension::ENERGY, "0.0000001", None),
    unit("BTU Btu; btu", Dimension::ENERGY, "1055.05585262", None),
    unit("; therm", Dimension::ENERGY, "105505585.262", None),
    unit("W; watt", Dimension::POWER, "1", Si),
    unit("hp; horsepower", Dimension::POWER, "0.45359237 9.80665 0.3048 550", None),
    unit("?PS; metric_horsepower", Dimension::POWER, "735.49875", None),
    unit("Hz hertz; hertz", Dimension::FREQUENCY, "1", Si),
    unit("A amp ampere; amp ampere", Dimension::CURRENT, "1", Si),
    unit("C coulomb; coulomb", Dimension::CHARGE, "1", Si),
    unit("V volt; volt", Dimension::VOLTAGE, "1", Si),
    unit("Ω ohm Ohm; ohm", Dimension::RESISTANCE, "1", Si),
    unit("F farad; farad", Dimension::CAPACITANCE, "1", Si),
    unit("T tesla; tesla", Dimension::MAGNETISM, "1", Si),
    unit("mol mole; mole", Dimension::AMOUNT, "1", Si),
    unit("cd; candela", Dimension::LIGHT, "1", None),
    unit("K; kelvin", Dimension::TEMPERATURE, "1", Si),
    unit("degR °R; rankine", Dimension::TEMPERATURE, "5 / 9", None),
    with_zero("degC °C ℃ ?C; celsius centigrade degree_celsius degrees_celsius", "1", "273.15"),
    with_zero("degF °F ℉ ?F; fahrenheit degree_fahrenheit degrees_fahrenheit", "5 / 9", "2298.35 / 9"),
    over_pi("rad; radian", Dimension::ANGLE, "180"),
    unit("deg °; degree", Dimension::ANGLE, "1", None),
    unit("arcmin ′; arcminute", Dimension::ANGLE, "1 / 60", None),
    unit("arcsec ″; arcsecond", Dimension::ANGLE, "1 / 3600", None),
    unit("?gon ?grad; gradian", Dimension::ANGLE, "0.9", None),
    unit("rev; ?turn revolution", Dimension::ANGLE, "360", None),
    unit("rpm", Dimension::TURNING, "360 / 60", None),
    unit("bit; bit", Dimension::DATA, "1", Binary),
    unit("B byte; byte", Dimension::DATA, "8", Binary),
    unit("bps", Dimension::DATA_RATE, "1", Binary),
    unit("$ \\$ US$ USD usd; dollar", Dimension::DOLLARS, "1", None),
    unit("¢; cent", Dimension::DOLLARS, "0.01", None),
    unit("€ EUR; euro", Dimension::EUROS, "1", None),
    unit("£ GBP", Dimension::POUNDS, "1", None),
    unit("CNY RMB; yuan", Dimension::YUAN, "1", None),
    unit("₹ INR Rs; rupee", Dimension::RUPEES, "1", None),
    unit("JPY; yen", Dimension::YEN, "1", None),
];

/// Prefixes of the SI: symbol, name, power of ten.
pub(super) const SI: &[(&str, &str, i32)] = &[
    ("Q", "quetta", 30),
    ("R", "ronna", 27),
    ("Y", "yotta", 24),
    ("Z", "zetta", 21),
    ("E", "exa", 18),
    ("P", "peta", 15),
    ("T", "tera", 12),
    ("G", "giga", 9),
    ("M", "mega", 6),
    ("k", "kilo", 3),
    ("h", "hecto", 2),
    ("da", "deca", 1),
    ("d", "deci", -1),
    ("c", "centi", -2),
    ("m", "milli", -3),
    ("µ", "micro", -6),
    ("μ", "micro", -6),
    ("u", "micro", -6),
    ("n", "nano", -9),
    ("p", "pico", -12),
    ("f", "femto", -15),
    ("a", "atto", -18),
    ("z", "zepto", -21),
    ("y", "yocto", -24),
    ("r", "ronto", -27),
    ("q", "quecto", -30),
];

/// Binary prefixes: symbol, name, power of 1024.
pub(super) const BINARY: &[(&str, &str, usize)] = &[
    ("Ki", "kibi", 1),
    ("Mi", "mebi", 2),
    ("Gi", "gibi", 3),
    ("Ti", "tebi", 4),
    ("Pi", "pebi", 5),
    ("Ei", "exbi", 6),
    ("Zi", "zebi", 7),
    ("Yi", "yobi", 8),
];
