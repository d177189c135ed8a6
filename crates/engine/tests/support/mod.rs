//! What the engine's tests share: plans, clips and a service that misbehaves.

#![allow(dead_code, reason = "each test uses its part of this support")]

pub(crate) mod clip;
#[path = "../../../scheduler/tests/support/mod.rs"]
mod plans;
pub(crate) mod world;

#[allow(unused_imports, reason = "each test uses its part of this support")]
pub(crate) use plans::{plan, plan_with};
