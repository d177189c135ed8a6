//! How much a sealed plan holds. A binary of its own, because everything that it allocates is counted.

#[path = "../benches/plan/workloads.rs"]
mod workloads;

use contract::Contract;
use peak_alloc::PeakAlloc;
use workflow::{InMemory, Options, load};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The most bytes that an instance may take in a sealed plan.
const BOUND: usize = 1_536;

#[test]
fn instance_memory_stays_within_bound() {
    // What all plans share is not counted.
    let plan = |text: &str| {
        load(text.as_bytes(), "scale.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
            .unwrap()
    };
    drop((plan(&workloads::sweep(100)), plan(&workloads::chains(100))));
    for (name, text) in [
        ("sweep", workloads::sweep(5_000)),
        ("chains", workloads::chains(5_000)),
        ("listed", workloads::listed(500)),
    ] {
        let before = ALLOCATED.current_usage();
        let plan = plan(&text);
        let bytes_each = (ALLOCATED.current_usage() - before) / plan.len();
        assert!(bytes_each <= BOUND, "{name}: {bytes_each} bytes an instance, and at most {BOUND} are meant");
        assert!(bytes_each > 100, "{name}: {bytes_each} bytes an instance cannot be true");
    }
}
