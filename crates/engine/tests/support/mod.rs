//! Shared by the engine's tests: plans, clips and a simulated service.

#![allow(dead_code, reason = "each test uses its part of this support")]

pub(crate) mod clip;
#[path = "../../../scheduler/tests/support/mod.rs"]
mod plans;
pub(crate) mod responses;
pub(crate) mod world;

#[allow(unused_imports, reason = "each test uses its part of this support")]
pub(crate) use plans::{plan, plan_with};
