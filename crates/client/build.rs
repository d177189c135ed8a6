//! Generates the client from the contract's codegen view, and fails if the generator dropped a property.

use std::{env, fs, path::Path, process::ExitCode};

use contract::Contract;
use progenitor::{GenerationSettings, Generator, HooksMode, InterfaceStyle};

#[path = "build/guard.rs"]
mod guard;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), String> {
    let contract = Contract::built_in().map_err(|error| format!("openapi.yaml, {error}"))?;
    let spec: openapiv3::OpenAPI = serde_json::from_value(contract.codegen_view())
        .map_err(|error| format!("openapi.yaml is not OpenAPI 3.0 as the generator reads it: {error}"))?;
    let mut settings = GenerationSettings::default();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_hooks(HooksMode::Expected)
        .with_map_type("::std::collections::BTreeMap")
        .with_derive("PartialEq");
    // The hooks read the key and the timeouts from it.
    let inner =
        "crate::hooks::HookState".parse().map_err(|error| format!("the inner type is no type: {error}"))?;
    settings.with_inner_type(inner);
    let tokens = Generator::new(&settings)
        .generate_tokens(&spec)
        .map_err(|error| format!("the client cannot be generated from openapi.yaml: {error}"))?;
    let file: syn::File =
        syn::parse2(tokens.clone()).map_err(|error| format!("the generated client is not Rust: {error}"))?;
    guard::check(contract.document(), &file)?;
    let out_dir = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts, and it is missing")?;
    fs::write(Path::new(&out_dir).join("codegen.rs"), tokens.to_string())
        .map_err(|error| format!("the generated client cannot be written to the build folder: {error}"))
}
