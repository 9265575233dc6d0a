//! Which documents speak of this? An index over a corpus, by words and by meaning.
