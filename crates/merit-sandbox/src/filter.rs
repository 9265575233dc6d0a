//! The system call filters as kernel programs.
//!
//! A list of some hundred calls takes the kernel a millisecond to take in, so it is set once, by each server for itself:
//! hostile calls kill, `clone3` does not exist (so that the C library falls back to `clone`, whose flags can be seen), and
//! only the list and what a server needs is allowed. Workers inherit that and add a short filter that takes away what the
//! server needed, looks at arguments, and refuses new processes as "try again". Each part is compiled by seccompiler;
//! [`chained`] joins parts with different outcomes into one program.

use crate::SandboxError;
use crate::syscalls::{
    ALLOWED, ALLOWED_OLD, CHECKED, FORKS, HOSTILE, HOSTILE_BUT_NEEDED, HOSTILE_OLD, NEEDED, NEEDED_OLD,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
/// Every flag of `clone` that asks for a namespace.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// As the kernel reads them: the server's, then what is added for programs without and with processes of their own.
///
/// `own_pids`: each program is process 1 of its own namespace, so signals to process 1 are signals to itself.
pub(crate) fn programs(own_pids: bool) -> Result<[Vec<u8>; 3], SandboxError> {
    Ok([bytes(&for_server()?), bytes(&for_program(false, own_pids)?), bytes(&for_program(true, own_pids)?)])
}

fn for_server() -> Result<BpfProgram, SandboxError> {
    let listed = [ALLOWED, ALLOWED_OLD, CHECKED, FORKS, HOSTILE_BUT_NEEDED, NEEDED, NEEDED_OLD].concat();
    Ok(chained(vec![
        compile(always(&[HOSTILE, HOSTILE_OLD].concat()), SeccompAction::Allow, SeccompAction::KillProcess)?,
        compile(always(&[libc::SYS_clone3]), SeccompAction::Allow, errno(libc::ENOSYS))?,
        compile(always(&listed), errno(libc::EPERM), SeccompAction::Allow)?,
    ]))
}

fn for_program(processes: bool, own_pids: bool) -> Result<BpfProgram, SandboxError> {
    let mut parts =
        vec![compile(always(HOSTILE_BUT_NEEDED), SeccompAction::Allow, SeccompAction::KillProcess)?];
    if !processes {
        let mut makers = always(FORKS);
        makers.insert(libc::SYS_clone, vec![rule(&[(0, masked(libc::CLONE_THREAD), 0)])?]);
        parts.push(compile(makers, SeccompAction::Allow, errno(libc::EAGAIN))?);
    }
    parts.push(compile(locks()?, SeccompAction::Allow, errno(libc::ENOLCK))?);
    parts.push(compile(shared_waits()?, SeccompAction::Allow, errno(libc::EAGAIN))?);
    parts.push(compile(refusals(processes, own_pids)?, SeccompAction::Allow, errno(libc::EPERM))?);
    Ok(chained(parts))
}

/// Record locks. They stand on the host's own files, where a program in another sandbox would see them.
fn locks() -> Result<Rules, SandboxError> {
    let rules = LOCKS.iter().map(|&command| rule(&[(1, SeccompCmpOp::Eq, command)]));
    Ok(Rules::from([(libc::SYS_fcntl, rules.collect::<Result<_, _>>()?)]))
}

/// Waiting at an address that others may share: a page of a library is the same page in every sandbox. Answered as if the value
/// had changed, so that a waiter for the end of a thread looks again.
fn shared_waits() -> Result<Rules, SandboxError> {
    let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET];
    let rules = waits.iter().map(|&wait| rule(&[(1, masked(FUTEX_OPERATION), wait as u64)]));
    Ok(Rules::from([(libc::SYS_futex, rules.collect::<Result<_, _>>()?)]))
}

/// The operation of a futex with its private flag.
const FUTEX_OPERATION: i32 = 0xff;

