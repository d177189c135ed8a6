//! The operations that `x-tasks` names.

use super::{Node, SpecError, resolve};

/// An operation of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// `get`, `post`, `put` or `delete`.
    pub method: String,
    /// The path, with parameters in braces: `/v1/videos/{task_id}`.
    pub path: String,
    /// The parameters in its path, in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// Whether slashes in its value stay as they are (`x-slashes`): it is a path itself.
    pub has_slashes: bool,
}

/// Those of a description.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) submit: Operation,
    pub(crate) poll: Operation,
    pub(crate) result: Option<Operation>,
    pub(crate) content: Option<Operation>,
    pub(crate) list: Option<Operation>,
    pub(crate) cancel: Option<Operation>,
}

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

impl Operation {
    /// Finds an operation by its `operationId`. `named` is where the id is written.
    pub(crate) fn find(root: &Node<'_>, named: &Node<'_>, id: &str) -> Result<Self, SpecError> {
        for (path, item) in root.need("paths")?.entries()? {
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                if operation.get("operationId").is_some_and(|own| own.value.as_str() == Some(id)) {
                    return Self::read(root, path, method, &item, &operation);
                }
            }
        }
        Err(named.fail(
            format!("no operation is called `{id}`"),
            "write the `operationId` of an operation under `paths`",
        ))
    }

    fn read(
        root: &Node<'_>,
        path: &str,
        method: &str,
        item: &Node<'_>,
        operation: &Node<'_>,
    ) -> Result<Self, SpecError> {
        let mut described = Vec::new();
        for list in [item.get("parameters"), operation.get("parameters")].into_iter().flatten() {
            for parameter in list.items()? {
                described.push(resolve(root, &parameter)?);
            }
        }
        let mut parameters = Vec::new();
        for part in path.split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let own = described
                .iter()
                .find(|own| own.get("name").is_some_and(|own| own.value.as_str() == Some(name)));
            let Some(own) = own else {
                return Err(operation.fail(
                    format!("the path parameter `{name}` is not described"),
                    format!("add it to `parameters`: `{{ name: {name}, in: path, required: true, schema: {{ type: string }} }}`"),
                ));
            };
            let has_slashes = own.get("x-slashes").and_then(|flag| flag.value.as_bool()).unwrap_or(false);
            parameters.push(Parameter { name: name.to_owned(), has_slashes });
        }
        Ok(Self { method: method.to_owned(), path: path.to_owned(), parameters })
    }

    /// The path before and after its parameter; `None` if it has not exactly one.
    pub(crate) fn around_parameter(&self) -> Option<(&str, &str)> {
        let [_] = self.parameters.as_slice() else { return None };
        let (before, after) = self.path.split_once('{')?;
        Some((before, after.split_once('}')?.1))
    }
}
