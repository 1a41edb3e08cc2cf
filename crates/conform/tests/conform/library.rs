//! TCPs behind the C interface: the engine, a small TCP in C, and libraries that break the rules.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may stop")]

use ackclock_conform::engine::System;
use ackclock_conform::library::abi::{Address, CHost, Table, Value, NEVER, STATES, UNKNOWN, VERSION, WAIT};
use ackclock_conform::library::Library;
use ackclock_conform::suite::{run_files, run_text, scripts, Setup, Subject};
use ackclock_conform::verdict::{Reason, Verdict};
use ackclock_tcp::stack::Stack;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for what a test compiles.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles C; `None` if this machine has no compiler.
fn cc(source: &Path, to: &Path, shared: bool) -> Option<()> {
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(here().join("include"));
    if shared {
        command.args(["-shared", "-fPIC"]);
    }
    let Ok(done) = command.arg("-o").arg(to).arg(source).output() else {
        eprintln!("SKIPPED: there is no C compiler named cc");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(())
}

/// A library made of a table's entries after the version, with the functions of `closed.c` at hand.
fn library(name: &str, code: &str) -> Option<PathBuf> {
    let folder = folder("library");
    let (source, to) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    let closed = std::fs::read_to_string(here().join("examples/c/closed.c")).unwrap();
    let functions = closed.split("const struct ackclock_tcp *ackclock_tcp(void)").next().unwrap();
    std::fs::write(&source, format!("#pragma GCC diagnostic ignored \"-Wunused-function\"\n{functions}\n{code}\n"))
        .unwrap();
    cc(&source, &to, true).map(|()| to)
}

/// The table of `closed.c` with other entries, the last of which count.
fn table(entries: &str) -> String {
    format!(
        "#pragma GCC diagnostic ignored \"-Woverride-init\"
        const struct ackclock_tcp *ackclock_tcp(void) {{
            static const struct ackclock_tcp table = {{ .version = 1, .open = open_closed, .close = close_closed,
                .on_packet = on_packet, .poll_transmit = poll_transmit, .next_timer = next_timer, .on_timer = on_timer,
                .socket = new_socket, {entries} }};
            return &table;
        }}"
    )
}

fn verdicts(files: &[PathBuf], subject: &dyn Subject) -> Vec<Verdict> {
    run_files(files, subject, 2).unwrap().into_iter().map(|report| report.verdict).collect()
}

#[test]
fn the_engine_has_the_same_verdicts_through_c_as_through_rust() {
    let folder = std::env::current_exe().unwrap().parent().unwrap().join("../examples");
    let name = format!("{}engine_c{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join(name);
    assert!(path.is_file(), "{}: `cargo test -p ackclock-conform` without --test builds it", path.display());
    let library = Library::load(&path, System::Linux).unwrap();
    let files = scripts(&here().join("../../conformance")).unwrap();
    let rust = Setup { system: System::Linux, stack: None, stack_of: Stack::named };
    let (through_c, through_rust) = (verdicts(&files, &library), verdicts(&files, &rust));
    // A stack with parameters is read by the command alone.
    let with_parameters = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().any(|line| line.contains("ackclock.stack=") && line.contains(','))
    };
    for (file, verdict) in files.iter().zip(&through_rust) {
        match verdict {
            Verdict::Pass => {}
            Verdict::NotUnderstood(_) => assert!(with_parameters(file), "{}: {verdict:?}", file.display()),
            Verdict::Fail(_) => panic!("{}: {verdict:?}", file.display()),
        }
    }
    assert!(through_rust.iter().filter(|verdict| **verdict == Verdict::Pass).count() > 700);
    let other: Vec<_> = files.iter().zip(&through_c).zip(&through_rust).filter(|((_, c), rust)| c != rust).collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn the_header_and_this_crate_have_the_same_layout() {
    let mut lines = vec![
        format!("{} {} {} {}", size_of::<Address>(), size_of::<CHost>(), size_of::<Value>(), size_of::<Table>()),
        format!("{VERSION} {WAIT} {UNKNOWN} {NEVER} {STATES}"),
    ];
    let mut code = String::from(
        "#include \"ackclock_conform.h\"\n#include <inttypes.h>\n#include <stdio.h>\nint main(void) {\n
        printf(\"%zu %zu %zu %zu\\n\", sizeof(struct ackclock_address), sizeof(struct ackclock_host),
            sizeof(struct ackclock_value), sizeof(struct ackclock_tcp));
        printf(\"%d %\" PRId64 \" %\" PRId64 \" %\" PRIu64 \" %d\\n\", ACKCLOCK_CONFORM_VERSION, (int64_t)ACKCLOCK_WAIT,
            (int64_t)ACKCLOCK_UNKNOWN, (uint64_t)ACKCLOCK_NEVER, (int)ACKCLOCK_STATES);\n",
    );
    macro_rules! same {
        ($($rust:ident $c:literal: $($field:ident)+;)+) => {$($(
            lines.push(format!("{} {}", stringify!($field), offset_of!($rust, $field)));
            code += &format!("printf(\"{0} %zu\\n\", offsetof(struct {1}, {0}));\n", stringify!($field), $c);
        )+)+};
    }
    same! {
        Address "ackclock_address": ip port family;
        CHost "ackclock_host": local mtu system;
        Value "ackclock_value": number seconds text;
        Table "ackclock_tcp": version threads open close on_packet poll_transmit next_timer on_timer set socket bind listen accept
            connect read write shutdown close_socket set_option get_option set_non_blocking queue_length poll info states
            drop_time_waits;
    }
    code += "return 0; }\n";
    let folder = folder("layout");
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, code).unwrap();
    if cc(&source, &program, false).is_some() {
        let output = Command::new(&program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), lines);
    }
}

