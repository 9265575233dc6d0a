//! Values that several commands read alike.

/// More episodes than anybody looks at, and few enough to be kept in memory.
pub(super) const MOST: i64 = 10_000;

pub(super) fn temperature(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if f32::is_finite(number) && number >= 0.0 => Ok(number),
        _ => Err("expected 0 (greedy) or a number above it".to_owned()),
    }
}

pub(super) fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        _ => Err("expected a number".to_owned()),
    }
}

pub(super) fn discount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// Seeds as they are named together.
#[derive(Debug, Clone)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

/// `1-5`, `1,3,7`, or both.
pub(super) fn seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || "expected seeds such as 1-5 or 1,3,7".to_owned();
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let (low, high) = (number(low)?, number(high)?);
        if low > high || high - low >= 1000 {
            return Err(wrong());
        }
        seeds.extend(low..=high);
    }
    seeds.sort_unstable();
    seeds.dedup();
    Ok(Seeds(seeds))
}

/// A Ray cluster by its address; an empty one leaves it to Ray.
#[derive(Debug, Clone)]
pub(crate) struct Ray(pub(crate) String);

/// `ray`, or the address of a cluster.
pub(super) fn engine(text: &str) -> Result<Ray, String> {
    let address = |text: &str| {
        text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    };
    match text.strip_prefix("ray://") {
        _ if text == "ray" => Ok(Ray(String::new())),
        Some(rest) if address(rest) => Ok(Ray(text.to_owned())),
        None if address(text) => Ok(Ray(text.to_owned())),
        _ => Err("expected `ray`, `ray://HOST:PORT` or the HOST:PORT of a Ray cluster".to_owned()),
    }
}

/// An address of this machine, which may be called by name.
pub(super) fn local_address(text: &str) -> Result<std::net::SocketAddr, String> {
    let port = text.strip_prefix("localhost:");
    let address = port.map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    address
        .parse()
        .map_err(|_| "expected an address with a port, e.g. 127.0.0.1:8931 or localhost:8931".to_owned())
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, e.g. budget.steps=20".to_owned()),
    }
}