/// What a program may not ask for, or not like this.
fn refusals(processes: bool, own_pids: bool) -> Result<Rules, SandboxError> {
    let mut rules = always(&[NEEDED, NEEDED_OLD].concat());
    let namespaces = NAMESPACES.iter().map(|&flag| rule(&[(0, masked(flag), flag as u64)]));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_prlimit64, none_of(0, &[0])?);
    rules.insert(libc::SYS_sendto, none_of(4, &[0])?);
    rules.insert(libc::SYS_socketpair, none_of(0, &[libc::AF_UNIX as u64])?);
    rules.insert(libc::SYS_ioctl, none_of(1, &IOCTLS)?);
    rules.insert(libc::SYS_fcntl, none_of(1, &FCNTLS)?);
    rules.insert(libc::SYS_futex, vec![rule(&[(1, masked(libc::FUTEX_PRIVATE_FLAG), 0)])?]);
    rules.insert(libc::SYS_prctl, none_of(0, &PRCTLS)?);
    rules.insert(libc::SYS_mmap, vec![rule(&[(3, masked(SHARED_ANONYMOUS), SHARED_ANONYMOUS as u64)])?]);
    match (own_pids, processes) {
        (true, true) => {}
        (true, false) => {
            rules.insert(libc::SYS_tkill, Vec::new());
            rules.insert(libc::SYS_kill, none_of(0, &[1])?);
            rules.insert(libc::SYS_tgkill, none_of(0, &[1])?);
        }
        (false, _) => rules.extend(always(&[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill])),
    }
    Ok(rules)
}

/// Memory that lives on when all but a page of it is unmapped: no limit would count it.
const SHARED_ANONYMOUS: i32 = libc::MAP_SHARED | libc::MAP_ANONYMOUS;

/// Is it a terminal, how much is there to read, close on exec, do not block.
#[allow(clippy::unnecessary_cast)] // their type differs between C libraries
const IOCTLS: [u64; 6] = [
    libc::TCGETS as u64,
    libc::TIOCGWINSZ as u64,
    libc::FIONREAD as u64,
    libc::FIOCLEX as u64,
    libc::FIONCLEX as u64,
    libc::FIONBIO as u64,
];

/// These two are not among the C library's constants.
const F_GETSIG: u64 = 11;
const F_GETOWN_EX: u64 = 16;

/// Copies and flags of descriptors. No leases, no notices, no owners, no sizes of pipes.
const FCNTLS: [u64; 9] = [
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_SETFL as u64,
    libc::F_GETOWN as u64,
    F_GETOWN_EX,
    F_GETSIG,
];

/// Record locks, of a process and of an open file.
const LOCKS: [u64; 6] = [
    libc::F_GETLK as u64,
    libc::F_SETLK as u64,
    libc::F_SETLKW as u64,
    libc::F_OFD_GETLK as u64,
    libc::F_OFD_SETLK as u64,
    libc::F_OFD_SETLKW as u64,
];

/// Names of threads and of memory.
const PRCTLS: [u64; 3] = [libc::PR_SET_NAME as u64, libc::PR_GET_NAME as u64, libc::PR_SET_VMA as u64];

fn errno(code: i32) -> SeccompAction {
    SeccompAction::Errno(code as u32)
}

fn masked(mask: i32) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(mask as u64)
}

fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|&call| (call, Vec::new())).collect()
}

/// Holds when the argument is none of `values`.
fn none_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, SandboxError> {
    let conditions: Vec<_> = values.iter().map(|&value| (argument, SeccompCmpOp::Ne, value)).collect();
    Ok(vec![rule(&conditions)?])
}

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, SandboxError> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Qword, operator.clone(), *value)
    });
    conditions.collect::<Result<Vec<_>, _>>().and_then(SeccompRule::new).map_err(refused)
}

fn compile(rules: Rules, otherwise: SeccompAction, then: SeccompAction) -> Result<BpfProgram, SandboxError> {
    let machine = std::env::consts::ARCH.try_into().map_err(refused)?;
    SeccompFilter::new(rules, otherwise, then, machine).and_then(BpfProgram::try_from).map_err(refused)
}

fn refused(error: seccompiler::BackendError) -> SandboxError {
    SandboxError::Start(format!("the system call filter cannot be built: {error}"))
}

/// One program out of several: what a part would allow, the next part decides.
fn chained(parts: Vec<BpfProgram>) -> BpfProgram {
    let allow = u32::from(SeccompAction::Allow);
    let last = parts.len().saturating_sub(1);
    let mut whole = BpfProgram::new();
    for (number, mut part) in parts.into_iter().enumerate() {
        let length = part.len();
        for (at, step) in part.iter_mut().enumerate() {
            if number < last && step.code == RETURN && step.k == allow {
                step.code = JUMP;
                step.k = (length - at - 1) as u32;
            }
        }
        whole.append(&mut part);
    }
    whole
}

fn bytes(program: &BpfProgram) -> Vec<u8> {
    let step = |s: &seccompiler::sock_filter| {
        let [c0, c1] = s.code.to_ne_bytes();
        let [k0, k1, k2, k3] = s.k.to_ne_bytes();
        [c0, c1, s.jt, s.jf, k0, k1, k2, k3]
    };
    program.iter().flat_map(step).collect()
}
