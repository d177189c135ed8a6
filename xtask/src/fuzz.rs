//! Fuzzing with libFuzzer, on the stable compiler and with nothing to install: the flags that cargo-fuzz would set.

use std::path::Path;
use std::process::Command;

use clap::Args;

/// Most memory of the process, in MiB: what a workflow of any bytes may cost.
const MEMORY_MIB: u32 = 512;
/// Seconds that one input may take.
const SECONDS_EACH: u32 = 25;
/// The longest input, in bytes.
const LONGEST: u32 = 16_384;
/// Where the inputs begin that are known already.
const SEEDS: [&str; 4] = [
    "workflows",
    "crates/workflow/tests/valid",
    "crates/workflow/tests/invalid",
    "crates/workflow/tests/warned",
];
/// Coverage counters at every edge, and the values that comparisons see. No sanitizer: the code is safe Rust.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// How to fuzz.
#[derive(Debug, Args)]
pub(crate) struct Fuzz {
    /// For how long, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Runs one input that was found, instead.
    #[arg(long, value_name = "FILE")]
    input: Option<std::path::PathBuf>,
}

/// Builds the target and runs it; what it finds is left in `fuzz/found`.
pub(crate) fn fuzz(root: &Path, args: &Fuzz) -> Result<String, String> {
    let folder = root.join("fuzz");
    for name in ["corpus", "found"] {
        fs_err::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
    }
    let target = folder.join("target");
    let host = host()?;
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
    let mut run = Command::new(target.join(&host).join("release/workflow"));
    run.current_dir(root).arg("-artifact_prefix=fuzz/found/");
    if let Some(input) = &args.input {
        run.arg(input);
    } else {
        run.args([
            format!("-max_total_time={}", args.seconds),
            format!("-rss_limit_mb={MEMORY_MIB}"),
            format!("-timeout={SECONDS_EACH}"),
            format!("-max_len={LONGEST}"),
            "-dict=fuzz/workflow.dict".to_owned(),
            "-print_final_stats=1".to_owned(),
            "fuzz/corpus".to_owned(),
        ]);
        run.args(SEEDS);
    }
    let ended = run.status().map_err(|error| format!("the fuzz target cannot be run: {error}"))?;
    if ended.success() {
        Ok("fuzz: nothing found".to_owned())
    } else {
        Err("fuzz: an input breaks a promise; it is in fuzz/found".to_owned())
    }
}

/// The machine that is built for: a target has to be named, so that build scripts are left as they are.
fn host() -> Result<String, String> {
    let told =
        Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc cannot be run: {error}"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it builds for".to_owned())
}
