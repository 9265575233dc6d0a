//! Layers: what a kernel gives, what happens when one is missing, and that nothing is left behind whoever dies.
//!
//! Some of these need a process of their own, whose children are theirs alone: such a test runs this very binary again
//! with the one ignored test that does the work.
#![cfg(target_os = "linux")]

use merit_sandbox::{
    Job, LAYERS, Layer, LayerStatus, Limits, Sandbox, SandboxError, SandboxSettings, Verdict, probe,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn settings() -> SandboxSettings {
    SandboxSettings { servers: 1, ..SandboxSettings::default() }
}

fn job(code: &str) -> Job {
    Job::new(code, Limits { seconds: 20.0, ..Limits::default() })
}

/// This binary again, with one of the ignored tests.
fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("layers::{test}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

fn succeeds(mut command: Command) {
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Runs `test` in a thread for whose children `calls` fail with `errno`, as on a kernel that lacks them.
fn on_a_kernel_without<T: Send>(calls: &[i64], errno: i32, test: impl FnOnce() -> T + Send) -> T {
    let rules = calls.iter().map(|&call| (call, Vec::new())).collect();
    let machine = std::env::consts::ARCH.try_into().unwrap();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), machine).unwrap();
    let filter = BpfProgram::try_from(filter).unwrap();
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            apply_filter(&filter).unwrap();
            test()
        });
        thread.join().unwrap()
    })
}

fn status(statuses: &[LayerStatus], layer: Layer) -> LayerStatus {
    statuses.iter().find(|status| status.layer == layer).unwrap().clone()
}

#[test]
fn the_probe_tries_every_layer_and_says_what_it_covers() {
    let statuses = probe(None).unwrap();
    assert_eq!(statuses.iter().map(|status| status.layer).collect::<Vec<_>>(), LAYERS);
    let landlock = status(&statuses, Layer::Landlock);
    assert!(landlock.available && landlock.detail.starts_with("ABI "), "{landlock:?}");
    assert!(!status(&statuses, Layer::Cgroup).required);
    assert_eq!(Sandbox::start(&settings()).unwrap().layers(), statuses);
}

#[test]
fn without_landlock_it_refuses_to_start_unless_told_otherwise() {
    on_a_kernel_without(&[libc::SYS_landlock_create_ruleset], libc::ENOSYS, || {
        assert!(!status(&probe(None).unwrap(), Layer::Landlock).available);
        let error = Sandbox::start(&settings()).unwrap_err();
        assert!(matches!(&error, SandboxError::MissingLayers { missing } if missing.len() == 1), "{error:?}");
        assert!(error.to_string().contains("without = [\"landlock\"]"), "{error}");
        let told = SandboxSettings { without: vec![Layer::Landlock], ..settings() };
        let sandbox = Sandbox::start(&told).unwrap();
        let report =
            sandbox.run(job("import os; print(os.listdir('/'), os.path.exists('/etc'))"), None).unwrap();
        assert!(report.stdout.contains("'tmp'") && report.stdout.ends_with("False\n"), "{report:?}");
    });
}

#[test]
fn without_namespaces_landlock_and_a_private_folder_hold() {
    on_a_kernel_without(&[libc::SYS_unshare], libc::EPERM, || {
        let Err(SandboxError::MissingLayers { missing }) = Sandbox::start(&settings()) else {
            panic!("it started")
        };
        let missing: Vec<Layer> = missing.into_iter().map(|(layer, _)| layer).collect();
        assert!(
            missing.contains(&Layer::MountNamespace) && missing.contains(&Layer::PidNamespace),
            "{missing:?}"
        );
        let told =
            SandboxSettings { without: missing, python: Some("/usr/bin/python3".into()), ..settings() };
        let sandbox = Sandbox::start(&told).unwrap();
        let run = |code: &str| sandbox.run(job(code), None).unwrap();
        let folder = run("import os; open('mine', 'w').write('x'); print(os.getcwd())").stdout;
        assert!(folder.contains("merit-sandbox-"), "{folder}");
        assert_eq!(
            run("open('/etc/passwd')").verdict.to_string(),
            "PermissionError: [Errno 13] Permission denied: '/etc/passwd'"
        );
        assert!(matches!(run("import os; os.kill(os.getppid(), 9)").verdict, Verdict::Refused { .. }));
        assert!(matches!(run("import socket; socket.socket()").verdict, Verdict::Refused { .. }));
        let deep =
            "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w').close()";
        assert_eq!(run(deep).verdict, Verdict::Ok);
        let mut several = job("1");
        several.limits.processes = 1;
        assert!(sandbox.run(several, None).unwrap_err().to_string().contains("pid-namespace"));
        drop(sandbox);
        assert!(!std::path::Path::new(folder.trim()).parent().unwrap().exists());
    });
}

