//! What containers may be told: images with fixed versions, flags of the program's own definition, variables that a program reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::{Expr, ExprLit, Fields, Item, Lit, Meta};

use super::Container;

const CLUSTER_ARGS: &str = "crates/runner/src/args/cluster.rs";
const SERVE_ARGS: &str = "crates/runner/src/args/serve.rs";
const LIMIT_ARGS: &str = "crates/runner/src/args/limits.rs";
const STORE_SETTINGS: &str = "crates/cluster/src/store/location.rs";
const RESTATE_VERSION: &str = "xtask/src/cluster/server.rs";
/// Our image.
const IMAGE: &str = "runner-cluster";
/// Subcommands that containers run, with the structs of their arguments. `serve keys` has no flags but those of `serve`.
const COMMANDS: [(&str, &[&str]); 3] =
    [("worker", &["WorkerArgs", "BudgetArgs"]), ("serve", &["ServeArgs"]), ("run", &["EngineArgs"])];
/// Settings of Restate's server, as `restate-server --dump-config` of the version above shows them.
const RESTATE_VARIABLES: &[&str] = &[
    "RESTATE_ADVERTISED_ADDRESS",
    "RESTATE_AUTO_PROVISION",
    "RESTATE_BASE_DIR",
    "RESTATE_CLUSTER_NAME",
    "RESTATE_DEFAULT_NUM_PARTITIONS",
    "RESTATE_DISABLE_TELEMETRY",
    "RESTATE_METADATA_CLIENT__ADDRESSES",
    "RESTATE_NODE_NAME",
    "RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE",
    "RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE",
    "RESTATE_WORKER__SNAPSHOTS__DESTINATION",
    "RESTATE_WORKER__SNAPSHOTS__SNAPSHOT_INTERVAL",
];

/// What the repository's programs understand.
pub(super) struct Programs {
    version: String,
    restate_version: String,
    /// Flags of each subcommand.
    flags: BTreeMap<&'static str, BTreeSet<String>>,
    variables: BTreeSet<String>,
}

impl Programs {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let read = |name: &str| fs_err::read_to_string(root.join(name)).map_err(|error| error.to_string());
        let server = read(RESTATE_VERSION)?;
        let restate_version = server
            .split_once("@restatedev/restate-server@")
            .and_then(|(_, rest)| rest.split('"').next())
            .ok_or_else(|| format!("{RESTATE_VERSION} names no version of Restate's server"))?;
        let mut structs = BTreeMap::new();
        let mut variables: BTreeSet<String> = quoted(&read(STORE_SETTINGS)?);
        for file in [CLUSTER_ARGS, SERVE_ARGS, LIMIT_ARGS] {
            let text = read(file)?;
            structs.extend(flags(&text).map_err(|error| format!("{file}: {error}"))?);
            variables.extend(quoted(&text));
        }
        for file in crate::repository::files(root)? {
            let is_rust = Path::new(&file).extension().is_some_and(|extension| extension == "rs");
            if is_rust && file.starts_with("crates/runner/src/") {
                variables.extend(quoted(&read(&file)?));
            }
        }
        let flags = COMMANDS.iter().map(|(command, names)| {
            let command_flags = names.iter().filter_map(|name| structs.get(*name)).flatten().cloned();
            (*command, command_flags.collect())
        });
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            restate_version: restate_version.to_owned(),
            flags: flags.collect(),
            variables,
        })
    }

    #[cfg(test)]
    pub(super) fn example() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            version: "0.1.0".to_owned(),
            restate_version: "1.7.12".to_owned(),
            flags: BTreeMap::from([("worker", owned(&["listen", "register", "advertise"]))]),
            variables: owned(&["RUNNER_ENGINE"]),
        }
    }

    pub(super) fn check(&self, container: &Container<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let (name, tag) = container.image.rsplit_once(':').unwrap_or((container.image, ""));
        let expected = match name.rsplit('/').next() {
            Some(IMAGE) => Some(&self.version),
            Some("restate") => Some(&self.restate_version),
            _ => None,
        };
        match expected {
            Some(expected) if tag != expected => {
                problems.push(format!("the image {} is not of version {expected}", container.image));
            }
            None if !is_pinned(container.image, tag) => {
                problems.push(format!("the image {} has no fixed version", container.image));
            }
            _ => {}
        }
        if name.ends_with(IMAGE) && !container.args.is_empty() {
            problems.extend(self.check_args(&container.args));
        }
        for (variable, _) in &container.variables {
            let is_known = match variable.split('_').next() {
                Some("RUNNER" | "AWS" | "GOOGLE" | "AZURE") => self.variables.contains(*variable),
                Some("RESTATE") => RESTATE_VARIABLES.contains(variable),
                // Of the file itself: $(NAME) in other values.
                _ => true,
            };
            if !is_known {
                problems.push(format!("no program reads the variable {variable}"));
            }
        }
        problems
    }

    fn check_args(&self, args: &[&str]) -> Vec<String> {
        let Some(flags) = self.flags.get(args[0]) else {
            return vec![format!("the program has no subcommand {} that containers run", args[0])];
        };
        let used = args.iter().filter_map(|arg| arg.strip_prefix("--")?.split('=').next());
        used.filter(|flag| !flags.contains(*flag))
            .map(|flag| format!("`{}` has no flag --{flag}", args[0]))
            .collect()
    }
}

