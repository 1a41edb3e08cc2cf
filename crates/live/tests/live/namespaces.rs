//! Namespaces and devices, as the driver and the emulator use them.

use crate::trial;
use ackclock_live::namespace::Namespace;
use ackclock_live::netlink::Device;
use ackclock_live::tun::Tun;
use libtest_mimic::Trial;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One of the two ends of a link that this process emulates.
fn end(address: [&str; 2]) -> (Namespace, Tun) {
    let namespace = Namespace::new().unwrap();
    let tun = Tun::new(&namespace, "tun0", false).unwrap();
    let addresses = vec![(address[0].parse().unwrap(), 24), (address[1].parse().unwrap(), 64)];
    let device = Device { addresses, ..Device::default() };
    namespace.netlink().unwrap().configure("tun0", &device).unwrap();
    (namespace, tun)
}

fn two_kernels_talk_through_two_devices_of_this_process() {
    let (a, tun_a) = end(["10.77.0.1", "fd77::1"]);
    let (b, tun_b) = end(["10.77.0.2", "fd77::2"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buf = vec![0; 70_000];
            while !done.load(Ordering::Relaxed) {
                let mut idle = true;
                for (from, to) in [(&tun_a, &tun_b), (&tun_b, &tun_a)] {
                    while let Some(len) = from.recv(&mut buf).unwrap() {
                        to.send(&buf[..len]).unwrap();
                        idle = false;
                    }
                }
                if idle {
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
        });
        for address in ["10.77.0.2", "fd77::2"] {
            let address: IpAddr = address.parse().unwrap();
            let listener = b.run(|| TcpListener::bind(SocketAddr::new(address, 0))).unwrap().unwrap();
            let to = listener.local_addr().unwrap();
            let mut out = a.run(|| TcpStream::connect_timeout(&to, Duration::from_secs(5))).unwrap().unwrap();
            let (mut into, _) = listener.accept().unwrap();
            out.write_all(b"through the process").unwrap();
            drop(out);
            let mut text = String::new();
            into.read_to_string(&mut text).unwrap();
            assert_eq!(text, "through the process");
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn a_sysctl_is_set_in_the_namespace_alone() {
    let (name, path) = ("net.ipv4.tcp_no_metrics_save", "/proc/sys/net/ipv4/tcp_no_metrics_save");
    let before = std::fs::read_to_string(path).unwrap();
    let namespace = Namespace::new().unwrap();
    namespace.set_sysctl(name, "1").unwrap();
    assert_eq!(namespace.sysctl(name).unwrap(), "1");
    assert_eq!(std::fs::read_to_string(path).unwrap(), before);
    for bad in ["vm.swappiness", "net/../vm/swappiness", "net.ipv4.no_such"] {
        assert!(namespace.set_sysctl(bad, "1").is_err(), "{bad}");
    }
}

fn routes_and_a_default_route_are_added() {
    let (a, _tun) = end(["10.77.0.1", "fd77::1"]);
    let netlink = a.netlink().unwrap();
    for (to, prefix, via) in [("10.78.0.0", 16, None), ("0.0.0.0", 0, Some("10.77.0.9")), ("::", 0, None)] {
        netlink.add_route((to.parse().unwrap(), prefix), "tun0", via.map(|v| v.parse().unwrap())).unwrap();
    }
    let routes = a.run(|| std::fs::read_to_string("/proc/thread-self/net/route").unwrap()).unwrap();
    assert!(routes.contains("00004E0A") && routes.contains("09004D0A"), "{routes}");
    assert_eq!(netlink.mtu("tun0").unwrap(), 1500);
    assert!(netlink.mtu("tun9").is_err());
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "two_kernels_talk_through_two_devices_of_this_process",
            two_kernels_talk_through_two_devices_of_this_process,
        ),
        trial("a_sysctl_is_set_in_the_namespace_alone", a_sysctl_is_set_in_the_namespace_alone),
        trial("routes_and_a_default_route_are_added", routes_and_a_default_route_are_added),
    ]
}