#[test]
fn a_waived_layer_is_not_used() {
    let told = SandboxSettings { without: vec![Layer::Seccomp], ..settings() };
    let report = Sandbox::start(&told).unwrap().run(job("import socket; socket.socket()"), None).unwrap();
    assert_eq!(report.verdict, Verdict::Ok);
}

#[test]
fn layer_names_in_settings_are_checked() {
    let error = toml::from_str::<SandboxSettings>("without = [\"landlok\"]").unwrap_err().to_string();
    assert!(error.contains("did you mean `landlock`?"), "{error}");
    assert!(
        toml::from_str::<SandboxSettings>("spares = 3").unwrap_err().to_string().contains("unknown field")
    );
    let refused =
        |text: &str| toml::from_str::<SandboxSettings>(text).unwrap().validate().unwrap_err().to_string();
    assert!(refused("max_running = 0").contains("`max_running` = 0"));
    assert!(refused("modules = [\"os; import x\"]").contains("not the name of a module"));
    assert!(refused("limits = { memory_mb = 1 }").contains("`memory_mb` = 1"));
    let whole = SandboxSettings { without: vec![Layer::Cgroup], ..SandboxSettings::default() };
    assert_eq!(toml::from_str::<SandboxSettings>(&toml::to_string(&whole).unwrap()).unwrap(), whole);
}

#[test]
fn an_interpreter_that_cannot_be_used_is_named() {
    let with = |python: &str| {
        Sandbox::start(&SandboxSettings { python: Some(python.into()), ..settings() })
            .unwrap_err()
            .to_string()
    };
    assert!(with("/nowhere/python3").contains("/nowhere/python3"));
    assert!(with("/bin/true").contains("does not answer like Python 3"));
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("python3");
    let answer =
        "#!/bin/sh\necho '{\"path\": \"/usr/bin/python3\", \"version\": [3, 8], \"kind\": \"cpython\"}'\n";
    std::fs::write(&old, answer).unwrap();
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(with(old.to_str().unwrap()).contains("version 3.8 is too old; install Python 3.9 or newer"));
    let unknown = SandboxSettings { modules: vec!["no_such_module".into()], ..settings() };
    assert!(Sandbox::start(&unknown).unwrap_err().to_string().contains("no_such_module"));
}

#[test]
fn packages_named_in_the_settings_can_be_imported() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::write(folder.path().join("own_package.py"), "value = 3").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let with = SandboxSettings { packages: vec![folder.path().into()], ..settings() };
    let report = Sandbox::start(&with)
        .unwrap()
        .run(job("import own_package; print(own_package.value)"), None)
        .unwrap();
    assert_eq!(report.stdout, "3\n", "{report:?}");
}

#[test]
fn one_sandbox_is_shared_by_all_who_ask_with_the_same_settings() {
    let settings = SandboxSettings { max_running: 63, ..settings() };
    let (one, two) = (Sandbox::shared(&settings).unwrap(), Sandbox::shared(&settings).unwrap());
    assert!(std::ptr::eq(one.layers().as_ptr(), two.layers().as_ptr()));
}

