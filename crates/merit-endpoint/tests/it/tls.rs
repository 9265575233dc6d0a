//! Encrypted connections, with a server on this machine whose certificate nobody knows unless it is named.

use crate::support::{ask, open};
use merit_core::Seed;
use merit_endpoint::{Endpoint, EndpointConfig, EndpointError, wait};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A server that says "safe" to everybody, and the file with its certificate.
fn server(folder: &Path) -> (String, PathBuf) {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let file = folder.join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let chain: Vec<CertificateDer<'static>> = vec![made.cert.der().clone()];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = Arc::new(versions.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), tcp);
            // A client that does not believe us leaves during the handshake.
            let _ = answer(&mut stream);
        }
    });
    (format!("https://{address}/v1"), file)
}

fn answer(stream: &mut (impl std::io::Read + std::io::Write)) -> std::io::Result<()> {
    let mut reader = BufReader::new(&mut *stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or_default();
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let body = r#"{"choices":[{"index":0,"message":{"content":"safe"},"finish_reason":"stop"}]}"#;
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length:";
    write!(stream, "{head} {}\r\n\r\n{body}", body.len())?;
    stream.flush()
}

#[test]
fn a_server_is_believed_when_its_certificate_is_named_and_not_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let (url, file) = server(folder.path());
    let stranger = EndpointConfig { retries: 0, deadline_s: 20.0, ..EndpointConfig::new(&url, "tiny") };
    let known = EndpointConfig { ca_file: Some(file), ..stranger.clone() };
    assert_eq!(wait(open(&known).chat(&ask("?"))).unwrap().text, "safe");
    let error = wait(open(&stranger).chat(&ask("?"))).unwrap_err();
    assert!(
        matches!(&error, EndpointError::Connection { why, .. } if why.contains("UnknownIssuer")),
        "{error}"
    );
    assert!(error.to_string().contains("`ca_file`"), "{error}");
}

#[test]
fn a_file_without_certificates_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.pem");
    let says = |text: Option<&str>| {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let config = EndpointConfig {
            ca_file: Some(file.clone()),
            ..EndpointConfig::new("https://127.0.0.1:9/v1", "tiny")
        };
        Endpoint::open(&config, Seed::root(1)).unwrap_err().to_string()
    };
    assert!(says(None).contains("notes.pem: No such file"), "{}", says(None));
    assert!(says(Some("nothing")).contains("holds no certificate"));
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(says(Some(broken)).contains("certificate 1"), "{}", says(Some(broken)));
}
