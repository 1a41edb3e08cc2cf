//! The part of this test's program that runs behind a path: it is then one of the programs at the path's ends.

use ackclock_live::supervise::Answer;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The first argument of such a program; its role and the arguments of that role follow.
const AS: &str = "as";
const PORT: u16 = 5005;
/// After this time without a packet, everything has arrived: less than the second after which a peer is stopped.
const SILENCE: Duration = Duration::from_millis(600);
/// Bytes of a datagram: small, so that many fit in a socket whose reader waits for a processor.
const DATAGRAM: usize = 64;

/// The command for a role.
pub(crate) fn command(part: &[&str]) -> Vec<String> {
    let program = env::current_exe().unwrap().display().to_string();
    [program.as_str(), AS].iter().chain(part).map(|word| (*word).to_owned()).collect()
}

/// The same for a shell.
pub(crate) fn line(part: &[&str]) -> String {
    command(part).iter().map(|word| format!("'{word}' ")).collect()
}

/// Plays the role in the arguments, if there is one.
pub(crate) fn play() -> Option<ExitCode> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [AS, "sender-of-numbers", count] => send_numbers(count.parse().unwrap()),
        [AS, "listener-to-numbers", file] => hear_numbers(Path::new(file)),
        [AS, "player", rounds] => play_ball(rounds.parse().unwrap()),
        [AS, "wall"] => be_a_wall(),
        [AS, "tcp-client", bytes] => return Some(send_and_compare(bytes.parse().unwrap())),
        [AS, "tcp-server"] => echo(),
        [AS, "endless"] => return Some(crate::shell::endless()),
        [AS, ..] => panic!("{words:?}"),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

fn own() -> String {
    env::var("ACKCLOCK_ADDRESS").unwrap()
}

fn peer() -> (String, u16) {
    (env::var("ACKCLOCK_PEER").unwrap(), PORT)
}

fn send_numbers(count: u64) {
    let socket = UdpSocket::bind((own(), 0)).unwrap();
    let mut datagram = [0; DATAGRAM];
    for number in 0..count {
        datagram[..8].copy_from_slice(&number.to_be_bytes());
        socket.send_to(&datagram, peer()).unwrap();
        if number % 4 == 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn hear_numbers(file: &Path) {
    let socket = UdpSocket::bind((own(), PORT)).unwrap();
    let (mut buffer, mut heard) = ([0; 2048], String::new());
    while let Ok(len) = socket.recv(&mut buffer) {
        assert_eq!(len, DATAGRAM);
        heard += &format!("{}\n", u64::from_be_bytes(buffer[..8].try_into().unwrap()));
        socket.set_read_timeout(Some(SILENCE)).unwrap();
    }
    fs::write(file, heard).unwrap();
}

/// Sends a datagram and waits for it to return; one that does not return is sent again.
fn play_ball(rounds: u64) {
    let socket = UdpSocket::bind((own(), 0)).unwrap();
    socket.connect(peer()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut buffer = [0; 2048];
    for round in 0..rounds {
        loop {
            socket.send(&round.to_be_bytes()).unwrap();
            if socket.recv(&mut buffer).is_ok_and(|len| buffer[..len] == round.to_be_bytes()) {
                break;
            }
        }
    }
}

fn be_a_wall() {
    let socket = UdpSocket::bind((own(), PORT)).unwrap();
    let mut buffer = [0; 2048];
    loop {
        let (len, from) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to(&buffer[..len], from).unwrap();
    }
}

fn send_and_compare(bytes: usize) -> ExitCode {
    let sent: Vec<u8> = (0..bytes).map(|i| (i * i / 7) as u8).collect();
    let mut socket = TcpStream::connect(peer()).unwrap();
    let mut reader = socket.try_clone().unwrap();
    let back = std::thread::spawn(move || {
        let mut back = Vec::new();
        reader.read_to_end(&mut back).map(|_| back).unwrap()
    });
    socket.write_all(&sent).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    // No other code exits with 42.
    ExitCode::from(if back.join().unwrap() == sent { 42 } else { 1 })
}

fn echo() {
    let (mut socket, _) = TcpListener::bind((own(), PORT)).unwrap().accept().unwrap();
    let mut writer = socket.try_clone().unwrap();
    std::io::copy(&mut socket, &mut writer).unwrap();
}

/// For runs that are never stopped.
pub(crate) fn on() -> Answer {
    Answer::GoOn
}