#[test]
fn secrets_of_the_owner_are_not_seen() {
    let mut command = alone("owner_with_secrets");
    command.env("MERIT_TEST_SECRET", "sesame-4711");
    succeeds(command);
}

#[test]
#[ignore = "run by secrets_of_the_owner_are_not_seen"]
fn owner_with_secrets() {
    assert_eq!(std::env::var("MERIT_TEST_SECRET").unwrap(), "sesame-4711");
    let mut secret = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut secret, b"sesame-4711").unwrap();
    // Inheritable, as a careless part of a program may leave it.
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let sandbox = Sandbox::start(&settings()).unwrap();
    let code = "import os, ctypes\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\nfound = []\nfor fd in range(64):\n    \
                try:\n        os.fstat(fd)\n        found.append(fd)\n    except OSError: pass\n\
                print('sesame' in str(os.environ), libc.getenv(b'MERIT_TEST_SECRET'), libc.getenv(b'PATH'), found)";
    assert_eq!(sandbox.run(job(code), None).unwrap().stdout, "False None None [0, 1, 2, 4]\n");
}

#[test]
fn an_unprivileged_user_gets_the_same_fences() {
    if !rustix::process::geteuid().is_root() {
        return; // then every other test is this one
    }
    let mut command = alone("unprivileged_owner");
    command.uid(65534).gid(65534);
    succeeds(command);
}

#[test]
#[ignore = "run by an_unprivileged_user_gets_the_same_fences"]
fn unprivileged_owner() {
    let settings = SandboxSettings { python: Some("/usr/bin/python3".into()), ..settings() };
    let sandbox = Sandbox::start(&settings).unwrap();
    assert!(status(sandbox.layers(), Layer::UserNamespace).required);
    let run = |code: &str| sandbox.run(job(code), None).unwrap();
    let report = run(
        "import os; open('f', 'w').write('x'); print(os.getpid(), os.listdir('.'), os.path.exists('/etc'))",
    );
    assert_eq!(report.stdout, "1 ['f'] False\n", "{report:?}");
    assert_eq!(run("import os; os.fork()").verdict, Verdict::Processes);
    let threads = "import threading, time\nfor _ in range(17): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()";
    assert_eq!(run(threads).verdict, Verdict::Processes);
    assert_eq!(run(&threads.replace("17", "16")).verdict, Verdict::Ok);
    // Others than root read as much of `/proc` as it takes to add up a call's memory.
    let spread = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        held = b'x' * (50 << 20)\n        while True: time.sleep(1)\nwhile True: time.sleep(1)";
    let limits = Limits { processes: 4, memory_mb: 100, seconds: 300.0, ..Limits::default() };
    assert_eq!(sandbox.run(Job::new(spread, limits), None).unwrap().verdict, Verdict::Memory);
}

/// Every process below `owner`, as (pid, start time).
fn below(owner: u32) -> BTreeSet<(u32, String)> {
    let all: Vec<(u32, u32, String)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some((pid, fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned()))
        })
        .collect();
    let mut found: BTreeSet<(u32, String)> = BTreeSet::new();
    let mut parents = vec![owner];
    while let Some(parent) = parents.pop() {
        for (pid, _, start) in all.iter().filter(|(_, of, _)| *of == parent) {
            if found.insert((*pid, start.clone())) {
                parents.push(*pid);
            }
        }
    }
    found
}

fn still_there(process: &(u32, String)) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", process.0)).is_ok_and(|stat| {
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        fields.get(19) == Some(&process.1.as_str()) && fields.first() != Some(&"Z")
    })
}

