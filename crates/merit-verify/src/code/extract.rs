//! Where a response's program stands.

use super::CodeExtract;

/// The program of a response, or why there is none.
pub(super) fn extract(extract: CodeExtract, response: &str) -> Result<&str, &'static str> {
    match extract {
        CodeExtract::Whole if response.trim().is_empty() => Err("the response is empty"),
        CodeExtract::Whole => Ok(response),
        CodeExtract::LastFence => last_fence(response)
            .ok_or("the response has no closed block of Python between lines of three backticks"),
    }
}

/// What stands in the last closed block that may be Python. A line closes a block only where it has nothing but backticks.
fn last_fence(response: &str) -> Option<&str> {
    let mut open: Option<(usize, bool)> = None;
    let mut last = None;
    let mut at = 0;
    for line in response.split_inclusive('\n') {
        let next = at + line.len();
        let mark = line.trim().strip_prefix("```").map(|mark| mark.trim_start_matches('`'));
        match (mark, open) {
            (Some(""), Some((start, wanted))) => {
                open = None;
                last = response.get(start..at).filter(|_| wanted).or(last);
            }
            (Some(mark), None) if !mark.contains('`') => open = Some((next, is_python(mark))),
            _ => {}
        }
        at = next;
    }
    last
}

fn is_python(mark: &str) -> bool {
    let name = mark.split([' ', '{', ',']).next().unwrap_or_default();
    ["", "python", "python3", "py"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, program: Option<&str>) {
        assert_eq!(extract(CodeExtract::LastFence, response).ok(), program, "{response:?}");
    }

    #[test]
    fn the_last_block_of_python_is_the_program() {
        check("a\n```python\nx = 1\n```\nb\n```\ny = 2\n```\n", Some("y = 2\n"));
        check("```Python title=x\n  x = 1\n```\nprints\n```text\n1\n```", Some("  x = 1\n"));
        check("```py\nx = 1", None);
        check("x = 1", None);
        check("é```\n```\nx\n```", Some("x\n"));
        check("```\nx\n``` or ```python\ny\n```.", None);
        check("```\nx\n``` and so on\n```", Some("x\n``` and so on\n"));
        check("`````py\nx\n`````", Some("x\n"));
    }

    #[test]
    fn a_whole_response_keeps_its_indentation() {
        assert_eq!(extract(CodeExtract::Whole, "  x"), Ok("  x"));
        assert_eq!(extract(CodeExtract::Whole, " \n"), Err("the response is empty"));
    }
}
