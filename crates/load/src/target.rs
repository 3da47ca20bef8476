use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::Outcome;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;

use crate::client::Answer;

/// Parts of a header shorter than this are words, not secrets.
const MIN_SECRET_CHARS: usize = 8;

/// What stands where a secret stood.
pub const REDACTED: &str = "<redacted>";

/// Where a server is and how to speak to it, as the person gave it.
#[derive(Clone, Default)]
pub struct TargetOptions {
    /// `http://host:port`, with or without `/v1`.
    pub url: String,
    /// Sent as `Authorization: Bearer`.
    pub api_key: Option<String>,
    /// Further headers, `Name: value`.
    pub headers: Vec<String>,
    /// A file of CA certificates (PEM) to trust beside the system's.
    pub ca: Option<PathBuf>,
    /// Do not verify the server's certificate.
    pub insecure: bool,
}

/// A server's address, ready to be connected to.
#[derive(Clone)]
pub struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path before `/v1`, `/metrics`, …; empty or `/prefix`.
    pub(crate) root: String,
    pub(crate) headers: HeaderMap,
    pub(crate) tls: Option<(TlsConnector, rustls::pki_types::ServerName<'static>)>,
    secrets: Vec<String>,
}

/// Why an address or its options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not an http(s) URL.
    #[error(
        "`{url}` is not a server's address ({why}): write for example --url http://localhost:8000"
    )]
    BadUrl {
        /// What was given, without credentials.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Not a header.
    #[error("--header takes `Name: value`; what came before or after the colon cannot be a header")]
    BadHeader,
    /// A key that cannot travel in a header.
    #[error(
        "the API key has characters that cannot be sent in a header (a line break at its end?)"
    )]
    BadKey,
    /// The CA file is no good.
    #[error("cannot use the CA file {}: {why}", path.display())]
    BadCa {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Target {
    /// Checks and prepares an address. Resolves nothing yet.
    ///
    /// # Errors
    /// [`TargetError`], in words that say what to write.
    pub fn new(options: &TargetOptions) -> Result<Target, TargetError> {
        let given = options.url.trim();
        let bad = |why| TargetError::BadUrl {
            url: without_credentials(given),
            why,
        };
        let with_scheme = if given.contains("://") {
            given.to_owned()
        } else {
            format!("http://{given}")
        };
        let uri: http::Uri = with_scheme.parse().map_err(|_| bad("it cannot be read"))?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => return Err(bad("only http and https are spoken")),
        };
        let authority = uri.authority().ok_or_else(|| bad("there is no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad(
                "credentials do not belong in it; use --api-key or --header",
            ));
        }
        if uri.query().is_some() {
            return Err(bad("a query does not belong in it; use --header"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(bad("there is no host"));
        }
        let port = authority
            .port_u16()
            .unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path().trim_end_matches('/');
        let root = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        let (headers, secrets) = headers(options)?;
        let tls = is_tls.then(|| tls(&host, options)).transpose()?;
        Ok(Target {
            host,
            port,
            root,
            headers,
            tls,
            secrets,
        })
    }

    /// The address for people and documents: no credentials in it.
    #[must_use]
    pub fn shown(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.root)
    }

    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        format!("{host}:{}", self.port)
    }

    /// `text` without any of the secrets that we send: servers like to quote them.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            without_beginnings(&text.replace(secret, REDACTED), secret)
        })
    }

    /// Takes the secrets out of an answer: it may quote the key, in a refusal, a page
    /// or the name of a model, and is quoted in turn.
    pub(crate) fn redact_answer(&self, answer: Answer) -> Answer {
        let has_secret =
            |secret: &String| memchr::memmem::find(&answer.body, secret.as_bytes()).is_some();
        if !self.secrets.iter().any(has_secret) {
            return answer;
        }
        let said = self.redact(&String::from_utf8_lossy(&answer.body));
        Answer {
            body: said.into(),
            ..answer
        }
    }

    /// Takes the secrets out of what a server said of a request.
    pub(crate) fn redact_outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Refused { message: said, .. }
            | Outcome::Broke { reason: said }
            | Outcome::TimedOut { reason: said }
            | Outcome::Completed {
                finish_reason: said,
            } => *said = self.redact(said),
            Outcome::CutAtWindowEnd => {}
        }
    }

    /// The addresses the host has, in the resolver's order.
    pub(crate) async fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, self.port)]);
        }
        Ok(tokio::net::lookup_host((self.host.as_str(), self.port))
            .await?
            .collect())
    }
}

fn without_credentials(url: &str) -> String {
    // What comes after a `?` may be a key.
    let url = url.split_once('?').map_or(url, |(address, _)| address);
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{REDACTED}{}", &url[..scheme + 3], &url[at..])
        }
        (Some(_) | None, Some(_) | None) => url.to_owned(),
    }
}

/// A message cut short may end in the middle of a secret: what is left of it, from
/// this many characters on, goes too.
const MIN_BEGINNING_CHARS: usize = 8;