#[test]
fn a_tcp_in_c_answers_for_closed_ports_and_lacks_the_rest() {
    let path = folder("closed").join("libclosed.so");
    if cc(&here().join("examples/c/closed.c"), &path, true).is_none() {
        return;
    }
    let library = Library::load(&path, System::Linux).unwrap();
    let states = here().join("../../conformance/states");
    let closed = ["ack", "data", "fin", "rst", "syn"].map(|what| states.join(format!("closed-{what}.pkt")));
    assert_eq!(verdicts(&closed, &library), [const { Verdict::Pass }; 5]);
    let lacks = verdicts(&[states.join("established-fin.pkt")], &library);
    let [Verdict::NotUnderstood(fault)] = lacks.as_slice() else { panic!("{lacks:?}") };
    assert_eq!(fault.text, "the TCP under test does not have this listen");
}

#[test]
fn a_file_that_is_no_such_library_is_refused_in_one_sentence() {
    let load = |path: &Path| Library::load(path, System::Linux).err().unwrap();
    let text = folder("library").join("text.so");
    std::fs::write(&text, "no library").unwrap();
    assert!(load(&text).starts_with(&format!("{}: it cannot be loaded (", text.display())));
    assert!(load(Path::new("missing.so")).starts_with("missing.so: No such file"));
    for (name, code, why) in [
        ("nothing", String::from("int nothing;"), "it does not export the function ackclock_tcp"),
        (
            "null",
            "const struct ackclock_tcp *ackclock_tcp(void) { return NULL; }".into(),
            "ackclock_tcp returned no table",
        ),
        ("version", table(".version = 7"), "found version 7 of ackclock_conform.h, allowed: 1"),
        ("timer", table(".next_timer = NULL"), "next_timer in its table is null, allowed: a function"),
        ("open", table(".open = NULL"), "open in its table is null, allowed: a function"),
    ] {
        let Some(path) = library(name, &code) else { return };
        assert_eq!(load(&path), format!("{}: {why}", path.display()));
    }
}

#[test]
fn a_library_that_breaks_the_rules_fails_its_scripts_with_one_sentence() {
    const SCRIPT: &str =
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+.1 < P 0:100(100) win 512\n+0 > R. 0:0(0) ack 100\n";
    let function = |head: &str, body: &str| format!("static {head} {{ {body} }}\n");
    for (name, code, entry, why) in [
        (
            "long",
            function("size_t bad(void *tcp, uint64_t now, uint8_t *buf, size_t room)", "(void)tcp, (void)now, (void)buf; return room + 1;"),
            ".poll_transmit = bad",
            "it wrote 65536 bytes into 65535",
        ),
        (
            "endless",
            function("size_t bad(void *tcp, uint64_t now, uint8_t *buf, size_t room)", "(void)tcp, (void)now, (void)buf, (void)room; return 40;"),
            ".poll_transmit = bad",
            "it sends without end at 0 ns",
        ),
        (
            "timer",
            function("uint64_t bad(const void *tcp)", "(void)tcp; return 5;"),
            ".next_timer = bad",
            "its timer stays at 5 ns",
        ),
        (
            "garbage",
            function("size_t bad(void *tcp, uint64_t now, uint8_t *buf, size_t room)",
                "(void)now, (void)room; struct closed *me = tcp; if (me->sockets++ > 3) return 0; buf[0] = 0x45; buf[3] = 200; return 30;"),
            ".poll_transmit = bad",
            "it sent a packet that cannot be read",
        ),
        (
            "result",
            function("int64_t bad(void *tcp, uint64_t now, int ipv6)", "(void)tcp, (void)now, (void)ipv6; return -4711;"),
            ".socket = bad",
            "socket returned -4711, which is no result and no error of the header",
        ),
        ("none", function("void *bad(const struct ackclock_host *host)", "(void)host; return NULL;"), ".open = bad", "open of"),
    ] {
        let Some(path) = library(&format!("bad-{name}"), &format!("{code}{}", table(entry))) else { return };
        let library = Library::load(&path, System::Linux).unwrap();
        let report = run_text("bad.pkt", SCRIPT, &library, &|_| None);
        let Verdict::Fail(fault) = report.verdict else { panic!("{name}: {:?}", report.verdict) };
        assert_eq!(fault.reason, Reason::Broken, "{name}: {fault}");
        assert!(fault.text.starts_with(why), "{name}: {fault}");
    }
}
