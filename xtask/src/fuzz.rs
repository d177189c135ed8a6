//! Fuzzing with libFuzzer on the stable compiler: sets the flags that cargo-fuzz would set, so that nothing has to be installed.

use std::path::Path;
use std::process::Command;

use clap::Args;

/// Memory limit of the process in MiB, whatever the input.
const MAX_MEMORY_MIB: u32 = 512;
/// Time limit for one input, in seconds.
const INPUT_TIMEOUT_SECONDS: u32 = 25;
/// Maximum size of an input in bytes.
const MAX_INPUT_BYTES: u32 = 16_384;
/// Folders of the seed corpus.
const SEED_FOLDERS: [&str; 4] = [
    "workflows",
    "crates/workflow/tests/valid",
    "crates/workflow/tests/invalid",
    "crates/workflow/tests/warned",
];
/// Edge coverage counters and traced comparisons. No sanitizer: the code is safe Rust.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// Arguments of `cargo xtask fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Fuzz {
    /// Duration in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Only runs this input, for example one of fuzz/artifacts.
    #[arg(long, value_name = "FILE")]
    input: Option<std::path::PathBuf>,
}

/// Builds the target and runs it; failing inputs are written to `fuzz/artifacts`.
pub(crate) fn run(root: &Path, args: &Fuzz) -> Result<String, String> {
    let folder = root.join("fuzz");
    for name in ["corpus", "artifacts"] {
        fs_err::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
    }
    let target = folder.join("target");
    // With an explicit target, RUSTFLAGS do not apply to build scripts.
    let host = crate::release::host()?;
    let built = Command::new("cargo")
        .args(["build", "--release", "--locked", "--target", &host])
        .current_dir(&folder)
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", &target)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !built.success() {
        return Err("the fuzz target cannot be built".to_owned());
    }
    let mut fuzzer = Command::new(target.join(&host).join("release/workflow"));
    fuzzer.current_dir(root).arg("-artifact_prefix=fuzz/artifacts/");
    if let Some(input) = &args.input {
        fuzzer.arg(input);
    } else {
        fuzzer.args([
            format!("-max_total_time={}", args.seconds),
            format!("-rss_limit_mb={MAX_MEMORY_MIB}"),
            format!("-timeout={INPUT_TIMEOUT_SECONDS}"),
            format!("-max_len={MAX_INPUT_BYTES}"),
            "-dict=fuzz/workflow.dict".to_owned(),
            "-print_final_stats=1".to_owned(),
            "fuzz/corpus".to_owned(),
        ]);
        fuzzer.args(SEED_FOLDERS);
    }
    let status = fuzzer.status().map_err(|error| format!("the fuzz target cannot be run: {error}"))?;
    if status.success() {
        Ok("fuzz: no input fails".to_owned())
    } else {
        Err("fuzz: an input fails; it is in fuzz/artifacts".to_owned())
    }
}
