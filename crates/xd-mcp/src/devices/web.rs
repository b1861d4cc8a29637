//! Servers over streamable HTTP.

use std::collections::{BTreeMap, HashMap};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    transport::{
        StreamableHttpClientTransport, Transport,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};

use super::ConnectError;

/// A way to the server at `url`. Nothing is sent yet.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<impl Transport<RoleClient> + 'static, ConnectError> {
    // One process, one provider of cryptography: whoever comes second finds it set.
    drop(rustls::crypto::ring::default_provider().install_default());
    // A redirect would carry the headers, which are secrets, to somebody else.
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        // What proxies there are is for the binary to know.
        .no_proxy()
        .build()
        .map_err(|error| ConnectError::Http(error.to_string()))?;
    let mut given = HashMap::new();
    for (name, value) in headers {
        let fault = || ConnectError::Http(format!("the header {name:?} or its value is none"));
        let mut value = HeaderValue::from_str(value).map_err(|_| fault())?;
        value.set_sensitive(true);
        given.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault())?, value);
    }
    // A request that was not answered is never made again, for whatever reason.
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(given)
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// What went wrong, without the address: it may hold a key.
pub(super) fn told(error: &str) -> String {
    const URL: &str = " for url (";
    let mut told = String::with_capacity(error.len());
    let mut rest = error;
    while let Some(at) = rest.find(URL) {
        told.push_str(&rest[..at]);
        rest = rest[at + URL.len()..].split_once(')').map_or("", |(_, rest)| rest);
    }
    told + rest
}

/// Whether a request is known not to have reached the server.
pub(super) fn never_arrived(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // It wraps the client's error without calling it a source.
        let wrapped = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => Some(error),
            Some(_) | None => error.downcast_ref(),
        };
        if wrapped.is_some_and(reqwest::Error::is_connect) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_not_told() {
        let error = "Client error: error sending request for url (http://x/?key=k), when greeting";
        assert_eq!(told(error), "Client error: error sending request, when greeting");
        assert_eq!(told("plain"), "plain");
    }
}
