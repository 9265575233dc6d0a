//! What was found, in words and columns.

use super::info::{AdapterAbout, EncoderAbout, Found};
use super::need::Need;
use merit_core::printable::{count, piece};
use merit_formats::Description;
use serde::Serialize;

pub(super) fn in_words(found: &Found) -> String {
    match found {
        Found::Decoder { about, layers, width, vocabulary, memory } => {
            decoder(about, (*layers, *width, *vocabulary), memory)
        }
        Found::Encoder(about) => encoder(about),
        Found::Adapter(about) => adapter(about),
    }
}

fn decoder(about: &Description, (layers, width, vocabulary): (usize, usize, usize), memory: &Need) -> String {
    let templates = match about.chat_templates.as_slice() {
        [] => "no".to_owned(),
        names => format!("yes ({})", piece(&names.join(", "))),
    };
    let mut rows = vec![
        ("name", piece(about.name.as_deref().unwrap_or("not stated"))),
        ("licence", piece(about.licence.as_deref().unwrap_or("not stated"))),
        ("architecture", format!("{} (family {})", piece(&about.architecture), word(&about.family))),
        ("parameters", number(about.parameters as u64)),
        ("shape", format!("{layers} layers, width {width}, vocabulary {vocabulary}")),
        ("context", format!("{} tokens", about.context)),
        (
            "format",
            format!(
                "{}, {}, {}",
                word(&about.format),
                count(about.files, "file"),
                size(about.weight_bytes as u64)
            ),
        ),
    ];
    for share in &about.encodings {
        let (tensors, bytes) = (share.tensors, size(share.bytes as u64));
        rows.push(("", format!("{:<6} {:>12}  {bytes}", share.encoding.name(), count(tensors, "tensor"))));
    }
    rows.push(("tokenizer", piece(&about.tokenizer)));
    rows.push(("chat template", templates));
    if !about.unread_settings.is_empty() {
        rows.push(("unread settings", piece(&about.unread_settings.join(", "))));
    }
    rows.extend(needs(memory));
    columns(&rows)
}

fn needs(memory: &Need) -> Vec<(&'static str, String)> {
    let cache = size(memory.cache_bytes);
    vec![
        (
            "to sample",
            format!(
                "{} as stored, {} in f32; {cache} of it for a sequence of {} tokens",
                size(memory.sample_bytes),
                size(memory.sample_f32_bytes),
                memory.context
            ),
        ),
        ("to train", format!("{} and activations, every weight", size(memory.train_full_bytes))),
        (
            "",
            format!(
                "{} and activations, by LoRA of rank {} ({} parameters)",
                size(memory.train_lora_bytes),
                memory.lora_rank,
                number(memory.lora_parameters)
            ),
        ),
    ]
}

fn encoder(about: &EncoderAbout) -> String {
    let shape = &about.shape;
    let unit = if shape.normalise { ", brought to length 1" } else { "" };
    let mut rows = vec![
        ("name", piece(about.name.as_deref().unwrap_or("not stated"))),
        ("architecture", format!("{} (an encoder: texts to vectors)", about.architecture)),
        ("parameters", number(about.parameters as u64)),
        ("shape", format!("{} layers, width {}, vocabulary {}", shape.layers, shape.d_model, shape.vocab)),
        ("longest text", format!("{} tokens", shape.max_tokens)),
        ("vectors", format!("{} numbers, pooled by {}{unit}", shape.d_model, word(&shape.pooling))),
    ];
    for share in &about.encodings {
        let (tensors, bytes) = (share.tensors, size(share.bytes as u64));
        rows.push((
            "weights",
            format!("{:<6} {:>12}  {bytes}", share.encoding.name(), count(tensors, "tensor")),
        ));
    }
    rows.push(("tokenizer", about.tokenizer.to_owned()));
    rows.push(("to embed", size(about.embed_bytes)));
    columns(&rows)
}

fn adapter(about: &AdapterAbout) -> String {
    columns(&[
        ("kind", "a low-rank adapter; `merit model merge` adds it to its model".to_owned()),
        ("made for", piece(about.base.as_deref().unwrap_or("not stated"))),
        ("parameters", number(about.parameters as u64)),
        ("rank, alpha", format!("{}, {}", about.rank, about.alpha)),
        ("changes", format!("{} matrices: {}", about.modules, piece(&about.targets.join(", ")))),
    ])
}

fn columns(rows: &[(&str, String)]) -> String {
    let wide = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, text)| format!("{name:<wide$}  {text}\n")).collect()
}

/// A plain enum by its own word.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// `134.5M (134,515,008)`, for people and for comparing.
fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let short = match n {
        0..1_000_000 => return grouped,
        1_000_000..1_000_000_000 => format!("{:.1}M", n as f64 / 1e6),
        _ => format!("{:.2}B", n as f64 / 1e9),
    };
    format!("{short} ({grouped})")
}

fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_for_people_and_whole_for_comparing() {
        assert_eq!(number(999), "999");
        assert_eq!(number(12_345), "12,345");
        assert_eq!(number(134_515_008), "134.5M (134,515,008)");
        assert_eq!((size(512), size(98_362_432)), ("512 bytes".to_owned(), "93.8 MiB".to_owned()));
    }
}
