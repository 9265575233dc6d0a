//! Records of many attributes, and queries that ask for one by two of them among other talk.

use merit_core::{Stream, bag};

/// Kinds of attributes.
pub const KINDS: usize = 12;
/// Values of a kind.
pub const VALUES: u64 = 10;
/// What is said beside attributes.
const NOISE: u64 = 200;

/// A text of one side of a task: the words for attributes come first, one of each kind, then noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// A query, or the text of a record.
    pub query: bool,
    /// The two kinds that the task asks for.
    pub asked: [usize; 2],
    /// The value that is said of each kind.
    pub values: [u64; KINDS],
    /// Every word as a row of the embedder's table.
    pub rows: Vec<usize>,
    /// The row of every word when it is named as a cue.
    pub cue_rows: Vec<usize>,
}

impl Text {
    fn new(
        query: bool,
        asked: [usize; 2],
        values: [u64; KINDS],
        noise: usize,
        rows: usize,
        stream: &mut Stream,
    ) -> Self {
        // Queries have words of their own for the same values: the embedder has to learn which mean the same.
        let side = if query { "query" } else { "record" };
        let said = values.iter().enumerate().map(|(kind, value)| format!("{side} {kind} {value}"));
        let talk = (0..noise).map(|_| format!("{side} noise {}", stream.below(NOISE)));
        let words: Vec<String> = said.chain(talk).collect();
        let row = |word: &String| bag::row(word, rows);
        let cue = |word: &String| bag::row(&format!("cue {word}"), rows);
        Self {
            query,
            asked,
            values,
            rows: words.iter().map(row).collect(),
            cue_rows: words.iter().map(cue).collect(),
        }
    }

    /// The kind of a word; [`KINDS`] for noise.
    pub fn kind(&self, word: usize) -> usize {
        word.min(KINDS)
    }

    /// The text with its cues, for an embedder. A cue is a word of the text.
    pub fn with(&self, cues: &[usize]) -> Vec<usize> {
        self.rows.iter().copied().chain(cues.iter().map(|cue| self.cue_rows[*cue])).collect()
    }
}

/// Queries and the records they ask for, in the same order; all of one task, and no two records answer the same query.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub queries: Vec<Text>,
    pub records: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    pool: Vec<[u64; KINDS]>,
    /// Words of noise in a query, and in a record.
    noise: [usize; 2],
    /// Rows of the embedder's table.
    rows: usize,
}

impl Records {
    pub fn draw(count: usize, noise: [usize; 2], rows: usize, stream: &mut Stream) -> Self {
        let pool = (0..count).map(|_| std::array::from_fn(|_| stream.below(VALUES))).collect();
        Self { pool, noise, rows }
    }

    /// At most `size` pairs of one task. Of the twelve values that a query mentions, only the two that are asked are the record's.
    pub fn batch(&self, size: usize, stream: &mut Stream) -> Batch {
        let first = stream.below(KINDS as u64) as usize;
        let second = (first + 1 + stream.below(KINDS as u64 - 1) as usize) % KINDS;
        let asked = [first, second];
        let mut order: Vec<usize> = (0..self.pool.len()).collect();
        stream.shuffle(&mut order);
        let (mut met, mut batch) = (Vec::new(), Batch { queries: Vec::new(), records: Vec::new() });
        for values in order.iter().map(|at| self.pool[*at]) {
            let key = asked.map(|kind| values[kind]);
            if batch.queries.len() == size || met.contains(&key) {
                continue;
            }
            met.push(key);
            let mut mentioned: [u64; KINDS] = std::array::from_fn(|_| stream.below(VALUES));
            asked.iter().for_each(|kind| mentioned[*kind] = values[*kind]);
            batch.queries.push(Text::new(true, asked, mentioned, self.noise[0], self.rows, stream));
            batch.records.push(Text::new(false, asked, values, self.noise[1], self.rows, stream));
        }
        batch
    }
}

/// Who shows cues: the two words that are asked for, but a kind is often taken for another, some kinds more often than not.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstrator {
    wrong: [f64; KINDS],
    instead: [usize; KINDS],
}

impl Demonstrator {
    /// A mean share `wrong` of the cues is of another kind: between none and twice as many, by kind.
    pub fn draw(wrong: f64, stream: &mut Stream) -> Self {
        let mut rates: [f64; KINDS] = std::array::from_fn(|at| 2.0 * wrong * at as f64 / (KINDS - 1) as f64);
        stream.shuffle(&mut rates);
        let shift = 1 + stream.below(KINDS as u64 - 1) as usize;
        Self { wrong: rates, instead: std::array::from_fn(|kind| (kind + shift) % KINDS) }
    }

    /// The cues that it shows for a text.
    pub fn show(&self, text: &Text, stream: &mut Stream) -> Vec<usize> {
        let seen = |kind: usize| if stream.chance(self.wrong[kind]) { self.instead[kind] } else { kind };
        text.asked.map(seen).to_vec()
    }
}
