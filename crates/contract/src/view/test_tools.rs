//! The view for tools that test a service over HTTP, which need no extensions.

use serde_json::Value;

use super::without_extensions;

pub(crate) fn test_tools(document: &Value) -> Value {
    without_extensions(document)
}
