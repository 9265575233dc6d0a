//! Marks: small typed values by key, so that a driver knows after a kill how far it came.

use crate::{RunFolder, StoreError};
use rusqlite::{OptionalExtension as _, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl RunFolder {
    /// Keeps `value` under `key`; an older value is replaced.
    pub fn set_mark(&self, key: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let value = self.json(value)?;
        let sql = "INSERT OR REPLACE INTO marks (key, value) VALUES (?1, ?2)";
        self.in_transaction(|| self.execute(sql, params![key, value]))
    }

    /// The value under `key`. Absent: it was never set.
    pub fn mark<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        let find = || {
            let mut query = self.db.prepare_cached("SELECT value FROM marks WHERE key = ?1")?;
            query.query_row([key], |row| row.get::<_, String>(0)).optional()
        };
        find().map_err(|e| self.failed(&e))?.map(|json| self.parse(&json)).transpose()
    }
}
