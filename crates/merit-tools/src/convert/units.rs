//! The units: symbols, names, what they measure and how many base units they are.
//!
//! The base units are metre, kilogram, second, kelvin, radian and bit. Every factor is exact by definition of the unit:
//! international feet and pounds, US liquid measures, the calorie of 4.184 J, the BTU of the International Table, the Julian
//! year and its twelfth, the month. Units that are only measured (such as the dalton) are not here.

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
#[derive(Debug)]
pub(super) struct Unit {
    /// Symbols, by case, then names, in any case and number. Apart by spaces; symbols before `;`.
    pub(super) words: &'static str,
    /// Powers of length, mass, time, temperature, angle and data.
    pub(super) dimension: [i8; 6],
    /// Base units in one: a product of decimals, after `/` the divisors.
    pub(super) factor: &'static str,
    /// Power of π that belongs to the factor.
    pub(super) pi: i32,
    /// Base units at 0 of this unit; only temperatures have one that is not 0.
    pub(super) zero: &'static str,
    pub(super) prefixes: Prefixes,
}

use Prefixes::{Binary, None, Si};

const fn unit(words: &'static str, dimension: [i8; 6], factor: &'static str, prefixes: Prefixes) -> Unit {
    Unit { words, dimension, factor, pi: 0, zero: "0", prefixes }
}

const fn with_pi(words: &'static str, dimension: [i8; 6], factor: &'static str, pi: i32) -> Unit {
    Unit { words, dimension, factor, pi, zero: "0", prefixes: None }
}

const fn with_zero(words: &'static str, factor: &'static str, zero: &'static str) -> Unit {
    Unit { words, dimension: TEMPERATURE, factor, pi: 0, zero, prefixes: None }
}

const LENGTH: [i8; 6] = [1, 0, 0, 0, 0, 0];
const MASS: [i8; 6] = [0, 1, 0, 0, 0, 0];
const TIME: [i8; 6] = [0, 0, 1, 0, 0, 0];
const TEMPERATURE: [i8; 6] = [0, 0, 0, 1, 0, 0];
const ANGLE: [i8; 6] = [0, 0, 0, 0, 1, 0];
const DATA: [i8; 6] = [0, 0, 0, 0, 0, 1];
const AREA: [i8; 6] = [2, 0, 0, 0, 0, 0];
const VOLUME: [i8; 6] = [3, 0, 0, 0, 0, 0];
/// Length over volume, as cars are told of.
const ECONOMY: [i8; 6] = [-2, 0, 0, 0, 0, 0];
const SPEED: [i8; 6] = [1, 0, -1, 0, 0, 0];
const FORCE: [i8; 6] = [1, 1, -2, 0, 0, 0];
const PRESSURE: [i8; 6] = [-1, 1, -2, 0, 0, 0];
const ENERGY: [i8; 6] = [2, 1, -2, 0, 0, 0];
const POWER: [i8; 6] = [2, 1, -3, 0, 0, 0];
const FREQUENCY: [i8; 6] = [0, 0, -1, 0, 0, 0];
const TURNING: [i8; 6] = [0, 0, -1, 0, 1, 0];
const DATA_RATE: [i8; 6] = [0, 0, -1, 0, 0, 1];

