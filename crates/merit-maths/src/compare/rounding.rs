//! Rounding of exact values to a number of digits after the point.

use crate::{Budget, Exhausted};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Which way a value half-way between two neighbours goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// To the even neighbour.
    Even,
    /// Away from zero.
    Up,
}

/// `value` rounded to `places` digits after the point (negative: before it), counted in units of the last place:
/// `round_to_units(2.345, 2, Up)` is 235.
pub(crate) fn round_to_units(
    value: &RBig,
    places: i32,
    half: Half,
    budget: &mut Budget,
) -> Result<IBig, Exhausted> {
    let digits = usize::try_from(places.unsigned_abs()).map_err(|_| Exhausted::Size)?;
    budget.size(super::exact::bits(value).saturating_add(digits.saturating_mul(4)))?;
    let scale = UBig::from(10u8).pow(digits);
    let scaled = if places >= 0 { value * RBig::from(scale) } else { value / RBig::from(scale) };
    let floor = scaled.floor();
    let rest = &scaled - RBig::from(floor.clone());
    let double = rest * RBig::from(2);
    let up = match double.cmp(&RBig::ONE) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => match half {
            Half::Even => &floor % IBig::from(2) != IBig::ZERO,
            Half::Up => floor >= IBig::ZERO,
        },
    };
    Ok(if up { floor + 1 } else { floor })
}

/// `value` rounded to `places` digits after the point.
pub fn round_to(value: &RBig, places: i32, half: Half, budget: &mut Budget) -> Result<RBig, Exhausted> {
    let units = RBig::from(round_to_units(value, places, half, budget)?);
    let digits = usize::try_from(places.unsigned_abs()).map_err(|_| Exhausted::Size)?;
    let scale = RBig::from(UBig::from(10u8).pow(digits));
    Ok(if places >= 0 { units / scale } else { units * scale })
}
