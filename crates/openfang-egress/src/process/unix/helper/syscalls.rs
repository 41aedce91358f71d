//! The numbers of the refused system calls, per architecture, as in the kernel headers. Numbers never change. A call
//! newer than this list is not refused until it is added.

/// `socket`, the first call of every network connection.
#[cfg(target_arch = "x86_64")]
pub(super) const SOCKET: i64 = 41;
/// `setpgid` and `setsid`: refused to programs whose end is that of their process group.
#[cfg(target_arch = "x86_64")]
pub(super) const LEAVES_GROUP: &[i64] = &[109, 112];
/// Calls that set limits, priorities or processors of a process, and which argument names it. Zero is the caller itself.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const OF_OTHERS: &[(i64, u8)] = &[
    (251, 1), // ioprio_set
    (302, 0), // prlimit64
    (203, 0), // sched_setaffinity
    (314, 0), // sched_setattr
    (142, 0), // sched_setparam
    (144, 0), // sched_setscheduler
    (141, 1), // setpriority
];
/// Refused to every sandboxed program.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const ALWAYS: &[i64] = &[
    248, // add_key
    321, // bpf
    161, // chroot
    176, // delete_module
    313, // finit_module
    431, // fsconfig
    432, // fsmount
    430, // fsopen
    433, // fspick
    175, // init_module
    426, // io_uring_enter
    427, // io_uring_register
    425, // io_uring_setup
    312, // kcmp
    320, // kexec_file_load
    246, // kexec_load
    250, // keyctl
    165, // mount
    442, // mount_setattr
    429, // move_mount
    304, // open_by_handle_at
    428, // open_tree
    298, // perf_event_open
    438, // pidfd_getfd
    155, // pivot_root
    440, // process_madvise
    310, // process_vm_readv
    311, // process_vm_writev
    101, // ptrace
    169, // reboot
    249, // request_key
    308, // setns
    168, // swapoff
    167, // swapon
    166, // umount2
    272, // unshare
    323, // userfaultfd
];

/// `socket`, the first call of every network connection.
#[cfg(target_arch = "aarch64")]
pub(super) const SOCKET: i64 = 198;
/// `setpgid` and `setsid`: refused to programs whose end is that of their process group.
#[cfg(target_arch = "aarch64")]
pub(super) const LEAVES_GROUP: &[i64] = &[154, 157];
/// Calls that set limits, priorities or processors of a process, and which argument names it. Zero is the caller itself.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
pub(super) const OF_OTHERS: &[(i64, u8)] = &[
    (30, 1), // ioprio_set
    (261, 0), // prlimit64
    (122, 0), // sched_setaffinity
    (274, 0), // sched_setattr
    (118, 0), // sched_setparam
    (119, 0), // sched_setscheduler
    (140, 1), // setpriority
];
/// Refused to every sandboxed program.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
pub(super) const ALWAYS: &[i64] = &[
    217, // add_key
    280, // bpf
    51, // chroot
    106, // delete_module
    273, // finit_module
    431, // fsconfig
    432, // fsmount
    430, // fsopen
    433, // fspick
    105, // init_module
    426, // io_uring_enter
    427, // io_uring_register
    425, // io_uring_setup
    272, // kcmp
    294, // kexec_file_load
    104, // kexec_load
    219, // keyctl
    40, // mount
    442, // mount_setattr
    429, // move_mount
    265, // open_by_handle_at
    428, // open_tree
    241, // perf_event_open
    438, // pidfd_getfd
    41, // pivot_root
    440, // process_madvise
    270, // process_vm_readv
    271, // process_vm_writev
    117, // ptrace
    142, // reboot
    218, // request_key
    268, // setns
    225, // swapoff
    224, // swapon
    39, // umount2
    97, // unshare
    282, // userfaultfd
];
