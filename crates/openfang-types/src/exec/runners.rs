//! Programs that run other programs, by name. A rule with `*` would let their arguments name any program, so it does not
//! cover them. The lists are what is usual; the sandbox is what holds a program that is missing here.

/// Programs whose arguments are code, or name a program.
const RUNNERS: &[&str] = &[
    // Shells.
    "sh",
    "ash",
    "bash",
    "busybox",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ksh",
    "mksh",
    "nu",
    "pwsh",
    "rbash",
    "tcsh",
    "toybox",
    "yash",
    "zsh",
    // Interpreters.
    "awk",
    "bun",
    "deno",
    "elixir",
    "erl",
    "expect",
    "gawk",
    "gjs",
    "groovy",
    "guile",
    "iex",
    "irb",
    "java",
    "jshell",
    "julia",
    "lua",
    "luajit",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "ocaml",
    "octave",
    "osascript",
    "perl",
    "php",
    "pypy",
    "pypy3",
    "python",
    "r",
    "racket",
    "rhino",
    "rscript",
    "ruby",
    "runhaskell",
    "scala",
    "sed",
    "tclsh",
    "ts-node",
    "wish",
    // Programs that start the program that follows.
    "chroot",
    "chrt",
    "choom",
    "daemonize",
    "dbus-run-session",
    "doas",
    "env",
    "entr",
    "fakeroot",
    "firejail",
    "flock",
    "gdb",
    "gdbserver",
    "ionice",
    "ld.so",
    "lldb",
    "ltrace",
    "make",
    "gmake",
    "bmake",
    "ninja",
    "mise",
    "asdf",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "rlwrap",
    "run-parts",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sg",
    "ssh-agent",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "tclkit",
    "time",
    "timeout",
    "tini",
    "tmux",
    "unshare",
    "valgrind",
    "watch",
    "watchexec",
    "xargs",
    "xvfb-run",
    // Editors and pagers, which have commands that start programs.
    "ed",
    "emacs",
    "ex",
    "less",
    "man",
    "more",
    "most",
    "nano",
    "nvim",
    "pico",
    "rview",
    "rvim",
    "vi",
    "view",
    "vim",
    "vimdiff",
    // Programs that reach other machines or other containers.
    "at",
    "batch",
    "crontab",
    "docker",
    "kubectl",
    "nerdctl",
    "podman",
    "rsh",
    "scp",
    "sftp",
    "ssh",
];

/// Options with which other programs start a program that they name.
const OPTIONS: &[(&str, &[&str])] = &[
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    (
        "git",
        &[
            "-c",
            "--config-env",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "-u",
            "-x",
            "--exec",
            "-O",
            "--open-files-in-pager",
            "--ext-diff",
            "--textconv",
            "--extcmd",
            "--template",
            "--tool",
            "--upload-archive",
        ],
    ),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "--rsh-command",
            "--rmt-command",
            "-F",
            "--info-script",
            "--new-volume-script",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("zip", &["-T", "-TT", "--unzip-command"]),
    ("cargo", &["--config", "-C", "--manifest-path"]),
    ("gcc", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("cc", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("curl", &["-K", "--config"]),
    ("wget", &["--use-askpass", "-e", "--execute", "--config"]),
    ("ctags", &["--options", "--_"]),
    ("ffmpeg", &["-dump_attachment"]),
    ("openssl", &["-engine", "-provider", "-config"]),
];

/// Whether the arguments of a program are code or name a program. `name` is a file name; a version at its end, such as
/// that of `python3.11`, does not matter.
pub fn runs_programs(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = unversioned(&lower);
    let is_loader = lower.starts_with("ld-linux") || lower.starts_with("ld-musl");
    is_loader || RUNNERS.iter().any(|runner| *runner == lower || *runner == plain)
}

/// The first of these arguments that lets the program start another one.
pub fn runs_programs_by_option<'a>(name: &str, arguments: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_ascii_lowercase();
    let plain = unversioned(&lower);
    let (_, options) = OPTIONS.iter().find(|(program, _)| *program == lower || *program == plain)?;
    arguments
        .into_iter()
        .find(|argument| options.iter().any(|option| gives(argument, option)))
}

/// Whether an argument is an option: alone, with its value, as an abbreviation, or among short options.
fn gives(argument: &str, option: &str) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        // Most parsers take an abbreviation.
        return name.strip_prefix("--").is_some_and(|name| name.len() > 1 && long.starts_with(name));
    }
    match option.strip_prefix('-') {
        Some(short) if short.len() == 1 => {
            let letters = argument.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.is_some_and(|letters| letters.split('=').next().unwrap_or(letters).contains(short))
        }
        _ => argument == option || argument.starts_with(&format!("{option}=")),
    }
}

/// The name without its version: `python` of `python3.11`.
fn unversioned(name: &str) -> &str {
    let end = name.trim_end_matches(|char: char| char.is_ascii_digit() || matches!(char, '.' | '-'));
    if end.is_empty() { name } else { end }
}

#[cfg(test)]
#[path = "runners_tests.rs"]
mod tests;
