//! Conversions that are right to the last digit, and refusals that say what would be.

use merit_tools::convert;
use proptest::prelude::*;

fn check(input: &str, want: &str) {
    assert_eq!(convert(input).as_deref(), Ok(want), "{input}");
}

fn refused(input: &str, want: &str) {
    let why = convert(input).unwrap_err();
    assert!(why.contains(want), "{input}: {why}");
}

#[test]
fn definitions_are_exact() {
    check("1 mi to m", "1 mi = 1609.344 m");
    check("1 lb to g", "1 lb = 453.59237 g");
    check("1 gal to mL", "1 gal = 3785.411784 mL");
    check("1 acre to m^2", "1 acre = 4046.8564224 m^2");
    check("1 atm to Torr", "1 atm = 760 Torr");
    check("1 kWh to MJ", "1 kWh = 3.6 MJ");
    check("1 kcal to kJ", "1 kcal = 4.184 kJ");
    check("1 eV to J", "1 eV = 0.0000000000000000001602176634 J");
    check("36 km/h to m/s", "36 km/h = 10 m/s");
    check("100 km/h -> mph", "100 km/h ≈ 62.1371192237334 mph (exactly 781250/12573)");
    check("1 week to minutes", "1 week = 10080 minutes");
    check("1 ly to km", "1 ly = 9460730472580.8 km");
    check("1 hp to W", "1 hp = 745.69987158227022 W");
    check("1 lbf to N", "1 lbf = 4.4482216152605 N");
    check("0 km to mi", "0 km = 0 mi");
    check("12 months to years", "12 months = 1 years");
    check("1 ft to in", "1 ft = 12 in");
    check("1 mpg to mi/gal", "1 mpg = 1 mi/gal");
}

/// The table is shared with the answers of merit-maths, so electricity, substance and money are here too.
#[test]
fn what_answers_know_can_be_converted() {
    check("1 V*A to W", "1 V*A = 1 W");
    check("2 kohm to ohms", "2 kohm = 2000 ohms");
    check("250 mmol to moles", "250 mmol = 0.25 moles");
    check("3 USD to cents", "3 USD = 300 cents");
    check("3 mins to secs", "3 mins = 180 secs");
    check("1 short ton to lb", "1 short_ton = 2000 lb");
    refused("1 USD to EUR", "USD is dollars, but EUR is euros");
    // In a request C and F are temperatures; a charge and a capacitance go by their names.
    check("100 C to F", "100 C = 212 F");
    check("5 A*s to coulombs", "5 A*s = 5 coulombs");
}

