//! The format of a request body, from its content type.

use axum::http::{HeaderMap, header};
use url::Url;

use crate::api_error::ApiError;

/// Characters of an unknown content type in an error message.
const MAX_SHOWN_CHARS: usize = 60;

/// The formats that `POST /v1/videos` accepts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyFormat {
    /// `application/json` (spec 4.1).
    Json,
    /// `multipart/form-data`, an extension.
    Form {
        /// The whole header, with the boundary.
        content_type: String,
    },
}

impl BodyFormat {
    /// The format that the headers declare; `base` is for the example in the error.
    pub(super) fn from_headers(headers: &HeaderMap, base: &Url) -> Result<Self, ApiError> {
        let header = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = header.unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            return Ok(Self::Json);
        }
        if essence.eq_ignore_ascii_case("multipart/form-data") {
            return Ok(Self::Form { content_type: content_type.to_owned() });
        }
        let actual = if essence.is_empty() {
            "and the request names none".to_owned()
        } else {
            format!("not `{}`", essence.chars().take(MAX_SHOWN_CHARS).collect::<String>())
        };
        let message = format!(
            "the content type is `application/json` (or `multipart/form-data`), {actual}; for example: \
             curl {base}v1/videos -H 'Authorization: Bearer API_KEY' -H 'Content-Type: application/json' \
             -d '{{\"model\": \"modela-video-2-0-260128\", \"prompt\": \"a lighthouse at dusk\"}}'"
        );
        Err(ApiError::invalid("invalid_content_type", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(content_type: Option<&str>) -> Result<BodyFormat, String> {
        let mut headers = HeaderMap::new();
        if let Some(content_type) = content_type {
            headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        }
        BodyFormat::from_headers(&headers, &Url::parse("http://127.0.0.1:8080/").unwrap())
            .map_err(|error| error.message)
    }

    #[test]
    fn content_types_are_compared_without_case_and_parameters() {
        assert_eq!(format(Some("Application/JSON; charset=utf-8")), Ok(BodyFormat::Json));
        let form = "multipart/form-data; boundary=x";
        assert_eq!(format(Some(form)), Ok(BodyFormat::Form { content_type: form.to_owned() }));
    }

    #[test]
    fn other_content_types_are_refused_with_an_example() {
        insta::assert_snapshot!(format(Some("application/x-www-form-urlencoded")).unwrap_err(), @r#"the content type is `application/json` (or `multipart/form-data`), not `application/x-www-form-urlencoded`; for example: curl http://127.0.0.1:8080/v1/videos -H 'Authorization: Bearer API_KEY' -H 'Content-Type: application/json' -d '{"model": "modela-video-2-0-260128", "prompt": "a lighthouse at dusk"}'"#);
        assert!(format(None).unwrap_err().contains("and the request names none"));
        assert!(format(Some(&"x".repeat(500))).unwrap_err().len() < 500);
    }
}