fn without_beginnings(text: &str, secret: &str) -> String {
    let Some((at, _)) = secret.char_indices().nth(MIN_BEGINNING_CHARS) else {
        return text.to_owned();
    };
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some(begin) = rest.find(&secret[..at]) {
        let same = rest[begin..]
            .chars()
            .zip(secret.chars())
            .take_while(|(a, b)| a == b);
        let length: usize = same.map(|(a, _)| a.len_utf8()).sum();
        kept.push_str(&rest[..begin]);
        kept.push_str(REDACTED);
        rest = &rest[begin + length..];
    }
    kept + rest
}

fn headers(options: &TargetOptions) -> Result<(HeaderMap, Vec<String>), TargetError> {
    let mut headers = HeaderMap::new();
    let mut secrets = Vec::new();
    if let Some(key) = &options.api_key {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| TargetError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        secrets.push(key.clone());
    }
    for header in &options.headers {
        let (name, text) = header.split_once(':').ok_or(TargetError::BadHeader)?;
        let name: HeaderName = name.trim().parse().map_err(|_| TargetError::BadHeader)?;
        let text = text.trim();
        let mut value = HeaderValue::from_str(text).map_err(|_| TargetError::BadHeader)?;
        value.set_sensitive(true);
        headers.insert(name, value);
        // A header is a secret as a whole, and so may be each part of it (`Bearer x`,
        // `session=x;`); short parts would blot out half of every message.
        let parts = text.split(|c: char| c.is_whitespace() || "=;,:\"'".contains(c));
        let parts = parts.filter(|part| part.len() >= MIN_SECRET_CHARS);
        secrets.extend(std::iter::once(text).chain(parts).map(str::to_owned));
    }
    secrets.retain(|secret| !secret.is_empty());
    Ok((headers, secrets))
}

fn tls(
    host: &str,
    options: &TargetOptions,
) -> Result<(TlsConnector, rustls::pki_types::ServerName<'static>), TargetError> {
    let name = rustls::pki_types::ServerName::try_from(host.to_owned()).map_err(|_| {
        TargetError::BadUrl {
            url: options.url.clone(),
            why: "its host is no name for a certificate",
        }
    })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &options.ca {
        add_ca(&mut roots, path)?;
    }
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| TargetError::BadCa {
            path: PathBuf::new(),
            why: error.to_string(),
        })?;
    let config = if options.insecure {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth()
    } else {
        builder.with_root_certificates(roots).with_no_client_auth()
    };
    Ok((TlsConnector::from(Arc::new(config)), name))
}

fn add_ca(roots: &mut rustls::RootCertStore, path: &Path) -> Result<(), TargetError> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let bad = |why: String| TargetError::BadCa {
        path: path.to_owned(),
        why,
    };
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
    let mut count = 0;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| bad(error.to_string()))?;
        count += 1;
    }
    if count == 0 {
        Err(bad("there is no PEM certificate in it".to_owned()))
    } else {
        Ok(())
    }
}

/// `--insecure`: whoever answers is believed to be the server.
#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &rustls::pki_types::CertificateDer<'_>,
        _intermediates: &[rustls::pki_types::CertificateDer<'_>],
        _server_name: &rustls::pki_types::ServerName<'_>,
        _ocsp_response: &[u8],
        _now: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<Target, TargetError> {
        Target::new(&TargetOptions {
            url: url.to_owned(),
            ..TargetOptions::default()
        })
    }

    #[test]
    fn an_address_may_end_in_v1_or_not_and_may_lack_its_scheme() {
        for url in [
            "http://h:8000",
            "http://h:8000/",
            "http://h:8000/v1",
            "http://h:8000/v1/",
            "h:8000",
        ] {
            let target = target(url).expect(url);
            assert_eq!(
                (target.shown().as_str(), target.root.as_str()),
                ("http://h:8000", ""),
                "{url}"
            );
        }
        assert_eq!(
            target("https://h/api/v1").expect("prefix").shown(),
            "https://h:443/api"
        );
        assert_eq!(
            target("http://[::1]:8000").expect("IPv6").shown(),
            "http://[::1]:8000"
        );
    }

    #[test]
    fn what_is_no_address_is_refused_without_quoting_credentials() {
        for url in ["ftp://h", "http://", "http://a b", ""] {
            assert!(target(url).is_err(), "{url}");
        }
        for url in ["http://user:hunter22@h:1", "http://h:1/v1?key=hunter22"] {
            let error = target(url).err().expect("refused").to_string();
            assert!(!error.contains("hunter22"), "{error}");
        }
    }

    #[test]
    fn a_key_that_the_server_quotes_is_redacted() {
        let options = TargetOptions {
            url: "h:1".to_owned(),
            api_key: Some("sk-secret-1".to_owned()),
            headers: vec!["X-Auth: Token abcdefgh99".to_owned()],
            ..TargetOptions::default()
        };
        let target = Target::new(&options).expect("target");
        let cut = target.redact("bad key sk-secret…");
        assert_eq!(cut, "bad key <redacted>…");
        let shown = target.redact("bad key sk-secret-1 and abcdefgh99");
        assert_eq!(shown, "bad key <redacted> and <redacted>");
    }
}
