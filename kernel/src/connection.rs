//! The connection file: where to listen and the key that signs messages.

use std::path::Path;

use serde::Deserialize;

/// What the frontend wrote for us.
/// <https://jupyter-client.readthedocs.io/en/stable/kernels.html#connection-files>
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
pub struct Connection {
    /// `tcp` or `ipc`.
    #[serde(default = "tcp")]
    pub transport: String,
    /// The address to listen on, or the path prefix of `ipc` sockets.
    pub ip: String,
    /// Requests to run, complete, inspect ...
    pub shell_port: u16,
    /// Interrupt and shutdown.
    pub control_port: u16,
    /// Answers to `input()`.
    pub stdin_port: u16,
    /// Outputs, to everybody who subscribes.
    pub iopub_port: u16,
    /// Bytes to send back.
    pub hb_port: u16,
    /// Key of the signatures; empty turns signing off.
    #[serde(default)]
    pub key: String,
    /// Must be `hmac-sha256`.
    #[serde(default = "hmac_sha256")]
    pub signature_scheme: String,
}

fn tcp() -> String {
    "tcp".to_owned()
}

fn hmac_sha256() -> String {
    "hmac-sha256".to_owned()
}

impl Connection {
    /// Reads and checks a connection file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = notebooks::read_text(path)
            .map_err(|error| format!("cannot read connection file {}: {error}", path.display()))?;
        let connection: Self = serde_json::from_str(&text)
            .map_err(|error| format!("connection file {}: {error}", path.display()))?;
        connection.check()?;
        Ok(connection)
    }

    fn check(&self) -> Result<(), String> {
        if self.signature_scheme != "hmac-sha256" {
            return Err(format!("signature scheme {} is not hmac-sha256", self.signature_scheme));
        }
        if self.transport != "tcp" && self.transport != "ipc" {
            return Err(format!("transport {} is neither tcp nor ipc", self.transport));
        }
        Ok(())
    }

    /// The endpoint of one port: `tcp://127.0.0.1:5555` or `ipc:///tmp/kernel-1`.
    pub fn endpoint(&self, port: u16) -> String {
        match self.transport.as_str() {
            "ipc" => format!("ipc://{}-{port}", self.ip),
            _ if self.ip == "*" => format!("tcp://0.0.0.0:{port}"),
            _ if self.ip.contains(':') => format!("tcp://[{}]:{port}", self.ip),
            _ => format!("tcp://{}:{port}", self.ip),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Connection {
        serde_json::from_str(text).unwrap()
    }

    const PORTS: &str =
        r#""shell_port":1,"control_port":2,"stdin_port":3,"iopub_port":4,"hb_port":5"#;

    #[test]
    fn endpoints_by_transport() {
        let tcp = parse(&format!(r#"{{"ip":"127.0.0.1",{PORTS},"kernel_name":"x"}}"#));
        assert_eq!(tcp.endpoint(tcp.hb_port), "tcp://127.0.0.1:5");
        let ipc = parse(&format!(r#"{{"transport":"ipc","ip":"/tmp/k",{PORTS}}}"#));
        assert_eq!(ipc.endpoint(ipc.shell_port), "ipc:///tmp/k-1");
    }

    #[test]
    fn refuses_an_unknown_signature_scheme() {
        let odd = parse(&format!(r#"{{"ip":"::1",{PORTS},"signature_scheme":"hmac-md5"}}"#));
        assert!(odd.check().is_err());
        assert_eq!(odd.endpoint(7), "tcp://[::1]:7");
    }
}
