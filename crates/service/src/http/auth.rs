//! Authentication by bearer key (spec 5), before any other check.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};

use super::AppState;
use crate::{
    api_error::{ApiError, ApiErrorKind},
    keys::Key,
};

/// Extractor: the authenticated key of a request.
pub(super) struct Caller(pub(super) Arc<Key>);

impl FromRequestParts<Arc<AppState>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        authenticate(&parts.headers, state).map(Self)
    }
}

pub(super) fn authenticate(headers: &HeaderMap, state: &AppState) -> Result<Arc<Key>, ApiError> {
    let secret = secret(headers)?;
    // Inline: a key's row takes microseconds.
    match state.keys.find(secret, &state.store) {
        Ok(Some(key)) => Ok(key),
        Ok(None) => {
            Err(ApiError::new(ApiErrorKind::Unauthenticated, "invalid_api_key", "the API key is not valid"))
        }
        Err(error) => Err(ApiError::internal("the API keys cannot be read", &error)),
    }
}

/// The secret that a request presents.
fn secret(headers: &HeaderMap) -> Result<&str, ApiError> {
    let rejected = |code, message| Err(ApiError::new(ApiErrorKind::Unauthenticated, code, message));
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(header), None) = (values.next(), values.next()) else {
        return rejected("missing_api_key", "one header `Authorization: Bearer <API_KEY>` is needed");
    };
    let presented = header.to_str().ok().and_then(|value| value.trim().split_once(' '));
    let Some((_, secret)) = presented.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
        return rejected("missing_api_key", "the header `Authorization` has the form `Bearer <API_KEY>`");
    };
    Ok(secret.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn presented(values: &[&[u8]]) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        secret(&headers).map(str::to_owned).map_err(|error| error.code.into_owned())
    }

    #[test]
    fn one_bearer_header_is_accepted() {
        assert_eq!(presented(&[b"Bearer sk-1"]), Ok("sk-1".to_owned()));
        assert_eq!(presented(&[b"bearer   sk-1 "]), Ok("sk-1".to_owned()));
        let odd: [&[&[u8]]; 6] = [
            &[],
            &[b"sk-1"],
            &[b"Basic sk-1"],
            &[b"Bearer"],
            &[b"\xff\xfe x"],
            &[b"Bearer sk-1", b"Bearer sk-1"],
        ];
        for missing in odd {
            assert_eq!(presented(missing), Err("missing_api_key".to_owned()), "{missing:?}");
        }
    }
}
