//! Rendering what was accepted: who is next, on which thread, and how far it is.

mod board;
mod job;
mod queue;
mod workers;

pub(crate) use self::{
    board::{Board, Live},
    workers::{Workers, Workshop},
};
