//! End-to-end tests of the command line, against the embedded service and services that misbehave. One binary; a module per theme.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "a test that skips says so")]

mod at_most_once;
mod bad_input;
mod book;
mod budget;
mod ci;
mod clean;
mod closed_tasks;
#[cfg(feature = "cluster")]
mod cluster;
mod command_ends;
mod completions;
mod concurrent_runs;
mod crash_points;
mod crash_random;
mod disk_full;
mod edit;
mod events_and_status;
mod export;
mod export_draft;
mod export_video;
mod faults;
mod film;
mod film_showcase;
mod formats;
mod frames_of_files;
mod import_cut;
mod init_and_import;
#[cfg(unix)]
mod interrupts;
mod ledger_backup;
mod ledger_recovery;
mod media_gate;
mod misleading_responses;
mod missing_tasks;
mod models_and_schema;
mod new_description;
mod picks;
mod plan;
mod redelivered_videos;
mod report;
mod requests;
mod reruns;
mod retries;
mod selection;
mod serve;
mod service_conformance;
mod services;
mod shot_states;
mod sidecars;
#[cfg(unix)]
mod signals;
mod support;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod ui;
mod unclaimed_tasks;
#[cfg(target_os = "linux")]
mod unwritable_output;
mod view;
mod wire;
