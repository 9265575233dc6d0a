//! Parquet files, read back by a reader of rows.

use merit_export::{Columns, ParquetRows};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};

/// The file of these rows.
fn written(rows: &[Value]) -> SerializedFileReader<bytes::Bytes> {
    let mut columns = Columns::default();
    rows.iter().for_each(|row| columns.see(row));
    let mut file = ParquetRows::new(Vec::new(), columns).unwrap();
    rows.iter().for_each(|row| file.push(row.clone()).unwrap());
    SerializedFileReader::new(bytes::Bytes::from(file.finish().unwrap())).unwrap()
}

/// Each row as the reader's own text.
fn texts(rows: &[Value]) -> Vec<String> {
    written(rows).get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

#[test]
fn lists_of_structs_come_back_as_they_were() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "add", "arguments": {"x": 1}}});
    let rows = [
        json!({"messages": [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "", "tool_calls": [call]}],
               "tools": [{"name": "add"}], "size": 3}),
        json!({"messages": [], "size": null}),
    ];
    let texts = texts(&rows);
    assert_eq!(
        texts[0],
        "{messages: [{role: \"user\", content: \"1 + 1?\", tool_calls: null}, {role: \"assistant\", content: \"\", \
         tool_calls: [{id: \"a\", type: \"function\", function: {name: \"add\", arguments: \"{\"x\":1}\"}}]}], \
         tools: \"[{\"name\":\"add\"}]\", size: 3}"
    );
    assert_eq!(texts[1], "{messages: [], tools: null, size: null}");
}

#[test]
fn many_rows_are_several_groups_and_keep_their_order() {
    let rows: Vec<Value> =
        (0..2500).map(|at| json!({"at": at, "odd": at % 2 == 1, "half": 0.5 * f64::from(at)})).collect();
    let file = written(&rows);
    assert_eq!((file.metadata().num_row_groups(), file.metadata().file_metadata().num_rows()), (3, 2500));
    let last = file.get_row_iter(None).unwrap().last().unwrap().unwrap();
    assert_eq!(last.to_string(), "{at: 2499, odd: true, half: 1249.5}");
}
