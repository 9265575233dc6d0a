//! One spelling of a URL: scheme and host in lower case, no default port, no fragment, query in order.

use crate::excerpt::excerpt;

/// Longest URL, in bytes.
pub(super) const MAX_LENGTH: usize = 2_000;

/// The one spelling of `url`, or why it is none. `*` passes, so that patterns are spelt the same way.
pub(super) fn normal(url: &str) -> Result<String, String> {
    let url = url.trim();
    if url.len() > MAX_LENGTH {
        return Err(format!("the URL is too long: at most {MAX_LENGTH} bytes"));
    }
    let whole = "write a whole URL, as in https://shop.test/price?item=mug";
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{}` has spaces; {whole}", excerpt(url, 60)));
    }
    let bad = || format!("`{}` is no URL; {whole}", excerpt(url, 60));
    let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err(bad());
    }
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    let host = host.to_lowercase();
    let port = if scheme == "http" { ":80" } else { ":443" };
    let host = host.strip_suffix(port).unwrap_or(&host);
    if host.is_empty() || host.contains('@') {
        return Err(bad());
    }
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let path = if path.is_empty() { "/".to_owned() } else { escapes(path) };
    let query = query.map(sorted).filter(|query| !query.is_empty());
    Ok(query.map_or_else(
        || format!("{scheme}://{host}{path}"),
        |query| format!("{scheme}://{host}{path}?{query}"),
    ))
}

/// The pairs of a query in order; equal names stay in the order they were written.
fn sorted(query: &str) -> String {
    let mut pairs: Vec<String> = query.split('&').filter(|pair| !pair.is_empty()).map(escapes).collect();
    pairs.sort_by(|a, b| name(a).cmp(name(b)));
    pairs.join("&")
}

fn name(pair: &str) -> &str {
    pair.split_once('=').map_or(pair, |(name, _)| name)
}

/// Letters, digits and `-._~` are written plainly, other escapes in upper case; `+` in a query is left alone.
fn escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let byte = after.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                let c = char::from(byte);
                if c.is_ascii_alphanumeric() || "-._~".contains(c) {
                    plain.push(c);
                } else {
                    plain.push_str(&format!("%{byte:02X}"));
                }
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                plain.push('%');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_urls_have_one_spelling() {
        for (url, want) in [
            ("HTTPS://Shop.Test:443", "https://shop.test/"),
            ("https://shop.test/a?b=2&a=1#top", "https://shop.test/a?a=1&b=2"),
            ("https://shop.test/a?", "https://shop.test/a"),
            ("http://shop.test:8080/%7ea%2fb", "http://shop.test:8080/~a%2Fb"),
            ("https://shop.test?x=%41&x=1", "https://shop.test/?x=A&x=1"),
            ("https://shop.test/100%?*", "https://shop.test/100%?*"),
            ("https://shop.test/%é", "https://shop.test/%é"),
        ] {
            assert_eq!(normal(url).as_deref(), Ok(want), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for url in
            ["", "shop.test", "ftp://a/b", "https://", "https:///a", "file:///etc/passwd", "https://u:p@h/"]
        {
            let why = normal(url).unwrap_err();
            assert!(why.contains(&format!("`{url}` is no URL; write a whole URL")), "{why}");
        }
        let spaced = normal("https://a b/").unwrap_err();
        assert!(spaced.contains("`https://a b/` has spaces"), "{spaced}");
        let long = normal(&format!("https://a/{}", "x".repeat(2_000))).unwrap_err();
        assert!(long.contains("the URL is too long"), "{long}");
    }
}
