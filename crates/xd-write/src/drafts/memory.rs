//! Drafts that live as long as the process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{DraftError, DraftName, DraftStore, Expected, Put};

/// Drafts in memory. Clones are the same store.
#[derive(Debug, Clone, Default)]
pub struct MemoryDrafts(Arc<Mutex<BTreeMap<DraftName, String>>>);

impl MemoryDrafts {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl DraftStore for MemoryDrafts {
    fn read(&self, name: &DraftName) -> Result<Option<String>, DraftError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())
    }

    fn put(&self, name: &DraftName, text: &str, expected: Expected) -> Result<Put, DraftError> {
        let mut drafts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !expected.is(drafts.get(name).map(String::as_str)) {
            return Ok(Put::Differs);
        }
        Ok(match drafts.insert(name.clone(), text.to_owned()) {
            Some(_) => Put::Replaced,
            None => Put::Created,
        })
    }

    fn names(&self) -> Result<Vec<DraftName>, DraftError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect())
    }
}