/// Whether a tag is a whole version, or the image is named by its digest.
fn is_pinned(image: &str, tag: &str) -> bool {
    let parts: Vec<&str> = tag.split('.').collect();
    let is_version =
        parts.len() >= 3 && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    is_version || image.contains("@sha256:")
}

/// Names of variables in string literals and in their documentation.
fn quoted(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let prefixes = ["RUNNER_", "AWS_", "GOOGLE_", "AZURE_"];
    words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix))).map(str::to_owned).collect()
}

/// The long flags of each struct of arguments.
fn flags(text: &str) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut structs = BTreeMap::new();
    for item in file.items {
        let Item::Struct(item) = item else { continue };
        let Fields::Named(fields) = item.fields else { continue };
        let names = fields.named.iter().filter_map(|field| {
            let arg = field.attrs.iter().find(|attribute| attribute.path().is_ident("arg"))?;
            let name = field.ident.as_ref()?.to_string().replace('_', "-");
            let mut long = None;
            // Other parts of the attribute have other forms; they are not looked at.
            let parts =
                arg.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated);
            for part in parts.ok()? {
                match part {
                    Meta::Path(path) if path.is_ident("long") => long = Some(name.clone()),
                    Meta::NameValue(value) if value.path.is_ident("long") => {
                        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value.value {
                            long = Some(text.value());
                        }
                    }
                    _ => {}
                }
            }
            long
        });
        structs.insert(item.ident.to_string(), names.collect());
    }
    Ok(structs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_of_the_definition() {
        let text = "struct A { #[arg(long, value_name = \"N\", value_parser = f().range(1..=2))] max_in_flight: u8,
            #[arg(long = \"identity-key\")] keys: Vec<String>, #[arg(short)] v: u8, #[command(flatten)] b: B }";
        let all = flags(text).unwrap();
        assert_eq!(all["A"], BTreeSet::from(["identity-key".to_owned(), "max-in-flight".to_owned()]));
    }

    #[test]
    fn images_without_a_fixed_version_are_not_pinned() {
        for (image, tag, pinned) in [
            ("a:1.2.3", "1.2.3", true),
            ("a@sha256:0", "0", true),
            ("a", "", false),
            ("a:1.2", "1.2", false),
            ("a:latest", "latest", false),
        ] {
            assert_eq!(is_pinned(image, tag), pinned, "{image}");
        }
    }
}
