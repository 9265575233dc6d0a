//! What is read, what is refused, and with which words.

use merit_search::{Corpus, CorpusFault, CorpusLimits, Document, Index, IndexConfig, SearchError};

#[track_caller]
fn refused(lines: &str, want: &str) {
    assert_eq!(Corpus::from_reader(lines.as_bytes(), "c.jsonl").unwrap_err().to_string(), want);
}

#[test]
fn lines_are_read_with_their_other_names_and_metadata() {
    let lines = "{\"id\": 7, \"text\": \"seven\", \"year\": 1999, \"tags\": [{\"a\": null}]}\r\n\n  \
                 {\"_id\": \"x\", \"contents\": \"\", \"title\": null}\n{\"text\": \"last\", \"title\": \"T\"}";
    let corpus = Corpus::from_reader(lines.as_bytes(), "c.jsonl").unwrap();
    let got: Vec<[&str; 3]> = corpus
        .documents()
        .iter()
        .map(|document| [document.id.as_str(), document.title.as_str(), document.text.as_str()])
        .collect();
    assert_eq!(got, [["7", "", "seven"], ["x", "", ""], ["4", "T", "last"]]);
    assert_eq!(corpus.get("4").unwrap().text, "last");
    assert_eq!(corpus.get("5"), None);
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_its_first_line() {
    let one = "\u{feff}{\"text\": \"a\"}\n";
    assert_eq!(Corpus::from_reader(one.as_bytes(), "c.jsonl").unwrap().documents()[0].text, "a");
    refused(
        &format!("{{\"text\": \"b\"}}\n{one}"),
        "corpus c.jsonl, line 2: not a JSON object with a text: the line does not begin with `{`",
    );
}

#[test]
fn a_bad_line_is_named() {
    refused(
        "{\"text\": \"a\"}\n{\"id\": 1}",
        "corpus c.jsonl, line 2: the document has no `text` (or `contents`)",
    );
    refused(
        "{\"text\": \"a\"}\n\n{\"text\": 3}",
        "corpus c.jsonl, line 3: not a JSON object with a text: invalid type: integer `3`, expected a string at column 10",
    );
    refused(
        "[\"1\", \"title\", \"text\"]",
        "corpus c.jsonl, line 1: not a JSON object with a text: the line does not begin with `{`",
    );
    refused(
        "{\"text\": \"a\"",
        "corpus c.jsonl, line 1: not a JSON object with a text: EOF while parsing an object at column 12",
    );
    refused(
        "{\"text\": \"a\", \"contents\": \"b\"}",
        "corpus c.jsonl, line 1: not a JSON object with a text: duplicate field `text` at column 24",
    );
    refused(
        "{\"id\": 1.5, \"text\": \"a\"}",
        "corpus c.jsonl, line 1: `id` must be a string of 1 to 512 bytes or a whole number, but it is a number with a fraction",
    );
    let deep = format!("{{\"text\": \"a\", \"x\": {}", "[".repeat(1_000_000));
    for (line, why) in [
        (&b"{\"text\": \"\xff\"}"[..], "invalid unicode code point"),
        (deep.as_bytes(), "EOF while parsing a list"),
    ] {
        let said = Corpus::from_reader(line, "c").unwrap_err().to_string();
        let head = "corpus c, line 1: not a JSON object with a text: ";
        assert!(said.starts_with(&format!("{head}{why}")), "{said}");
    }
}

#[test]
fn an_id_given_twice_names_both_lines() {
    let told = "corpus c.jsonl, line 4: id `3` was given to line 2 already; ids must differ (a line without one gets its number)";
    refused("{\"text\": \"a\"}\n{\"id\": \"3\", \"text\": \"b\"}\n\n{\"id\": 3, \"text\": \"c\"}", told);
    let twice =
        ["a", "b", "a"].map(|id| Document { id: id.to_owned(), title: String::new(), text: String::new() });
    let fault = CorpusFault::DuplicateId { id: "a".to_owned(), first: 1 };
    let want = SearchError::Corpus { corpus: "documents".to_owned(), line: 3, fault };
    assert_eq!(Corpus::new(twice.to_vec()).unwrap_err(), want);
}

#[test]
fn limits_refuse_and_never_cut() {
    let limits = CorpusLimits { documents: 3, document_bytes: 20, bytes: 10 };
    let read = |lines: &str| match Corpus::from_reader_within(lines.as_bytes(), "c", &limits) {
        Ok(corpus) => Ok(corpus.len()),
        Err(SearchError::Corpus { line, fault, .. }) => Err((line, fault)),
        Err(other) => panic!("{other}"),
    };
    let line = "{\"text\": \"a\"}\n";
    assert_eq!(read(&line.repeat(3)), Ok(3));
    assert_eq!(read(&line.repeat(4)), Err((4, CorpusFault::TooManyDocuments { max: 3 })));
    assert_eq!(read("{\"text\": \"12345678\"}\n"), Ok(1), "20 bytes fit");
    assert_eq!(read("{\"text\": \"123456789\"}"), Err((1, CorpusFault::DocumentTooLong { max: 20 })));
    assert_eq!(read(&"x".repeat(1 << 20)), Err((1, CorpusFault::DocumentTooLong { max: 20 })));
    let long = "{\"text\": \"123456\"}\n";
    assert_eq!(read(&long.repeat(2)), Err((2, CorpusFault::TooLong { max: 10 })));
}

#[test]
fn a_file_is_read_and_a_missing_one_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    std::fs::write(&path, "{\"text\": \"an owl\"}\n{\"text\": \"an elk\"}\n").unwrap();
    let index = Index::build(Corpus::from_jsonl(&path).unwrap(), &IndexConfig::default()).unwrap();
    assert_eq!(index.search("elk", 3).unwrap()[0].id, "2");
    let missing = Corpus::from_jsonl(folder.path().join("none.jsonl")).unwrap_err();
    assert!(
        matches!(&missing, SearchError::Io { corpus, .. } if corpus.ends_with("none.jsonl")),
        "{missing}"
    );
    assert!(matches!(Corpus::from_jsonl(folder.path()), Err(SearchError::Io { .. })));
}

#[test]
fn a_corpus_without_documents_cannot_be_indexed() {
    let corpus = Corpus::from_reader(&b"\n \n"[..], "c").unwrap();
    assert_eq!(Index::build(corpus, &IndexConfig::default()).unwrap_err(), SearchError::EmptyCorpus);
}

#[test]
fn the_digest_tells_corpora_and_settings_apart() {
    let digest = |lines: &str, config: &IndexConfig| {
        let corpus = Corpus::from_reader(lines.as_bytes(), "c").unwrap();
        Index::build(corpus, config).unwrap().digest().to_owned()
    };
    let (one, config) = ("{\"id\": \"a\", \"title\": \"bc\", \"text\": \"d\"}", IndexConfig::default());
    let own = digest(one, &config);
    assert_eq!(own.len(), 64);
    assert_eq!(own, digest(one, &config));
    assert_ne!(own, digest("{\"id\": \"ab\", \"title\": \"c\", \"text\": \"d\"}", &config));
    assert_ne!(own, digest(one, &IndexConfig { title_boost: 2.0, ..config.clone() }));
    assert_eq!(own, digest("{\"text\": \"d\", \"title\": \"bc\", \"_id\": \"a\", \"x\": 1}\n", &config));
}
