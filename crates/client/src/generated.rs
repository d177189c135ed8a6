//! Code that progenitor generates from the contract's codegen view. See `build.rs`.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    missing_docs,
    rustdoc::all,
    unreachable_pub,
    unused,
    reason = "generated code keeps its generator's habits"
)]

include!(concat!(env!("OUT_DIR"), "/codegen.rs"));
