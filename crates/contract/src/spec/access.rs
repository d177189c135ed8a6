//! Where a service is, and how it is given the key.

use super::{Node, SpecError};

/// Where the API key goes in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    Header {
        name: String,
        /// What is written before the key, such as `Bearer `.
        prefix: String,
    },
    Query {
        name: String,
    },
}

/// Where the service is, and how it is given the key.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The URLs of its servers, with the defaults of their variables. Empty where the document leaves it to its user.
    pub(crate) servers: Vec<String>,
    pub(crate) key: KeyPlace,
    /// The environment variable that the service's own documents keep the key in.
    pub(crate) key_variable: Option<String>,
}

pub(crate) fn read(root: &Node<'_>) -> Result<Access, SpecError> {
    let scheme = key_scheme(root)?;
    let variable = scheme.get("x-variable").map(|name| name.text().map(str::to_owned)).transpose()?;
    Ok(Access { servers: servers(root)?, key: key_place(&scheme)?, key_variable: variable })
}

pub(super) fn servers(root: &Node<'_>) -> Result<Vec<String>, SpecError> {
    let Some(servers) = root.get("servers") else { return Ok(Vec::new()) };
    let url = |server: Node<'_>| {
        let mut url = server.need("url")?.text()?.to_owned();
        if let Some(variables) = server.get("variables") {
            for (name, variable) in variables.entries()? {
                url = url.replace(&format!("{{{name}}}"), variable.need("default")?.text()?);
            }
        }
        Ok(url.trim_end_matches('/').to_owned())
    };
    servers.items()?.into_iter().map(url).collect()
}

/// The scheme by which requests have the key.
fn key_scheme<'d>(root: &Node<'d>) -> Result<Node<'d>, SpecError> {
    let security = root.need("security")?;
    let help = "write `security: [{ key: [] }]`, and `key` under `components/securitySchemes`";
    let first = security.items()?.into_iter().next().ok_or_else(|| security.fail("this is empty", help))?;
    let (name, _) =
        first.entries()?.into_iter().next().ok_or_else(|| first.fail("this names no scheme", help))?;
    root.need("components")?.need("securitySchemes")?.need(name)
}

fn key_place(scheme: &Node<'_>) -> Result<KeyPlace, SpecError> {
    let kind = scheme.need("type")?;
    match kind.text()? {
        "http" => {
            let scheme = scheme.need("scheme")?;
            if !scheme.text()?.eq_ignore_ascii_case("bearer") {
                return Err(scheme.fail(
                    format!("`{}` is not a scheme that is known here", scheme.text()?),
                    "use `bearer`; for another prefix, `type: apiKey` with `in: header`, `name` and `x-prefix`",
                ));
            }
            Ok(KeyPlace::Header { name: "authorization".to_owned(), prefix: "Bearer ".to_owned() })
        }
        "apiKey" => {
            let name = scheme.need("name")?.text()?.to_owned();
            let place = scheme.need("in")?;
            match place.text()? {
                "header" => {
                    let prefix = scheme.get("x-prefix").map_or(Ok(""), |prefix| prefix.text())?;
                    Ok(KeyPlace::Header { name, prefix: prefix.to_owned() })
                }
                "query" => Ok(KeyPlace::Query { name }),
                other => Err(place.fail(format!("a key cannot be in `{other}`"), "use `header` or `query`")),
            }
        }
        other => Err(kind.fail(
            format!("`{other}` is not a way of giving a key that is known here"),
            "use `type: http` with `scheme: bearer`, or `type: apiKey`",
        )),
    }
}
