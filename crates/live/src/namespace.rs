//! Network namespaces of this process. A thread creates one, other threads enter it, and it ends with the process: nothing
//! about it is written to a file.
//!
//! Source: Linux, `man 7 network_namespaces`, `man 7 user_namespaces`.

use crate::error::LiveError;
use crate::netlink::Netlink;
use nix::sched::{setns, unshare, CloneFlags};
use nix::unistd::{getegid, geteuid};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// A network namespace; its loopback is up. It is removed when nothing refers to it: neither this value, nor a thread inside,
/// nor a socket or device in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Creates a namespace. Without root's permissions, [`become_root`] must be called first.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] if namespaces may not be created.
    pub fn new() -> Result<Namespace, LiveError> {
        let file = on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|e| {
                LiveError::Unavailable(format!(
                    "cannot create a network namespace ({e}); this needs root, CAP_SYS_ADMIN or user namespaces"
                ))
            })?;
            Netlink::new()?.set_up("lo")?;
            File::open("/proc/thread-self/ns/net").map_err(LiveError::system("opening the namespace"))
        })??;
        Ok(Namespace { file })
    }

    /// Moves the calling thread into the namespace, permanently.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn enter(&self) -> Result<(), LiveError> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).map_err(LiveError::system("entering the namespace"))
    }

    /// Runs `work` inside, on a thread of its own. Sockets that it creates stay in the namespace wherever they are used.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
        on_a_thread(|| self.enter().map(|()| work()))?
    }

    /// Sets a sysctl of the namespace, as in `net.ipv4.tcp_no_metrics_save`.
    ///
    /// # Errors
    /// [`LiveError::Input`] for a name outside `net`, which would affect the whole machine, and for a setting that the kernel
    /// refuses.
    pub fn set_sysctl(&self, name: &str, value: &str) -> Result<(), LiveError> {
        let path = sysctl_path(name)?;
        self.run(|| fs::write(path, value))?.map_err(|e| match e.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => LiveError::Input(format!(
                "found the sysctl \"{name}\", allowed: a sysctl that a network namespace has ({e})"
            )),
            _ => LiveError::Input(format!("the sysctl {name} does not take \"{value}\": {e}")),
        })
    }

    /// The value of a sysctl.
    ///
    /// # Errors
    /// Those of [`Namespace::set_sysctl`].
    pub fn sysctl(&self, name: &str) -> Result<String, LiveError> {
        let path = sysctl_path(name)?;
        let text = self.run(|| fs::read_to_string(path))?;
        text.map(|t| t.trim_end().into()).map_err(|e| LiveError::Input(format!("the sysctl {name}: {e}")))
    }

    /// Its links, addresses and routes.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn netlink(&self) -> Result<Netlink, LiveError> {
        self.run(Netlink::new)?
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// `net.ipv4.tcp_rmem`, or with slashes if a part contains a dot.
fn sysctl_path(name: &str) -> Result<String, LiveError> {
    let path = if name.contains('/') { name.to_owned() } else { name.replace('.', "/") };
    let good = path.starts_with("net/") && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if good {
        Ok(format!("/proc/sys/{path}"))
    } else {
        Err(LiveError::Input(format!("found the sysctl \"{name}\", allowed: a sysctl of a namespace, net.…")))
    }
}

/// Runs work that changes its thread permanently on a temporary thread.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
    thread::scope(|scope| {
        let handle = thread::Builder::new().spawn_scoped(scope, work);
        handle
            .map_err(LiveError::system("starting a thread"))?
            .join()
            .map_err(|_| LiveError::Failed("a thread inside the namespace panicked".into()))
    })
}

/// Gives a process without root's permissions a user namespace in which it has them. The kernel requires a process with a
/// single thread, so this must be the first call. Does nothing for root.
///
/// # Errors
/// [`LiveError::Unavailable`] if user namespaces are not allowed, or the process has more than one thread.
pub fn become_root() -> Result<(), LiveError> {
    let (uid, gid) = (geteuid(), getegid());
    if uid.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|e| {
        let cause = match e {
            nix::errno::Errno::EINVAL => "the process has more than one thread",
            _ => "user namespaces are not allowed here",
        };
        LiveError::Unavailable(format!("live runs need root, or a user namespace of their own: {cause} ({e})"))
    })?;
    let map = |file: &str, text: String| fs::write(file, text).map_err(LiveError::system(format!("writing {file}")));
    map("/proc/self/setgroups", "deny".into())?;
    map("/proc/self/uid_map", format!("0 {uid} 1"))?;
    map("/proc/self/gid_map", format!("0 {gid} 1"))
}