/// All units.
pub(super) const UNITS: &[Unit] = &[
    unit("m; meter metre", LENGTH, "1", Si),
    unit("in; inch inches", LENGTH, "0.0254", None),
    unit("ft; foot feet", LENGTH, "0.3048", None),
    unit("yd; yard", LENGTH, "0.9144", None),
    unit("mi; mile", LENGTH, "1609.344", None),
    unit("nmi NM; nautical_mile", LENGTH, "1852", None),
    unit("thou mil", LENGTH, "0.0000254", None),
    unit("; fathom", LENGTH, "1.8288", None),
    unit("; rod", LENGTH, "5.0292", None),
    unit("; chain", LENGTH, "20.1168", None),
    unit("; furlong", LENGTH, "201.168", None),
    unit("; micron", LENGTH, "0.000001", None),
    unit("Å; angstrom", LENGTH, "0.0000000001", None),
    unit("au AU; astronomical_unit", LENGTH, "149597870700", None),
    unit("ly; light_year lightyear", LENGTH, "9460730472580800", None),
    Unit {
        words: "pc; parsec",
        dimension: LENGTH,
        factor: "648000 149597870700",
        pi: -1,
        zero: "0",
        prefixes: Si,
    },
    unit("g; gram gramme", MASS, "0.001", Si),
    unit("t; tonne", MASS, "1000", Si),
    unit("lb lbs; pound", MASS, "0.45359237", None),
    unit("oz; ounce", MASS, "0.028349523125", None),
    unit("ozt; troy_ounce", MASS, "0.0311034768", None),
    unit("st; stone", MASS, "6.35029318", None),
    unit("gr; grain", MASS, "0.00006479891", None),
    unit("ct; carat", MASS, "0.0002", None),
    unit("slug", MASS, "0.45359237 9.80665 / 0.3048", None),
    unit("; short_ton", MASS, "907.18474", None),
    unit("; long_ton", MASS, "1016.0469088", None),
    unit("s sec; second", TIME, "1", Si),
    unit("min; minute", TIME, "60", None),
    unit("h hr; hour", TIME, "3600", None),
    unit("d; day", TIME, "86400", None),
    unit("wk; week", TIME, "604800", None),
    unit("; fortnight", TIME, "1209600", None),
    unit("mo; month", TIME, "2629800", None),
    unit("yr; year", TIME, "31557600", None),
    unit("; century centuries", TIME, "3155760000", None),
    unit("ha; hectare", AREA, "10000", None),
    unit("ac; acre", AREA, "4046.8564224", None),
    unit("; are", AREA, "100", None),
    unit("; barn", AREA, "0.0000000000000000000000000001", Si),
    unit("L l; liter litre", VOLUME, "0.001", Si),
    unit("cc", VOLUME, "0.000001", None),
    unit("gal; gallon", VOLUME, "0.003785411784", None),
    unit("qt; quart", VOLUME, "0.000946352946", None),
    unit("pt; pint", VOLUME, "0.000473176473", None),
    unit("; cup", VOLUME, "0.0002365882365", None),
    unit("floz fl_oz; fluid_ounce", VOLUME, "0.0000295735295625", None),
    unit("tbsp; tablespoon", VOLUME, "0.00001478676478125", None),
    unit("tsp; teaspoon", VOLUME, "0.00000492892159375", None),
    unit("impgal; imperial_gallon", VOLUME, "0.00454609", None),
    unit("imppt; imperial_pint", VOLUME, "0.00056826125", None),
    unit("bbl; barrel", VOLUME, "0.158987294928", None),
    unit("mpg; mile_per_gallon miles_per_gallon", ECONOMY, "1609.344 / 0.003785411784", None),
    unit("kn kt; knot", SPEED, "1852 / 3600", None),
    unit("mph", SPEED, "1609.344 / 3600", None),
    unit("kph kmh", SPEED, "1000 / 3600", None),
    unit("fps", SPEED, "0.3048", None),
    unit("c; speed_of_light", SPEED, "299792458", None),
    unit("N; newton", FORCE, "1", Si),
    unit("dyn; dyne", FORCE, "0.00001", None),
    unit("lbf; pound_force", FORCE, "0.45359237 9.80665", None),
    unit("kgf; kilogram_force", FORCE, "9.80665", None),
    unit("Pa; pascal", PRESSURE, "1", Si),
    unit("bar; bar", PRESSURE, "100000", Si),
    unit("atm; atmosphere", PRESSURE, "101325", None),
    unit("Torr; torr", PRESSURE, "101325 / 760", None),
    unit("mmHg", PRESSURE, "133.322387415", None),
    unit("inHg", PRESSURE, "133.322387415 25.4", None),
    unit("psi", PRESSURE, "0.45359237 9.80665 / 0.0254 0.0254", None),
    unit("J; joule", ENERGY, "1", Si),
    unit("Wh; watt_hour", ENERGY, "3600", Si),
    unit("cal; calorie", ENERGY, "4.184", Si),
    unit("eV; electronvolt", ENERGY, "0.0000000000000000001602176634", Si),
    unit("erg; erg", ENERGY, "0.0000001", None),
    unit("BTU Btu; btu", ENERGY, "1055.05585262", None),
    unit("; therm", ENERGY, "105505585.262", None),
    unit("W; watt", POWER, "1", Si),
    unit("hp; horsepower", POWER, "0.45359237 9.80665 0.3048 550", None),
    unit("PS; metric_horsepower", POWER, "735.49875", None),
    unit("Hz; hertz", FREQUENCY, "1", Si),
    unit("K; kelvin", TEMPERATURE, "1", Si),
    unit("degR °R; rankine", TEMPERATURE, "5 / 9", None),
    with_zero("degC °C C; celsius centigrade", "1", "273.15"),
    with_zero("degF °F F; fahrenheit", "5 / 9", "2298.35 / 9"),
    unit("rad; radian", ANGLE, "1", Si),
    with_pi("deg °; degree", ANGLE, "1 / 180", 1),
    with_pi("arcmin; arcminute", ANGLE, "1 / 10800", 1),
    with_pi("arcsec; arcsecond", ANGLE, "1 / 648000", 1),
    with_pi("gon grad; gradian", ANGLE, "1 / 200", 1),
    with_pi("rev; turn revolution", ANGLE, "2", 1),
    with_pi("rpm", TURNING, "2 / 60", 1),
    unit("bit; bit", DATA, "1", Binary),
    unit("B; byte", DATA, "8", Binary),
    unit("bps", DATA_RATE, "1", Binary),
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
