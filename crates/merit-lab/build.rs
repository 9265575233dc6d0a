//! Lists the system files of the repository, the recorded results, and what is to be read out of them, so that a new one is one
//! file and nothing else. Results are many and long, so they are packed: eleven megabytes of them take less than three in the binary.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Name of the list, folder, ending, and whether its files are packed.
const LISTS: [(&str, &str, &str, bool); 3] = [
    ("SYSTEMS", "systems", "toml", false),
    ("RESULTS", "results", "json", true),
    ("READINGS", "results", "md", false),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut code = String::new();
    for (list, folder, ending, packed) in LISTS {
        let path = root.join(folder);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut names: Vec<String> = std::fs::read_dir(&path)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(ending)?.strip_suffix('.')?.to_owned()))
            .collect();
        names.sort();
        let (held, macro_name) = if packed { ("[u8]", "include_bytes") } else { ("str", "include_str") };
        let _ = writeln!(code, "pub(crate) static {list}: &[(&str, &{held})] = &[");
        for name in names {
            let mut file = path.join(format!("{name}.{ending}"));
            println!("cargo::rerun-if-changed={}", file.display());
            if packed {
                file = pack(&file, &out.join(format!("{name}.{ending}.snap")));
            }
            let _ = writeln!(code, "    ({name:?}, {macro_name}!({:?})),", file.display().to_string());
        }
        code.push_str("];\n");
    }
    std::fs::write(out.join("shipped.rs"), code).expect("OUT_DIR can be written");
}

fn pack(file: &Path, to: &Path) -> PathBuf {
    let text = std::fs::read(file).expect("a file of the repository can be read");
    let packed = snap::raw::Encoder::new().compress_vec(&text).expect("a result is not larger than 4 GB");
    std::fs::write(to, packed).expect("OUT_DIR can be written");
    to.to_owned()
}
