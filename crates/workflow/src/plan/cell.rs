//! The matrix cell of a node.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// One combination of axis values, in file order. Equal names and values are shared between nodes.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    axes: Box<[(Arc<str>, Arc<Value>)]>,
}

impl Cell {
    /// The value on an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.iter().find(|(name, _)| *name == axis).map(|(_, value)| value)
    }

    /// The axes with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.axes.iter().map(|(axis, value)| (&**axis, &**value))
    }

    /// The same axes with what each value becomes.
    pub fn map(&self, mut value: impl FnMut(&Arc<Value>) -> Arc<Value>) -> Self {
        self.axes.iter().map(|(axis, before)| (Arc::clone(axis), value(before))).collect()
    }

    /// Whether there is no axis: the shot has no matrix.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    /// How many axes there are.
    pub fn len(&self) -> usize {
        self.axes.len()
    }
}

impl FromIterator<(Arc<str>, Arc<Value>)> for Cell {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Arc<Value>)>>(axes: I) -> Self {
        Self { axes: axes.into_iter().collect() }
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(axis, value)| other.get(axis) == Some(value))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map: Map<String, Value> = Map::deserialize(deserializer)?;
        Ok(map.into_iter().map(|(axis, value)| (Arc::from(axis), Arc::new(value))).collect())
    }
}
