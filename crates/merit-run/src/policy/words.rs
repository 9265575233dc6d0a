//! Words of a world that are one token each: what their rows begin as, and which tokenizers have them.
//!
//! A decoder made on the spot has random rows, so that the means carry no knowledge of a language: a token begins close to its
//! words, and that is all. Means of trained rows could only be taken after a stage in which the tokens are learned, and would undo it.

use crate::RunError;
use merit_api::{Word, World};
use merit_core::TokenId;
use merit_model::Tokenizer;

/// The token of each word, and the tokens of what it stands for.
pub(super) fn means(words: &[Word], tokenizer: &Tokenizer) -> Vec<(TokenId, Vec<TokenId>)> {
    let mean = |word: &Word| match tokenizer.encode(&word.text)[..] {
        [token] => Some((token, tokenizer.encode(&word.of))),
        _ => None,
    };
    words.iter().filter_map(mean).collect()
}

/// Refuses a tokenizer that cuts a word of the world.
pub(super) fn check(world: &dyn World, tokenizer: &Tokenizer) -> Result<(), RunError> {
    let tokens = |word: &Word| tokenizer.encode(&word.text).len();
    match world.words().into_iter().find(|word| tokens(word) != 1) {
        Some(word) => {
            Err(RunError::Words { world: world.about().name, tokens: tokens(&word), word: word.text })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overrides::merge;
    use crate::parts::Parts;
    use crate::recipe::Recipe;
    use crate::shipped;

    #[test]
    fn every_name_is_a_token_beside_those_of_its_words() {
        let base = shipped::load("toolshelf-use").unwrap();
        let mut whole: toml::Table = toml::from_str(&base.to_toml()).unwrap();
        merge(&mut whole, &toml::from_str("world = { names = 'tokens', tools = 30 }").unwrap());
        let recipe = Recipe::read("named", &toml::to_string(&whole).unwrap(), &base.components).unwrap();
        let parts = Parts::new(&recipe, 1).unwrap();
        let words = parts.env.words();
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let tokenizer = Tokenizer::train_with(std::iter::empty(), 0, &texts).unwrap();
        let means = means(&words, &tokenizer);
        assert_eq!(means.len(), 30);
        // Bytes alone: as many rows as the words and their spaces have letters.
        assert!(means.iter().zip(&words).all(|((_, of), word)| of.len() == word.of.len()));
        assert!(check(parts.env.as_ref(), &tokenizer).is_ok());
        let without = Tokenizer::train(std::iter::empty(), 0);
        let error = check(parts.env.as_ref(), &without).unwrap_err().to_string();
        assert!(error.contains("world `toolshelf`") && error.contains("cuts it into"), "{error}");
    }
}
