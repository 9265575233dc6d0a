//! Things made from a task's payload and kept, so that tasks that share a list of tools or a database make it once.
//!
//! Only what is made from equal input is shared, so keeping changes no verdict. The oldest is dropped first; failures are not
//! kept: a database that was missing may be there next time.

use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};

/// Most things kept by one term.
const KEPT: usize = 32;

pub(crate) struct Kept<T> {
    made: RwLock<Vec<(Value, Arc<T>)>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { made: RwLock::new(Vec::new()) }
    }
}

impl<T> Kept<T> {
    /// What was made from `from` before, or what `make` makes of it now.
    pub(crate) fn get(
        &self,
        from: &Value,
        make: impl FnOnce() -> Result<T, String>,
    ) -> Result<Arc<T>, String> {
        let find = |made: &[(Value, Arc<T>)]| {
            made.iter().find(|(known, _)| known == from).map(|(_, made)| Arc::clone(made))
        };
        if let Some(found) = find(&self.made.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        let fresh = Arc::new(make()?);
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&made) {
            return Ok(found);
        }
        if made.len() == KEPT {
            made.remove(0);
        }
        made.push((from.clone(), Arc::clone(&fresh)));
        Ok(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_input_is_made_once_and_failures_are_not_kept() {
        let kept = Kept::default();
        assert_eq!(kept.get(&Value::from("a"), || Err("no".to_owned())), Err("no".to_owned()));
        assert_eq!(kept.get(&Value::from("a"), || Ok(1)), Ok(Arc::new(1)));
        assert_eq!(kept.get(&Value::from("a"), || Ok(2)), Ok(Arc::new(1)));
        for i in 0..KEPT {
            assert_eq!(kept.get(&Value::from(i), || Ok(i)), Ok(Arc::new(i)));
        }
        // `a` was the oldest.
        assert_eq!(kept.get(&Value::from("a"), || Ok(3)), Ok(Arc::new(3)));
    }
}
