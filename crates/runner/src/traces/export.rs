//! Spans to a collector, as OTLP over HTTP with protobuf, through the project's own HTTP client.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::{TraceExport, Traces};

/// Timeout for the final export at the end of the program.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes read of a collector's response.
const MAX_RESPONSE_BYTES: usize = 64 << 10;
/// The spans that are exported, by crate.
const SPAN_FILTER: [(&str, LevelFilter); 2] = [("engine", LevelFilter::INFO), ("client", LevelFilter::DEBUG)];

/// Begins to send. The variables name the collector, its headers, the service and the size of the queue; none of them is ever logged.
pub(super) fn begin(runtime: &Handle) -> Traces {
    match provider(runtime) {
        Ok(provider) => {
            let layer = tracing_opentelemetry::layer()
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_tracer(provider.tracer("runner"))
                .with_filter(Targets::new().with_targets(SPAN_FILTER));
            Traces {
                layer: Some(Box::new(layer)),
                note: Some("traces go to the collector that the environment names".to_owned()),
                exporting: TraceExport { provider: Some(provider) },
            }
        }
        // The reason may repeat the value of a variable.
        Err(_) => Traces {
            note: Some(
                "the environment configures an unsupported trace exporter: only OTLP over http/protobuf is supported".to_owned(),
            ),
            ..Traces::default()
        },
    }
}

fn provider(runtime: &Handle) -> Result<SdkTracerProvider, ExporterBuildError> {
    let client =
        client::http_client().map_err(|error| ExporterBuildError::InternalFailure(error.to_string()))?;
    let http = Http { client, runtime: runtime.clone() };
    let exporter = SpanExporter::builder().with_http().with_http_client(http).build()?;
    let has_name = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty());
    let resource = Resource::builder();
    let resource = if has_name { resource } else { resource.with_service_name("runner") };
    // A thread of its own with a bounded queue; excess spans are dropped.
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

/// Exports the remaining spans, for a short time.
pub(super) fn end(provider: &SdkTracerProvider) {
    // A collector that does not respond must not affect the run.
    let _ = provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
}

/// The project's HTTP client, used from the exporter's own thread.
#[derive(Debug)]
struct Http {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait::async_trait]
impl HttpClient for Http {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let request = self
            .client
            .request(parts.method, parts.uri.to_string())
            .headers(parts.headers)
            .body(body)
            .timeout(REQUEST_TIMEOUT);
        // The exporter's thread has no runtime: all that waits has to happen in the program's.
        let exchange = self.runtime.spawn(async move {
            let mut response = request.send().await?;
            let mut response_body = Vec::new();
            while let Some(piece) = response.chunk().await? {
                response_body.extend_from_slice(&piece);
                if response_body.len() > MAX_RESPONSE_BYTES {
                    break;
                }
            }
            Ok::<_, reqwest::Error>((response.status(), response.headers().clone(), response_body))
        });
        let (status, headers, response_body) = exchange.await??;
        let mut response = Response::new(Bytes::from(response_body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}
