//! From a file's text to its sealed plan, by size: `cargo bench -p workflow --bench plan`. docs/benchmarks.md has the figures. Everything
//! runs on one thread and the measure is that thread's CPU time, so that other load matters little.
#![expect(clippy::expect_used, reason = "a benchmark may stop at the first surprise")]

mod cpu_time;
mod workloads;

use std::hint::black_box;
use std::time::Duration;

use contract::Contract;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use workflow::plan::Plan;
use workflow::{InMemory, Options, key, load};

use self::cpu_time::CpuTime;

fn plan(text: &str) -> Plan {
    load(text.as_bytes(), "scale.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn file_to_plan(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("file_to_plan");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for size in [1_000, 10_000, 100_000] {
        group.throughput(Throughput::Elements(size as u64));
        for (name, text) in [("sweep", workloads::sweep(size)), ("chains", workloads::chains(size))] {
            assert_eq!(plan(&text).len(), size, "{name}");
            group.bench_with_input(BenchmarkId::new(name, size), &text, |bench, text| {
                bench.iter(|| black_box(plan(text)));
            });
        }
    }
    // The file itself grows here, and its own bound ends it.
    for size in [50, 1_000, 8_000] {
        group.throughput(Throughput::Elements(size as u64));
        let text = workloads::listed(size);
        assert_eq!(plan(&text).len(), size, "listed");
        group.bench_with_input(BenchmarkId::new("listed", size), &text, |bench, text| {
            bench.iter(|| black_box(plan(text)));
        });
    }
    group.finish();
}

fn keys(criterion: &mut Criterion<CpuTime>) {
    let plan = plan(&workloads::sweep(1_000));
    let mut group = criterion.benchmark_group("key");
    group.throughput(Throughput::Elements(plan.len() as u64));
    group.bench_function("sweep/1000", |bench| {
        bench.iter(|| {
            for (_, node) in plan.nodes() {
                black_box(key(node, "http://service.example", &[]));
            }
        });
    });
    group.finish();
}

/// One-time costs of the first check in a process.
fn start(criterion: &mut Criterion<CpuTime>) {
    let text = workloads::listed(50);
    criterion.bench_function("contract_and_50_shots", |bench| {
        bench.iter(|| {
            let contract = Contract::built_in().expect("the contract is sound");
            let options = Options::default();
            black_box(load(text.as_bytes(), "scale.yaml", &InMemory::default(), &options, &contract).is_ok())
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = file_to_plan, keys, start
}
criterion_main!(benches);
