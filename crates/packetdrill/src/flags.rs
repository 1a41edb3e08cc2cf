//! The text of `--so_flags`: words `key=value`.

use ackclock_conform::engine::System;
use std::net::IpAddr;
use std::path::PathBuf;

/// How the plug-in is set up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flags {
    /// The system whose settings and option order the script expects.
    pub(crate) system: System,
    /// The address of the TCP under test.
    pub(crate) address: IpAddr,
    /// The device's MTU, bytes. Default: 1500.
    pub(crate) mtu: u32,
    /// The file to which the script's commands write their changes; the states of connections go to a file beside it.
    pub(crate) orders: Option<PathBuf>,
}

/// Reads `--so_flags`.
///
/// # Errors
/// An unknown word, or an invalid value; the message names the allowed ones.
pub(crate) fn parse(text: &str) -> Result<Flags, String> {
    let mut flags = Flags { system: System::Linux, address: IpAddr::from([192, 168, 0, 1]), mtu: 1500, orders: None };
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let wrong = |allowed: &str| format!("--so_flags: {key} is {value:?}, allowed: {allowed}");
        match key {
            "system" => {
                flags.system = match value {
                    "linux" => System::Linux,
                    "freebsd" => System::FreeBsd,
                    _ => return Err(wrong("linux or freebsd")),
                }
            }
            "address" => flags.address = value.parse().map_err(|_| wrong("an IP address"))?,
            "mtu" => flags.mtu = value.parse().map_err(|_| wrong("a number of bytes"))?,
            "orders" if !value.is_empty() => flags.orders = Some(value.into()),
            "orders" => return Err(wrong("the name of a file")),
            _ => return Err(format!("--so_flags: {word:?} is unknown, allowed: system, address, mtu and orders")),
        }
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_without_a_word_are_those_of_linux_at_packetdrills_own_address() {
        let flags = parse("").map(|f| (f.system, f.address.to_string(), f.mtu, f.orders));
        assert_eq!(flags, Ok((System::Linux, "192.168.0.1".to_owned(), 1500, None)));
    }

    #[test]
    fn each_word_sets_what_it_names() {
        let flags = parse("system=freebsd address=fd3d::1 mtu=1280 orders=/run/o");
        let orders = Some(PathBuf::from("/run/o"));
        let address = IpAddr::from([0xfd3d, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(flags, Ok(Flags { system: System::FreeBsd, address, mtu: 1280, orders }));
    }

    #[test]
    fn a_wrong_word_is_refused_with_the_words_allowed() {
        assert_eq!(parse("system=bsd"), Err("--so_flags: system is \"bsd\", allowed: linux or freebsd".to_owned()));
        let unknown = "--so_flags: \"speed\" is unknown, allowed: system, address, mtu and orders";
        assert_eq!(parse("speed"), Err(unknown.to_owned()));
    }
}
