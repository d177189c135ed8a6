//! Links the program under test as a file that is loaded at a fixed address, where that is understood.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The loader relocates a debug build for a quarter of the time that a command takes, and the tests run thousands of commands.
    if std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
