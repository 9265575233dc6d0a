//! Which documents share words with the query, and how much? BM25 over titles and texts.
//!
//! Formula per field and word, summed over both fields and all words of the query (a word asked twice counts twice):
//!   idf = ln(1 + (N - n + 0.5) / (n + 0.5))
//!   score = boost * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length)),  k1 = 1.2, b = 0.75
//! where a field of more than 40 words counts as long as the next smaller of 215 steps (at most an eighth shorter).
//! One segment in order of the corpus, written by one thread, so that a document's number is its position.

mod bounds;
mod plan;
mod rank;

pub use plan::MAX_QUERY_TERMS;
pub(crate) use plan::Plan;

use crate::analysis::analyser;
use crate::{Corpus, IndexConfig, SearchError};
use tantivy::directory::RamDirectory;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    IndexBuilder, IndexSettings, ReloadPolicy, Searcher, SingleSegmentIndexWriter, TantivyDocument,
};

/// A word of a query with its weight, for finding passages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskedWord {
    pub(crate) term: String,
    /// Inverse document frequency in the text field.
    pub(crate) idf: f32,
}

pub(crate) struct WordIndex {
    searcher: Searcher,
    analyser: TextAnalyzer,
    title: Field,
    text: Field,
    title_boost: f32,
    bounds: bounds::Bounds,
}

impl WordIndex {
    pub(crate) fn build(corpus: &Corpus, config: &IndexConfig) -> Result<Self, SearchError> {
        let analyser = analyser(config.stemming, config.stop_words);
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("merit")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let options = TextOptions::default().set_indexing_options(indexing);
        let title = schema.add_text_field("title", options.clone());
        let text = schema.add_text_field("text", options);
        let tokenizers = tantivy::tokenizer::TokenizerManager::new();
        tokenizers.register("merit", analyser.clone());
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..Default::default() };
        let builder = IndexBuilder::new().schema(schema.build()).tokenizers(tokenizers).settings(settings);
        let mut writer: SingleSegmentIndexWriter =
            builder.single_segment_index_writer(RamDirectory::create(), WRITER_BYTES)?;
        for document in corpus.documents() {
            let mut fields = TantivyDocument::default();
            if config.title_boost > 0.0 && !document.title.is_empty() {
                fields.add_text(title, &document.title);
            }
            fields.add_text(text, &document.text);
            writer.add_document(fields)?;
        }
        let reader = writer.finalize()?.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let bounds = match searcher.segment_readers() {
            [segment] => bounds::bounds(segment, &[title, text])?,
            other => return Err(SearchError::Engine(format!("{} segments instead of one", other.len()))),
        };
        Ok(Self { searcher, analyser, title, text, title_boost: config.title_boost, bounds })
    }

    pub(crate) fn analyser(&self) -> TextAnalyzer {
        self.analyser.clone()
    }
}

/// Only sizes the first table of terms; the one segment grows as it must.
const WRITER_BYTES: usize = 64 << 20;
