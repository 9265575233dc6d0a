//! What is costly to make and wanted again: compiled policies and schemas, opened databases, by what they were made from.
//!
//! Only what is made from equal input is shared, so keeping changes no verdict. Failures are not kept: a database that was
//! missing may be there next time.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// At most so many things, the ones last asked for; shared by threads.
#[derive(Debug)]
pub struct Kept<K, T> {
    most: usize,
    shelf: Mutex<Shelf<K, T>>,
}

#[derive(Debug)]
struct Shelf<K, T> {
    /// Each with the turn in which it was last asked for.
    things: HashMap<K, (u64, Arc<T>)>,
    turn: u64,
}

impl<K: Eq + Hash + Clone, T> Kept<K, T> {
    /// Keeps at most `most` things.
    pub fn new(most: usize) -> Self {
        Self { most, shelf: Mutex::new(Shelf { things: HashMap::new(), turn: 0 }) }
    }

    /// What was made from `from` before, or what `make` makes of it now. Two threads may make the same at once.
    pub fn get<Q, E>(&self, from: &Q, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(found) = self.shelf().find(from) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        let mut shelf = self.shelf();
        if shelf.things.len() >= self.most {
            shelf.drop_oldest();
        }
        let turn = shelf.turn;
        shelf.things.insert(from.to_owned(), (turn, Arc::clone(&made)));
        Ok(made)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<K, T>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone, T> Shelf<K, T> {
    fn drop_oldest(&mut self) {
        let oldest = self.things.iter().min_by_key(|(_, (last, _))| *last).map(|(from, _)| from.clone());
        oldest.and_then(|from| self.things.remove(&from));
    }

    fn find<Q: Eq + Hash + ?Sized>(&mut self, from: &Q) -> Option<Arc<T>>
    where
        K: Borrow<Q>,
    {
        self.turn += 1;
        let (last, made) = self.things.get_mut(from)?;
        *last = self.turn;
        Some(Arc::clone(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_thing_is_made_once_until_newer_ones_take_its_place() {
        let kept = Kept::<String, _>::new(2);
        let made = Cell::new(0);
        let get = |name: &str| {
            let one = kept.get(name, || {
                made.set(made.get() + 1);
                Ok::<_, String>(name.to_owned())
            });
            assert_eq!(one.expect("it can be made").as_str(), name);
            made.get()
        };
        assert_eq!([get("a"), get("a"), get("b"), get("a")], [1, 1, 2, 2]);
        assert_eq!([get("c"), get("a"), get("b")], [3, 3, 4]);
    }

    #[test]
    fn what_could_not_be_made_is_tried_again() {
        let kept = Kept::<String, u8>::new(2);
        assert_eq!(kept.get("a", || Err("broken")), Err("broken"));
        assert_eq!(kept.get("a", || Ok::<_, &str>(1)), Ok(Arc::new(1)));
        assert_eq!(kept.get("a", || Err("not asked")), Ok(Arc::new(1)));
    }
}
