//! Which model does a path mean?

use crate::{Format, FormatError};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Which format lies at the path, and where exactly.
pub(crate) fn locate(path: &Path) -> Result<(Format, PathBuf), FormatError> {
    let about = std::fs::metadata(path).map_err(FormatError::io("open", path))?;
    if about.is_dir() {
        return locate_in_folder(path);
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "gguf" => Ok((Format::Gguf, path.to_path_buf())),
        "safetensors" => Ok((Format::Safetensors, path.to_path_buf())),
        _ if begins_as_gguf(path)? => Ok((Format::Gguf, path.to_path_buf())),
        _ => Err(FormatError::file(
            path,
            "is neither a GGUF file nor named .safetensors; give such a file or a folder",
        )),
    }
}

fn begins_as_gguf(path: &Path) -> Result<bool, FormatError> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(FormatError::io("open", path))?;
    file.take(4).read_to_end(&mut start).map_err(FormatError::io("read", path))?;
    Ok(start == b"GGUF")
}

fn locate_in_folder(folder: &Path) -> Result<(Format, PathBuf), FormatError> {
    if folder.join("config.json").exists() {
        return Ok((Format::Safetensors, folder.to_path_buf()));
    }
    let entries = std::fs::read_dir(folder).map_err(FormatError::io("read", folder))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "gguf")).collect();
    found.sort();
    match found.len() {
        1 => Ok((Format::Gguf, found.remove(0))),
        0 => Err(FormatError::file(folder, "holds neither `config.json` nor a .gguf file")),
        count => {
            let reason = format!("holds {count} .gguf files and no `config.json`; name one of them");
            Err(FormatError::file(folder, reason))
        }
    }
}
