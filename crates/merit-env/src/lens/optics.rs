//! Spherical lenses on an axis: paraxial focal length, real rays, and whether a design can be made.

/// The glasses of the catalogue with their refractive indices.
pub const GLASSES: [(&str, f64); 6] =
    [("fused", 1.46), ("crown", 1.52), ("bar", 1.57), ("flint", 1.62), ("lan", 1.70), ("dense", 1.80)];
/// Curvatures are whole multiples of this, per mm: 20 of them are a radius of 20 mm.
pub const CURVATURE_STEP: f64 = 0.0025;
/// The strongest curvature, in steps.
pub const STRONGEST: i64 = 20;
/// The thickest element or gap, in mm.
pub const THICKEST: i64 = 12;
/// The thinnest edge that can be made, in mm.
const EDGE: f64 = 0.5;
/// Heights in the pupil at which rays are traced, as shares of the semi-aperture.
const HEIGHTS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// One glass element: its index, its two curvatures per mm, its thickness in mm, and the air behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element {
    pub index: f64,
    pub front: f64,
    pub back: f64,
    pub thickness: f64,
    /// Air before the next element, in mm; 0 behind the last one.
    pub gap: f64,
}

/// A refracting surface: its curvature, the index behind it, and the way to the next surface.
struct Surface {
    curvature: f64,
    index: f64,
    ahead: f64,
}

fn surfaces(design: &[Element]) -> impl Iterator<Item = Surface> {
    design.iter().flat_map(|e| {
        [
            Surface { curvature: e.front, index: e.index, ahead: e.thickness },
            Surface { curvature: e.back, index: 1.0, ahead: e.gap },
        ]
    })
}

/// The effective focal length and the distance of the paraxial focus behind the last surface. Absent: it brings nothing together.
pub fn focus(design: &[Element]) -> Option<(f64, f64)> {
    // A ray of height 1 that comes in along the axis; `slope` is n times its angle.
    let (mut y, mut slope, mut n) = (1.0, 0.0, 1.0);
    let mut ahead = 0.0;
    for surface in surfaces(design) {
        y += ahead * slope / n;
        slope -= y * (surface.index - n) * surface.curvature;
        (n, ahead) = (surface.index, surface.ahead);
    }
    (slope < -1e-9).then(|| (-1.0 / slope, -y / slope))
}

/// Where a real ray that comes in along the axis at `height` crosses the plane `distance` behind the last surface. Absent: it misses a
/// surface or is totally reflected.
pub fn landing(design: &[Element], height: f64, distance: f64) -> Option<f64> {
    landings(design, [height], distance).map(|[y]| y)
}

/// The same of several rays side by side; absent where one of them is lost.
fn landings<const N: usize>(design: &[Element], heights: [f64; N], distance: f64) -> Option<[f64; N]> {
    // Height and depth before the next vertex, and the direction as sine and cosine.
    let (mut y, mut z, mut sine, mut cosine, mut n) = (heights, [0.0; N], [0.0; N], [1.0; N], 1.0);
    for Surface { curvature: c, index, ahead } in surfaces(design) {
        let (mut lost, ratio) = (false, n / index);
        for ray in 0..N {
            let at_vertex = y[ray] - z[ray] * sine[ray] / cosine[ray];
            let f = c * at_vertex * at_vertex;
            let g = cosine[ray] - c * sine[ray] * at_vertex;
            let square = g * g - c * f;
            let incidence = square.sqrt();
            let path = f / (g + incidence);
            (y[ray], z[ray]) = (at_vertex + path * sine[ray], path * cosine[ray]);
            let refracted = 1.0 - ratio * ratio * (1.0 - incidence * incidence);
            lost |= square < 0.0 || refracted < 0.0;
            let bend = index * refracted.sqrt() - n * incidence;
            sine[ray] = (n * sine[ray] - c * bend * y[ray]) / index;
            cosine[ray] = (n * cosine[ray] - c * bend * z[ray] + bend) / index;
            z[ray] -= ahead;
        }
        if lost {
            return None;
        }
        n = index;
    }
    // The way was laid to a vertex behind the last surface; the gap there is 0.
    let land = |ray: usize| y[ray] + (distance - z[ray]) * sine[ray] / cosine[ray];
    cosine.iter().all(|cosine| *cosine > 0.0).then(|| std::array::from_fn(land))
}

/// Whether no ray is lost.
pub(super) fn rays_pass(design: &[Element], semi_aperture: f64) -> bool {
    landings(design, HEIGHTS.map(|share| share * semi_aperture), 0.0).is_some()
}

/// The root mean square of the spot in the paraxial focus, over a round pupil. Absent: there is no focus, or a ray is lost.
pub fn spot(design: &[Element], semi_aperture: f64) -> Option<f64> {
    let (_, distance) = focus(design)?;
    spot_below(design, semi_aperture, distance, |_| true)
}

/// The same in a focus so far behind the last surface; absent too where the ray at the rim of the pupil makes it larger than it may be.
pub(super) fn spot_below(
    design: &[Element],
    semi_aperture: f64,
    distance: f64,
    may_be: impl Fn(f64) -> bool,
) -> Option<f64> {
    let weights: f64 = HEIGHTS.iter().fold(0.0, |sum, share| sum + share);
    let [inner @ .., rim] = HEIGHTS;
    let last = landing(design, rim * semi_aperture, distance)?;
    let last = rim * last * last;
    if !may_be((last / weights).sqrt()) {
        return None;
    }
    let rays = landings(design, inner.map(|share| share * semi_aperture), distance)?;
    // A ring of the pupil is as large as it is far out; the spot's middle is the axis.
    let sum = inner.iter().zip(rays).fold(0.0, |sum, (share, y)| sum + share * y * y);
    Some(((sum + last) / weights).sqrt())
}

/// How deep a surface is at the rim; absent where it does not reach so far.
fn sag(curvature: f64, semi_aperture: f64) -> Option<f64> {
    let square = 1.0 - (curvature * semi_aperture).powi(2);
    (square > 0.0).then(|| curvature * semi_aperture * semi_aperture / (1.0 + square.sqrt()))
}

/// The share of the conditions under which a design can be made that it meets: every surface reaches the rim, edges are thick enough,
/// elements do not touch at the rim, and no ray is lost.
pub fn feasibility(design: &[Element], semi_aperture: f64) -> f64 {
    feasibility_if(design, semi_aperture, rays_pass(design, semi_aperture))
}

/// The same where it is known whether a ray is lost.
pub(super) fn feasibility_if(design: &[Element], semi_aperture: f64, rays: bool) -> f64 {
    let (mut met, mut all) = (0_usize, 0_usize);
    let mut count = |condition: bool| {
        met += usize::from(condition);
        all += 1;
    };
    for (place, element) in design.iter().enumerate() {
        let sags = (sag(element.front, semi_aperture), sag(element.back, semi_aperture));
        count(sags.0.is_some());
        count(sags.1.is_some());
        count(matches!(sags, (Some(front), Some(back)) if element.thickness - front + back >= EDGE));
        if let Some(next) = design.get(place + 1) {
            let rims = (sags.1, sag(next.front, semi_aperture));
            count(matches!(rims, (Some(back), Some(front)) if element.gap - back + front >= 0.0));
        }
    }
    count(rays);
    met as f64 / all as f64
}
