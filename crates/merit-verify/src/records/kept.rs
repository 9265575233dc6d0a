//! What is costly to make and wanted again: compiled policies and schemas, opened databases, by the text that made them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// At most so many things, the newest ones; shared by threads.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    most: usize,
    shelf: Mutex<Shelf<T>>,
}

/// What was made, or why it could not be.
type Made<T> = Result<Arc<T>, Arc<str>>;

#[derive(Debug)]
struct Shelf<T> {
    /// Each with the turn in which it was last asked for.
    things: HashMap<Box<str>, (u64, Made<T>)>,
    turn: u64,
}

impl<T> Kept<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, shelf: Mutex::new(Shelf { things: HashMap::new(), turn: 0 }) }
    }

    /// The thing of that name, made by `make` where it is not at hand. Two threads may make the same at once.
    pub(crate) fn get(&self, name: &str, make: impl FnOnce() -> Result<T, String>) -> Result<Arc<T>, String> {
        let found = {
            let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            shelf.turn += 1;
            let turn = shelf.turn;
            shelf.things.get_mut(name).map(|(last, made)| {
                *last = turn;
                made.clone()
            })
        };
        let made = found.unwrap_or_else(|| {
            let made = make().map(Arc::new).map_err(Arc::from);
            self.put(name, made.clone());
            made
        });
        made.map_err(|why| why.to_string())
    }

    fn put(&self, name: &str, made: Made<T>) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.things.len() >= self.most {
            let oldest = shelf.things.iter().min_by_key(|(_, (last, _))| *last).map(|(name, _)| name.clone());
            oldest.and_then(|name| shelf.things.remove(&name));
        }
        let turn = shelf.turn;
        shelf.things.insert(name.into(), (turn, made));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_thing_is_made_once_until_newer_ones_take_its_place() {
        let kept = Kept::new(2);
        let made = Cell::new(0);
        let get = |name: &str| {
            let one = kept.get(name, || {
                made.set(made.get() + 1);
                Ok(name.to_owned())
            });
            assert_eq!(one.expect("it can be made").as_str(), name);
            made.get()
        };
        assert_eq!([get("a"), get("a"), get("b"), get("a")], [1, 1, 2, 2]);
        assert_eq!([get("c"), get("a"), get("b")], [3, 3, 4]);
    }

    #[test]
    fn what_cannot_be_made_is_not_tried_again() {
        let kept: Kept<u8> = Kept::new(2);
        assert_eq!(kept.get("a", || Err("broken".to_owned())).err().as_deref(), Some("broken"));
        assert_eq!(kept.get("a", || Ok(1)).err().as_deref(), Some("broken"));
    }
}
