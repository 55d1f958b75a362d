//! Our sockets against those of another implementation, and against bad peers.

use super::*;
use crate::socket::publisher::{Keep, Publisher, Voice};
use crate::socket::router::Router;
use tokio::net::TcpStream;
use zeromq::{DealerSocket, ReqSocket, Socket, SocketRecv, SocketSend, SubSocket, ZmqMessage};

pub(crate) struct SayBack;

impl Voice for SayBack {
    fn welcome(&self, topic: &[u8]) -> Vec<Bytes> {
        vec![Bytes::copy_from_slice(topic), Bytes::from_static(b"welcome")]
    }

    fn notice(&self, before: &[Bytes], lost: usize) -> Vec<Bytes> {
        vec![before[0].clone(), Bytes::from(format!("lost {lost}"))]
    }
}

pub(crate) fn frames(topic: &'static str, body: &'static str) -> [Bytes; 2] {
    [topic, body].map(|it| Bytes::from_static(it.as_bytes()))
}

fn in_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), test).await.unwrap() });
}

/// A port that is free now; it may be taken before the caller binds it, so callers try again.
fn free_endpoint() -> String {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("tcp://{}", free.local_addr().unwrap())
}

async fn publisher() -> (Arc<Publisher>, String) {
    loop {
        let endpoint = free_endpoint();
        if let Ok(publisher) = Publisher::bind(&endpoint, Box::new(SayBack)).await {
            return (publisher, endpoint);
        }
    }
}

async fn subscriber(endpoint: &str, topic: &str) -> SubSocket {
    let mut socket = SubSocket::new();
    socket.connect(endpoint).await.unwrap();
    socket.subscribe(topic).await.unwrap();
    assert_eq!(next(&mut socket).await, [topic, "welcome"]);
    socket
}