fn gone(processes: &BTreeSet<(u32, String)>) {
    let until = Instant::now() + Duration::from_secs(20);
    while processes.iter().any(still_there) {
        assert!(Instant::now() < until, "left behind: {processes:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Control groups made by any of `processes`.
fn groups_of(processes: &BTreeSet<(u32, String)>) -> Vec<String> {
    let list =
        Command::new("find").args(["/sys/fs/cgroup", "-maxdepth", "6", "-name", "merit-*"]).output().unwrap();
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    text.lines()
        .filter(|line| processes.iter().any(|(pid, _)| line.ends_with(&format!("/merit-{pid}"))))
        .map(str::to_owned)
        .collect()
}

#[test]
fn killing_the_owner_leaves_nothing() {
    let mut owner = alone("owner_that_waits").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("all is up")));
    let processes = below(owner.id());
    assert!(processes.len() >= 4, "outer, server, program, session: {processes:?}");
    owner.kill().unwrap();
    owner.wait().unwrap();
    gone(&processes);
    let until = Instant::now() + Duration::from_secs(10);
    while !groups_of(&processes).is_empty() {
        assert!(Instant::now() < until, "left behind: {:?}", groups_of(&processes));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "run by killing_the_owner_leaves_nothing"]
fn owner_that_waits() {
    let sandbox = Sandbox::start(&settings()).unwrap();
    let mut session = sandbox.session(0, &Limits::default()).unwrap();
    session.run("x = 1", 10.0, None).unwrap();
    let busy = Job::new("print(1)\nwhile True: pass", Limits { seconds: 300.0, ..Limits::default() });
    std::thread::scope(|scope| {
        scope.spawn(|| sandbox.run(busy, None));
        std::thread::sleep(Duration::from_millis(500));
        std::io::Write::write_all(&mut std::io::stdout(), b"\nall is up\n").unwrap();
        std::thread::sleep(Duration::from_secs(300));
    });
}

#[test]
fn a_dropped_sandbox_leaves_nothing() {
    succeeds(alone("owner_that_drops"));
}

#[test]
#[ignore = "run by a_dropped_sandbox_leaves_nothing"]
fn owner_that_drops() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    let sandbox = Sandbox::start(&settings()).unwrap();
    let mut session = sandbox.session(0, &Limits::default()).unwrap();
    session
        .run(
            "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
            10.0,
            None,
        )
        .unwrap();
    sandbox.run(job("1"), None).unwrap();
    let processes = below(std::process::id());
    assert!(processes.len() >= 3, "{processes:?}");
    drop((session, sandbox));
    assert!(!processes.iter().any(still_there), "dropping waits until all are gone");
    assert_eq!(groups_of(&processes), Vec::<String>::new());
    assert_eq!(descriptors(), before);
}

#[test]
fn a_lost_server_is_an_error_and_the_next_call_works() {
    succeeds(alone("owner_that_loses_its_server"));
}

#[test]
#[ignore = "run by a_lost_server_is_an_error_and_the_next_call_works"]
fn owner_that_loses_its_server() {
    let sandbox = Sandbox::start(&settings()).unwrap();
    sandbox.run(job("1"), None).unwrap();
    let outer = below(std::process::id()).into_iter().map(|(pid, _)| pid).min().unwrap();
    let kill = |pid: u32| Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    let server = below(outer).into_iter().map(|(pid, _)| pid).min().unwrap();
    let mut session = sandbox.session(0, &Limits::default()).unwrap();
    session.run("x = 1", 10.0, None).unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| sandbox.run(job("while True: pass"), None));
        std::thread::sleep(Duration::from_millis(500));
        kill(server);
        let error = call.join().unwrap().unwrap_err();
        assert!(matches!(error, SandboxError::ServerLost(_)), "{error:?}");
    });
    assert!(matches!(session.run("x", 10.0, None), Err(SandboxError::ServerLost(_))));
    assert!(matches!(session.run("x", 10.0, None), Err(SandboxError::SessionEnded(_))));
    assert_eq!(sandbox.run(job("print(2)"), None).unwrap().stdout, "2\n");
    // The outer process dying takes its server along.
    let outer = below(std::process::id()).into_iter().map(|(pid, _)| pid).min().unwrap();
    let processes = below(outer);
    kill(outer);
    gone(&processes);
    assert_eq!(sandbox.run(job("print(3)"), None).unwrap().stdout, "3\n");
}
