//! Whom we believe to be a server: the roots of webpki-roots, and the certificates of a file where one is named.

use crate::EndpointError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// The settings of every encrypted connection. The machine's own list of roots is not read, so that the same build trusts the
/// same servers everywhere.
pub(crate) fn client(ca_file: Option<&Path>) -> Result<ClientConfig, EndpointError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = ca_file {
        add(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(|error| EndpointError::Config(format!("TLS cannot be set up: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), EndpointError> {
    let wrong = |why: String| EndpointError::Config(format!("`ca_file` {}: {why}", path.display()));
    let read = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut count = 0_usize;
    for certificate in CertificateDer::pem_slice_iter(&read) {
        let certificate = certificate.map_err(|error| wrong(format!("it is no PEM file: {error}")))?;
        roots.add(certificate).map_err(|error| wrong(format!("certificate {}: {error}", count + 1)))?;
        count += 1;
    }
    if count == 0 {
        return Err(wrong("it holds no certificate; give one that begins with BEGIN CERTIFICATE".to_owned()));
    }
    Ok(())
}