async fn next(socket: &mut impl SocketRecv) -> Vec<String> {
    let frames = socket.recv().await.unwrap().into_vec();
    frames.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

async fn echo() -> (Arc<Router>, String) {
    loop {
        let endpoint = free_endpoint();
        let receive = |router: &Router, frames: Vec<Bytes>| router.send(&frames);
        if let Ok(router) = Router::bind(&endpoint, Box::new(receive)).await {
            return (router, endpoint);
        }
    }
}

#[test]
fn every_subscriber_is_welcomed_and_hears_its_topic() {
    in_runtime(async {
        let (publisher, endpoint) = publisher().await;
        let mut all = subscriber(&endpoint, "").await;
        let mut some = subscriber(&endpoint, "b").await;
        publisher.publish(&frames("a", "1"), Keep::Always);
        publisher.publish(&frames("b", "2"), Keep::IfRoom);
        assert_eq!(next(&mut all).await, ["a", "1"]);
        assert_eq!(next(&mut all).await, ["b", "2"]);
        assert_eq!(next(&mut some).await, ["b", "2"]);
    });
}

#[test]
fn long_frames_arrive_whole() {
    in_runtime(async {
        let (publisher, endpoint) = publisher().await;
        let mut all = subscriber(&endpoint, "").await;
        let long = Bytes::from("x".repeat(1 << 20));
        publisher.publish(&[Bytes::new(), long, Bytes::from("y".repeat(255))], Keep::Always);
        let got = next(&mut all).await;
        assert_eq!((got[1].len(), got[2].len()), (1 << 20, 255));
    });
}

#[test]
fn replies_find_their_way_to_each_peer() {
    in_runtime(async {
        let (_router, endpoint) = echo().await;
        let mut request = ReqSocket::new();
        request.connect(&endpoint).await.unwrap();
        let mut dealers = vec![DealerSocket::new(), DealerSocket::new()];
        for dealer in &mut dealers {
            dealer.connect(&endpoint).await.unwrap();
        }
        for turn in 0..20 {
            for (idx, dealer) in dealers.iter_mut().enumerate() {
                let text = format!("{turn} {idx}").repeat(turn * 50 + 1);
                dealer.send(ZmqMessage::from(text.clone())).await.unwrap();
                assert_eq!(next(dealer).await, [text]);
            }
            request.send("ping".into()).await.unwrap();
            assert_eq!(next(&mut request).await, ["ping"]);
        }
    });
}

async fn dealer_named(name: &str, endpoint: &str) -> DealerSocket {
    let mut options = zeromq::SocketOptions::default();
    options.peer_identity(name.parse().unwrap());
    let mut dealer = DealerSocket::with_options(options);
    dealer.connect(endpoint).await.unwrap();
    dealer
}

async fn assert_answered(dealer: &mut DealerSocket, text: String) {
    dealer.send(ZmqMessage::from(text.clone())).await.unwrap();
    assert_eq!(next(dealer).await, [text]);
}

#[test]
fn a_client_that_comes_again_takes_its_name_over() {
    in_runtime(async {
        let (_router, endpoint) = echo().await;
        for turn in 0..50 {
            let mut dealer = dealer_named("me", &endpoint).await;
            assert_answered(&mut dealer, format!("{turn}")).await;
        }
    });
}

/// As the clients of one `KernelManager` do.
#[test]
fn clients_that_share_a_name_get_their_own_answers() {
    in_runtime(async {
        let (_router, endpoint) = echo().await;
        let mut first = dealer_named("us", &endpoint).await;
        assert_answered(&mut first, "alone".into()).await;
        let mut second = dealer_named("us", &endpoint).await;
        for turn in 0..20 {
            assert_answered(&mut second, format!("second {turn}")).await;
            assert_answered(&mut first, format!("first {turn}")).await;
        }
    });
}

/// As a question on stdin goes to the client that sent the cell on shell.
#[test]
fn an_answer_to_a_message_of_another_socket_goes_by_name() {
    in_runtime(async {
        let (router, endpoint) = echo().await;
        let mut dealer = dealer_named("me", &endpoint).await;
        assert_answered(&mut dealer, "here".into()).await;
        let elsewhere = ["another connection", "me", "question"];
        router.send(&elsewhere.map(|it| Bytes::from_static(it.as_bytes())));
        assert_eq!(next(&mut dealer).await, ["question"]);
    });
}

#[test]
fn bad_peers_are_dropped_and_others_go_on() {
    in_runtime(async {
        let (publisher, published) = publisher().await;
        let (_router, echo) = echo().await;
        let shaken = [&greeting()[..], &ready("DEALER", "")].concat();
        // A length that nobody could store, in the handshake and after it.
        let huge = [&[LONG][..], &u64::MAX.to_be_bytes(), b"x"].concat();
        let junk = [
            b"GET / HTTP/1.1\r\n\r\n".repeat(9),
            vec![0; 64],
            [&greeting()[..], &[COMMAND | LONG], &u64::MAX.to_be_bytes()].concat(),
            [&greeting()[..], &[COMMAND, 12], b"\x05READY\xff\0\0\0\0\0"].concat(),
            [shaken.clone(), huge].concat(),
            [shaken, [MORE, 0].repeat(MAX_COMMAND as usize)].concat(),
        ];
        for endpoint in [&published, &echo] {
            for bytes in &junk {
                let address = endpoint.strip_prefix("tcp://").unwrap();
                let mut stream = TcpStream::connect(address).await.unwrap();
                let _ = stream.write_all(bytes).await;
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
            }
        }
        let mut all = subscriber(&published, "").await;
        publisher.publish(&frames("a", "1"), Keep::Always);
        assert_eq!(next(&mut all).await, ["a", "1"]);
        let mut dealer = DealerSocket::new();
        dealer.connect(&echo).await.unwrap();
        dealer.send("still here".into()).await.unwrap();
        assert_eq!(next(&mut dealer).await, ["still here"]);
    });
}
