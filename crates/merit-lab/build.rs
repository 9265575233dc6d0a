//! Lists the system files of the repository, the recorded results, and what is to be read out of them, so that a new one is one file and nothing else.

use std::fmt::Write as _;
use std::path::Path;

const LISTS: [(&str, &str, &str); 3] =
    [("SYSTEMS", "systems", "toml"), ("RESULTS", "results", "json"), ("READINGS", "results", "md")];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut code = String::new();
    for (list, folder, ending) in LISTS {
        let path = root.join(folder);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut names: Vec<String> = std::fs::read_dir(&path)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(ending)?.strip_suffix('.')?.to_owned()))
            .collect();
        names.sort();
        let _ = writeln!(code, "pub(crate) const {list}: &[(&str, &str)] = &[");
        for name in names {
            let file = path.join(format!("{name}.{ending}"));
            println!("cargo::rerun-if-changed={}", file.display());
            let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", file.display().to_string());
        }
        code.push_str("];\n");
    }
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("shipped.rs"), code).expect("OUT_DIR can be written");
}
