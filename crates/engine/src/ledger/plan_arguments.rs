//! The arguments of a run that determine its plan and its keys, so that a task can be traced to the command that adopts it.

use std::path::Path;

use rusqlite::types::{FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use super::sql::{FromColumn, Sql};

/// The workflow file of a run, and what its command line changed about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanArguments {
    /// The name of the workflow file in the folder of the project.
    pub file: String,
    /// The text that is part of every key (`--salt`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// Parameters by name (`--param`), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<(String, String)>,
    /// Parameter files (`--param-file`): relative to the folder of the project where they are below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub param_files: Vec<String>,
    /// Axes by name (`--axis`), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<(String, String)>,
    /// The service of all shots (`--service`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Whether the embedded service stands in for all services (`--rehearse`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearse: bool,
}

impl PlanArguments {
    /// The name of a workflow file, as [`PlanArguments::file`] has it.
    pub fn file_name(workflow: &Path) -> String {
        workflow.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl ToSql for Sql<&PlanArguments> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(text.into())
    }
}

impl FromColumn for Option<PlanArguments> {
    fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => {
                serde_json::from_slice(text).map(Some).map_err(|error| FromSqlError::Other(error.into()))
            }
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
