//! Reading lists: the vectors of texts, and the models that a server offers.

use crate::answer::ModelCard;
use crate::field::{At, BadField};

/// One vector per text, in the order of the texts.
pub(crate) fn vectors(top: &At<'_>, wanted: usize) -> Result<Vec<Vec<f32>>, BadField> {
    let data = top.need("data")?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; wanted];
    for (place, entry) in data.list()?.enumerate() {
        let index = entry.get("index").map_or(Ok(place as u64), |index| index.count())?;
        let vector = entry.need("embedding")?;
        let vector: Vec<f32> = vector.list()?.map(|number| number.number()).collect::<Result<_, _>>()?;
        if vector.is_empty() {
            return Err(BadField(format!("{entry}.embedding is empty")));
        }
        let held = usize::try_from(index).ok().and_then(|index| vectors.get_mut(index));
        match held {
            Some(held @ None) => *held = Some(vector),
            Some(Some(_)) => return Err(BadField(format!("{entry} is the second vector of text {index}"))),
            None => {
                return Err(BadField(format!("{entry} is for text {index}, but {wanted} texts were sent")));
            }
        }
    }
    let missing = vectors.iter().position(Option::is_none);
    match missing {
        Some(text) => Err(BadField(format!("data has no vector for text {text} of {wanted}"))),
        None => Ok(vectors.into_iter().flatten().collect()),
    }
}

/// The models, in the order of the server.
pub(crate) fn models(top: &At<'_>) -> Result<Vec<ModelCard>, BadField> {
    let data = top.need("data")?;
    let card = |entry: At<'_>| {
        // vLLM says it on top, llama.cpp inside `meta`.
        let meta = entry.get("meta");
        let limit = entry.get("max_model_len").and_then(|limit| limit.value.as_u64()).or_else(|| {
            ["n_ctx", "n_ctx_train"].iter().find_map(|name| meta.as_ref()?.get(name)?.value.as_u64())
        });
        let context_limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Ok(ModelCard { id: entry.need("id")?.text()?.to_owned(), context_limit })
    };
    data.list()?.map(card).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check_bad(data: Value, says: &str) {
        let answer = json!({ "data": data });
        assert_eq!(vectors(&At::top("the answer", &answer), 2).unwrap_err().0, says);
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer =
            json!({ "data": [{ "index": 1, "embedding": [2] }, { "index": 0, "embedding": [1.5] }] });
        assert_eq!(vectors(&At::top("the answer", &answer), 2).unwrap(), [[1.5], [2.0]]);
    }

    #[test]
    fn vectors_that_do_not_fit_the_texts_are_refused() {
        check_bad(json!([{ "embedding": [1] }]), "data has no vector for text 1 of 2");
        check_bad(
            json!([{ "index": 0, "embedding": [1] }, { "index": 0, "embedding": [1] }]),
            "data[1] is the second vector of text 0",
        );
        check_bad(json!([{ "index": 7, "embedding": [1] }]), "data[0] is for text 7, but 2 texts were sent");
        check_bad(json!([{ "embedding": [] }]), "data[0].embedding is empty");
        check_bad(json!([{ "embedding": ["x"] }]), "data[0].embedding[0] is \"x\", not a finite number");
        check_bad(json!({}), "data is {}, not a list");
    }

    #[test]
    fn models_say_how_much_they_hold_where_they_do() {
        let answer = json!({ "data": [{ "id": "a", "max_model_len": 10 }, { "id": "b", "meta": { "n_ctx_train": 20 } },
                                      { "id": "c" }] });
        let cards = models(&At::top("the answer", &answer)).unwrap();
        let brief: Vec<_> = cards.iter().map(|card| (card.id.as_str(), card.context_limit)).collect();
        assert_eq!(brief, [("a", Some(10)), ("b", Some(20)), ("c", None)]);
    }
}
