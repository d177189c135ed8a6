//! Traces of runs to an OpenTelemetry collector, configured by the standard environment variables; with the feature `otlp` only.
//!
//! A slow, full or absent collector blocks nothing: spans wait in a bounded queue, excess ones are dropped, and the export at the end has a
//! short timeout.

#[cfg(feature = "otlp")]
mod export;

use tokio::runtime::Handle;
use tracing_subscriber::{Layer, Registry};

/// Parts of a subscriber.
#[derive(Default)]
pub(crate) struct Traces {
    /// Takes spans, where there is a collector.
    pub(crate) layer: Option<Box<dyn Layer<Registry> + Send + Sync>>,
    /// A note about the export, at debug level.
    pub(crate) note: Option<String>,
    /// To be ended when the program is.
    pub(crate) exporting: TraceExport,
}

/// Spans that are being exported.
#[derive(Default)]
pub(crate) struct TraceExport {
    #[cfg(feature = "otlp")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
}

impl TraceExport {
    /// Exports the remaining spans, for a short time.
    #[cfg_attr(not(feature = "otlp"), expect(clippy::unused_self, reason = "nothing is on its way"))]
    pub(crate) fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(provider) = self.provider {
            export::end(&provider);
        }
    }
}

/// Begins to send spans where the environment names a collector.
pub(crate) fn begin(runtime: &Handle) -> Traces {
    let env_var = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if !is_enabled(env_var) {
        return Traces::default();
    }
    #[cfg(feature = "otlp")]
    {
        export::begin(runtime)
    }
    #[cfg(not(feature = "otlp"))]
    {
        let _ = runtime;
        let note = "the environment asks for traces, and this program was built without them: \
                    `cargo install --path crates/runner --features otlp`";
        Traces { note: Some(note.to_owned()), ..Traces::default() }
    }
}

/// Whether the variables ask for traces.
fn is_enabled(env_var: impl Fn(&str) -> Option<String>) -> bool {
    let has_value =
        |name: &str, word: &str| env_var(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word));
    let exporter = "OTEL_TRACES_EXPORTER";
    if has_value("OTEL_SDK_DISABLED", "true") || has_value(exporter, "none") {
        return false;
    }
    has_value(exporter, "otlp")
        || env_var("OTEL_EXPORTER_OTLP_ENDPOINT").is_some()
        || env_var("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn otlp_environment_variables_enable_traces() {
        let enabled = |variables: &[(&str, &str)]| {
            is_enabled(|name| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        assert!(!enabled(&[]) && enabled(&[endpoint]) && enabled(&[("OTEL_TRACES_EXPORTER", "otlp")]));
        assert!(enabled(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318/v1/traces")]));
        assert!(!enabled(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]));
        assert!(!enabled(&[endpoint, ("OTEL_SDK_DISABLED", "True")]));
    }
}