#[test]
fn json_and_text_are_the_same() {
    check(
        r#"{"value": 12.5, "from": "km", "to": "mi"}"#,
        "12.5 km ≈ 7.76713990296667 mi (exactly 390625/50292)",
    );
    check("12.5 km to mi", "12.5 km ≈ 7.76713990296667 mi (exactly 390625/50292)");
    check(r#"{"value": "0.10", "from": "m", "to": "cm"}"#, "0.10 m = 10 cm");
}

#[test]
fn temperatures_have_zeros_of_their_own() {
    check("-40 degC to degF", "-40 degC = -40 degF");
    check("98.6 °F to °C", "98.6 °F = 37 °C");
    check("0 K to celsius", "0 K = -273.15 celsius");
    check("300 K to F", "300 K = 80.33 F");
    check("491.67 degR to degF", "491.67 degR = 32 degF");
    refused("-1 K to degC", "absolute zero");
    refused("-500 degF to degC", "absolute zero");
    refused("5 J/degC to J/K", "write K");
    check("5 J/K to kJ/degR", "5 J/K ≈ 0.00277777777777778 kJ/degR (exactly 1/360)");
}

#[test]
fn prefixes_and_data_sizes() {
    check("1 GiB to MB", "1 GiB = 1073.741824 MB");
    check("1 MB to kibibytes", "1 MB = 976.5625 kibibytes");
    check("100 Mbps to MB/s", "100 Mbps = 12.5 MB/s");
    check("3 µm to nm", "3 µm = 3000 nm");
    check("2 micrometers to um", "2 micrometers = 2 um");
    check("1 megatonne to Gg", "1 megatonne = 1000 Gg");
    refused("1 kft to m", "no unit `kft`");
    refused("1 Kim to m", "no unit `Kim`");
}

#[test]
fn angles_keep_pi_apart() {
    check("180 deg to rad", "180 deg ≈ 3.14159265358979 rad");
    check("1 turn to deg", "1 turn = 360 deg");
    check("1 rad to deg", "1 rad ≈ 57.2957795130823 deg");
    check("60 rpm to rev/s", "60 rpm = 1 rev/s");
    check("1 deg to arcsec", "1 deg = 3600 arcsec");
    check("1 pc to ly", "1 pc ≈ 3.26156377716743 ly");
}

#[test]
fn compound_units_are_multiplied_out() {
    check("1 kg*m/s^2 to N", "1 kg*m/s^2 = 1 N");
    check("1 N·m to J", "1 N·m = 1 J");
    check("1 W/(m^2*K) to mW/(cm²*K)", "1 W/(m^2*K) = 0.1 mW/(cm²*K)");
    check("1 g/cm3 to kg/m^3", "1 g/cm3 = 1000 kg/m^3");
    check("50 1/s to Hz", "50 1/s = 50 Hz");
    check("1 m^-1 to 1/cm", "1 m^-1 = 0.01 1/cm");
    check("30 mi/gal to km/L", "30 mi/gal ≈ 12.7543112229082 km/L (exactly 1440000/112903)");
    check("1 psi to kPa", "1 psi ≈ 6.89475729316836 kPa");
}

#[test]
fn what_does_not_fit_names_both_sides() {
    refused("1 km to kg", "km is a length, but kg is a mass");
    refused("1 N to J", "N is a force, but J is an energy");
    refused("1 m^5 to s*K", "m^5 is length^5, but s*K is time*temperature");
    refused("1 Hz to rpm", "Hz is a frequency, but rpm is an angular speed");
}

#[test]
fn what_is_unknown_names_the_nearest() {
    refused("1 metr to km", "no unit `metr`; nearest: meter");
    refused("1 killometer to mi", "no unit `killometer`");
    refused("1 GAL to L", "nearest: gal");
    refused("1 xyzzyx to m", "write it as in km");
}

#[test]
fn hostile_requests_end_early() {
    for input in [
        "1e301 m to km",
        "1e-301 m to km",
        "1 m^13 to m",
        "1 m^999999999999 to m",
        "1 (((((((((m))))))))) to m",
        "1 m//s to m",
        "1 m* to m",
        "1 (m to m",
        "1 m) to m",
        "1  to m",
        "1 m to ",
        "1,000 m to km",
        "١ m to km",
        "NaN m to km",
        r#"{"value": null, "from": "m", "to": "km"}"#,
        r#"{"value": 1, "from": "m", "to": "km", "digits": 3}"#,
    ] {
        let why = convert(input).unwrap_err();
        assert!(!why.is_empty() && why.len() < 300, "{input}: {why}");
    }
    refused(&format!("{} m to km", "9".repeat(61)), "too long");
    let product = vec!["Qm^12"; 18].join("*");
    refused(&format!("1 {product} to m"), "large");
    // The result is beyond all exponents.
    refused("1e300 Qm^2 to qm^2", "too large");
}

proptest! {
    /// There and back is where it began, exactly.
    #[test]
    fn there_and_back(digits in 1..1_000_000_i64, i in 0..6_usize) {
        let (from, to) = [("m", "km"), ("in", "cm"), ("lb", "mg"), ("h", "s"), ("GiB", "bit"), ("degC", "K")][i];
        let there = convert(&format!("{digits} {from} to {to}")).unwrap();
        let value = there.split(" = ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        let back = convert(&format!("{value} {to} to {from}")).unwrap();
        prop_assert_eq!(back, format!("{value} {to} = {digits} {from}"));
    }

    #[test]
    fn nothing_panics(input in "[0-9eE.,+-]{0,6}[ a-zA-Z°µ²*/^()0-9]{0,20}( to |->)[a-zA-Z*/^()0-9 -]{0,12}") {
        let _ = convert(&input);
    }
}
