//! Measurements that documents quote: each as a ratio or a bound within one run, never against yesterday's figure.

mod render;
mod service;
mod storyboard;

use std::path::Path;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// The example storyboard through the whole program, against rendering its shots alone on as many threads.
    Storyboard,
    /// Processor seconds a clip by scene and size, split into drawing and the rest; several clips at once.
    Render,
    /// Polls of the service while 2,000 tasks wait and all workers render.
    Service,
}

pub(crate) fn bench(root: &Path, what: &Bench) -> Result<String, String> {
    if cfg!(debug_assertions) {
        return Err("figures are for release builds: cargo run --release -p xtask -- bench …".to_owned());
    }
    match what {
        Bench::Storyboard => storyboard::measure(root),
        Bench::Render => render::measure(),
        Bench::Service => service::measure(),
    }
}
