//! The view for tools that test a service over HTTP. They take a discriminator with several values per schema for a
//! contradiction, and need no extensions.

use serde_json::Value;

use super::{rewrite_components, without_extensions};

pub(crate) fn test_tools(document: &Value) -> Value {
    let mut view = without_extensions(document);
    rewrite_components(&mut view, &|schema| {
        schema.remove("discriminator");
    });
    view
}
