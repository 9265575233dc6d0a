//! The lists of every kind of component, the shipped ones and a caller's own.

use super::{About, Entry, UnknownName, definition};
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// A kind of component: the trait object that its components are read into.
pub trait Kind: Send + Sync + 'static {
    /// What it is called in errors, e.g. `credit rule`.
    const KIND: &'static str;
}

/// Every component that a document may name, by kind.
///
/// serde hands no context to what it reads, so [`Components::reading`] lends the lists to the thread while a document is
/// read; a [`Chosen`](super::Chosen) looks there.
#[derive(Clone, Default)]
pub struct Components {
    lists: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    listed: Vec<Listed>,
}

/// One component, whatever its kind.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// What its kind is called.
    pub kind: &'static str,
    /// Name, one line of help, paper.
    pub about: About,
    /// Settings in TOML, without the key that names the component.
    pub example: &'static str,
}

impl std::fmt::Debug for Components {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Components").field("kinds", &self.lists.len()).finish()
    }
}

impl Listed {
    /// The name of its definition in a schema.
    pub fn definition(&self) -> String {
        format!("{}.{}", definition(self.kind), self.about.name)
    }

    /// Its table as a document writes it: the name, then the example.
    pub fn document(&self) -> String {
        let example = self.example.trim();
        let end = if example.is_empty() { "" } else { "\n" };
        format!("type = \"{}\"\n{example}{end}", self.about.name)
    }
}

thread_local! {
    static LENT: RefCell<Vec<Components>> = const { RefCell::new(Vec::new()) };
}

impl Components {
    /// Adds a component. One of the same name and kind takes its place.
    #[must_use]
    pub fn with<T: Kind + ?Sized>(mut self, entry: Entry<T>) -> Self {
        let mut list = self.entries::<T>().to_vec();
        list.retain(|known| known.about.name != entry.about.name);
        list.push(entry);
        self.listed.retain(|known| (known.kind, known.about.name) != (T::KIND, entry.about.name));
        self.listed.push(Listed { kind: T::KIND, about: entry.about, example: entry.example });
        self.lists.insert(TypeId::of::<T>(), Arc::new(list));
        self
    }

    /// Adds every entry of a list, in its order.
    #[must_use]
    pub fn with_all<T: Kind + ?Sized>(self, entries: &[Entry<T>]) -> Self {
        entries.iter().fold(self, |components, entry| components.with(*entry))
    }

    /// The components of a kind, in the order they were added.
    pub fn entries<T: Kind + ?Sized>(&self) -> &[Entry<T>] {
        let list = self.lists.get(&TypeId::of::<T>()).and_then(|list| list.downcast_ref::<Vec<Entry<T>>>());
        list.map_or(&[], Vec::as_slice)
    }

    /// The components of every kind, in the order they were added.
    pub fn all(&self) -> &[Listed] {
        &self.listed
    }

    /// The component called `name`, or an error that names the nearest.
    pub fn find<T: Kind + ?Sized>(&self, name: &str) -> Result<Entry<T>, UnknownName> {
        let entries = self.entries::<T>();
        let found = entries.iter().find(|entry| entry.about.name == name).copied();
        found.ok_or_else(|| UnknownName::among(T::KIND, name, entries.iter().map(|e| e.about.name)))
    }

    /// Runs `read`; whatever it reads finds its components here.
    pub fn reading<R>(&self, read: impl FnOnce() -> R) -> R {
        struct Return;
        impl Drop for Return {
            fn drop(&mut self) {
                LENT.with_borrow_mut(Vec::pop);
            }
        }
        LENT.with_borrow_mut(|lent| lent.push(self.clone()));
        let _return = Return;
        read()
    }

    /// The lists that are lent to this thread; empty outside [`Components::reading`].
    pub fn lent() -> Self {
        LENT.with_borrow(|lent| lent.last().cloned().unwrap_or_default())
    }
}
