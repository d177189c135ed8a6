//! Reads and checks openapi.yaml, and embeds it as JSON.

use std::{env, fs, path::Path, process::ExitCode};

#[path = "src/spec/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "shared with the library; the build only loads")]
mod spec;

const SOURCE: &str = "../../openapi.yaml";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=src/spec");
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), String> {
    let text = fs::read_to_string(SOURCE).map_err(|error| format!("openapi.yaml cannot be read: {error}"))?;
    // Through serde_yaml's own value, because that refuses a key that is given twice.
    let yaml: serde_yaml::Value =
        serde_yaml::from_str(&text).map_err(|error| format!("openapi.yaml is not valid YAML: {error}"))?;
    let document = serde_json::to_value(&yaml)
        .map_err(|error| format!("openapi.yaml holds what JSON cannot: {error}; use strings as keys"))?;
    spec::Spec::read(&document).map_err(|error| format!("openapi.yaml, {error}"))?;
    let out_dir = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts, and it is missing")?;
    fs::write(Path::new(&out_dir).join("openapi.json"), document.to_string())
        .map_err(|error| format!("the contract cannot be written to the build folder: {error}"))
}
