//! What is said of a program that ran.

use openfang_egress::process::{CollectedOutput, Containment, Exit};

use super::*;

fn ran(end: RunEnd, stdout: &[u8], stderr: &[u8]) -> CollectedRun {
    let mut output = CollectedOutput { stdout: OutputEnds::new(100), stderr: OutputEnds::new(100) };
    output.stdout.push(stdout);
    output.stderr.push(stderr);
    CollectedRun { end, output, took: Duration::from_millis(1_250), containment: Containment::Full }
}

fn exit(ending: Ending) -> RunEnd {
    RunEnd::Exited(Exit { ending, asked: false })
}

fn said(run: &CollectedRun, operator: Option<&str>) -> (String, bool) {
    let output = output_of("/bin/x".to_owned(), run, (operator.map(str::to_owned), 30));
    (output.content[0].as_text().unwrap().into_owned(), output.is_error)
}

#[test]
fn the_output_comes_first_and_then_how_it_ended() {
    let rows = [
        (ran(exit(Ending::Code(0)), b"out\n", b""), "out\n[exit code 0 after 1.25 s]", false),
        (ran(exit(Ending::Code(0)), b"", b""), "[exit code 0 after 1.25 s]", false),
        (ran(exit(Ending::Code(3)), b"out", b"bad"), "out\n[stderr]\nbad\n[exit code 3 after 1.25 s]", true),
        (ran(exit(Ending::Signal(9)), b"", b""), "[ended by signal 9 after 1.25 s]", true),
    ];
    for (run, text, is_error) in rows {
        assert_eq!(said(&run, None), (text.to_owned(), is_error));
    }
    assert!(said(&ran(RunEnd::TimedOut, b"", b""), None).0.contains("ended after 30 s"));
    assert!(
        said(&ran(exit(Ending::Code(0)), b"", b""), Some("|"))
            .0
            .contains("there is no shell: \"|\"")
    );
    assert!(
        said(&ran(exit(Ending::Code(0)), &[b'x'; 500], b""), None)
            .0
            .contains("400 bytes left out")
    );
}
