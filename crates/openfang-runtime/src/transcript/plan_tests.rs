//! Whatever is compacted, and however often: what is sent stays valid, nothing that is unread is lost, and labels stay.

use openfang_model::Block;
use openfang_types::limits::COMPACT_RESULT_TOKENS;

use super::super::{CompactionPlan, InterruptedCall, Room, of_items};
use super::*;
use crate::skills::ACTIVATE_SKILL;

/// A room in which a conversation of so many estimated tokens fills three quarters.
fn room(budget: u64) -> Room {
    Room { budget, fixed: 0, percent: 100 }
}

fn result(call: &str, chars: usize) -> TranscriptBody {
    let outcome = CallOutcome::Returned { parts: text(&"x".repeat(chars)), is_error: false };
    ended(call, outcome)
}

fn step(id: &str, chars: usize) -> Vec<TranscriptBody> {
    vec![answer(vec![call(id)], None, Stop::Calls), begun(id), result(id, chars)]
}

fn stub(seq: u64) -> Stub {
    let handle = Some(format!("0190a000-0000-7000-8000-{seq:012}"));
    Stub { seq, text: format!("[left out: {seq}]"), of: "add_numbers {}".to_owned(), handle }
}

/// Compacts as the loop does, with this summary. Returns the entries with the compaction, and whether it fits.
fn compacted(mut all: Vec<TranscriptEntry>, room: Room, summary: &str) -> (Vec<TranscriptEntry>, bool) {
    let mut plan = CompactionPlan::new(&all, room, 0);
    for seq in plan.results_above(COMPACT_RESULT_TOKENS) {
        if plan.fits() {
            break;
        }
        plan.stub(stub(seq));
    }
    let mut fits = plan.fits();
    if !fits {
        let covers = plan.end_of_summary();
        plan.cover(covers, summary.to_owned());
        for seq in plan.small_results() {
            if plan.fits() {
                break;
            }
            plan.stub(stub(seq));
        }
        fits = plan.cut_to_fit();
    }
    let labels = plan.labels();
    let (size, draft) = (plan.size(), plan.draft);
    let seq = all.last().map_or(1, |entry| entry.seq + 1);
    let body = TranscriptBody::Compacted(Box::new(draft));
    let task = TaskId::from_uuid(uuid::Uuid::nil());
    all.push(TranscriptEntry { seq, task, turn: 1, tokens: None, labels, body });
    assert_eq!(
        of_items(view(&all).items.iter().map(AsRef::as_ref)),
        size - room.fixed,
        "what was planned is what is sent"
    );
    assert!(!fits || size <= room.target());
    (all, fits)
}

fn sent(entries: &[TranscriptEntry]) -> String {
    view(entries)
        .items
        .iter()
        .map(|item| serde_json::to_string(item).unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn large_results_are_left_out_oldest_first_until_half_of_the_room_is_free() {
    let steps = ["a", "b", "c"].map(|id| step(id, 10_000)).concat();
    let all = entries([vec![user("Read on.")], steps].concat());

    let (all, fits) = compacted(all, room(10_000), "never asked for");

    assert!(fits);
    let results: Vec<String> = result_texts(&all).iter().map(|text| text.chars().take(16).collect()).collect();
    assert_eq!(results, ["[left out: 4]", "[left out: 7]", "xxxxxxxxxxxxxxxx"]);
    assert!(!sent(&all).contains("never asked for"));
}

#[test]
fn the_instructions_of_a_skill_are_not_left_out() {
    let mut steps = [step("a", 20_000), step("b", 20_000)].concat();
    if let TranscriptBody::Answer { blocks, .. } = &mut steps[0]
        && let Block::Call(call) = &mut blocks[0]
    {
        call.name = ACTIVATE_SKILL.to_owned();
    }
    let all = entries([vec![user("Go.")], steps].concat());

    let plan = CompactionPlan::new(&all, room(10_000), 0);

    assert_eq!(plan.results_above(COMPACT_RESULT_TOKENS), [all.last().unwrap().seq]);
}

#[test]
fn what_stands_for_a_result_never_changes() {
    let steps = ["a", "b", "c"].map(|id| step(id, 10_000)).concat();
    let (all, _) = compacted(entries([vec![user("Read on.")], steps].concat()), room(10_000), "");
    let first = sent(&all);
    let mut more = all;
    for body in step("d", 10_000) {
        let seq = more.last().unwrap().seq + 1;
        more.push(TranscriptEntry { seq, body, ..more[0].clone() });
        assert!(sent(&more).starts_with(&first), "what was sent is sent again as it was");
    }

    let (again, fits) = compacted(more, room(10_000), "");

    assert!(fits);
    assert!(result_texts(&again)[0] == "[left out: 4]" && result_texts(&again)[1] == "[left out: 7]");
}

#[test]
fn a_summary_leaves_the_users_messages_the_handles_and_the_last_two_steps() {
    let steps = ["a", "b", "c", "d", "e", "f"].map(|id| step(id, 1_500)).concat();
    let all = entries([vec![user("Find the key."), user("Look in the cellar too.")], steps, step("g", 9_000)].concat());

    let (all, fits) = compacted(all, room(5_000), "Six rooms are empty.");

    assert!(fits);
    let view = view(&all);
    let Item::User { parts } = &*view.items[0] else { panic!("{:?}", view.items[0]) };
    let head: Vec<&str> = parts
        .iter()
        .map(|part| if let Part::Text { text } = part { text.as_str() } else { "" })
        .collect();
    assert_eq!((head[0], head[2]), ("Find the key.", "Look in the cellar too."));
    assert!(head.last().unwrap().ends_with("Six rooms are empty."), "{head:?}");
    assert_eq!(view.items.len(), 5, "two steps: {:?}", view.items);
    assert!(view.awaits_model);
}

#[test]
fn a_run_that_reads_the_compaction_alone_knows_its_messages_its_calls_and_its_labels() {
    let steps = ["a", "b", "c", "d"].map(|id| step(id, 4_000)).concat();
    let unknown = vec![
        answer(vec![call("u")], None, Stop::Calls),
        TranscriptBody::CallBegun {
            call: "u".to_owned(),
            tool: "send".to_owned(),
            definition: String::new(),
            arguments: "digest".to_owned(),
            approval: None,
        },
        ended("u", CallOutcome::Unknown),
    ];
    let mut all = entries([vec![user("Go."), user("Faster.")], unknown, steps].concat());
    (all[0].turn, all[1].turn) = (1, 2);
    let task = all[0].task;
    all[3].labels = Labels::one(Label::ExternalNetwork, "example.com");

    let (all, fits) = compacted(all, room(5_000), "Sum.");

    assert!(fits);
    let TranscriptBody::Compacted(compaction) = &all.last().unwrap().body else { panic!("no compaction") };
    assert_eq!(compaction.tasks, [CoveredTask { task, turn: 2 }]);
    assert_eq!(compaction.interrupted, [InterruptedCall { task, arguments: "digest".to_owned() }]);
    assert!(all.last().unwrap().labels.contains(Label::ExternalNetwork));
    // A second one keeps what the first one knew, although its entries are gone.
    let reread: Vec<TranscriptEntry> = all.into_iter().filter(|entry| entry.seq > 14).collect();
    let (again, _) = compacted(reread, room(800), "Sum of sums.");
    let TranscriptBody::Compacted(compaction) = &again.last().unwrap().body else { panic!("no compaction") };
    assert_eq!((compaction.tasks[0].turn, compaction.interrupted.len()), (2, 1));
    assert!(again.last().unwrap().labels.contains(Label::ExternalNetwork));
}

#[test]
fn a_message_that_no_model_has_read_is_still_to_be_answered() {
    let words = vec![Block::Text { text: "Ten.".repeat(2_000) }];
    let asked = entries(vec![user("Hi"), user("And Bob?"), answer_to(1, words, None, Stop::Finished)]);
    assert!(view(&asked).awaits_model);

    let (all, _) = compacted(asked, room(1_000), "Ten.");

    assert!(view(&all).awaits_model);
    assert!(sent(&all).contains("And Bob?"));
}

#[test]
fn a_message_that_alone_is_too_large_is_cut() {
    let (all, fits) = compacted(entries(vec![user(&"word ".repeat(4_000))]), room(2_000), "A long list of words.");

    assert!(fits);
    assert!(sent(&all).contains("characters left out") && view(&all).awaits_model);
}

#[test]
fn where_the_tools_alone_take_half_of_the_room_nothing_fits() {
    let (_, fits) = compacted(entries(vec![user("Hi")]), Room { fixed: 900, ..room(1_000) }, "");
    assert!(!fits);
}

#[test]
fn what_is_given_for_a_summary_fits_whatever_the_entries_are() {
    let long_call = Call {
        id: "w".to_owned(),
        name: "file_write".to_owned(),
        arguments: CallArguments::parse(&json!({ "content": "y".repeat(50_000) }).to_string()),
    };
    let wrote = vec![answer(vec![Block::Call(long_call)], None, Stop::Calls), result("w", 50_000)];
    let all = entries([vec![user(&"z".repeat(50_000))], wrote, step("a", 50_000)].concat());
    let plan = CompactionPlan::new(&all, room(3_000), 0);

    let given = plan.given(all.len() as u64, "Write a summary.", 2_000);

    assert!(room(3_000).of_view(&given) <= 2_000, "{}", room(3_000).of_view(&given));
    assert!(serde_json::to_string(&given.items.last().unwrap()).unwrap().contains("Write a summary."));
    for wire in WireKind::ALL {
        let encoded = encode(wire, &request(given.items.clone(), MODEL), &Quirks::default()).unwrap();
        check(wire, &serde_json::from_slice(&encoded.body).unwrap()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_compacted_history_makes_a_request_that_every_provider_accepts(
        bodies in prop::collection::vec(any_body(), 1..24),
        budget in 10_u64..400,
        more in prop::collection::vec(any_body(), 0..6),
    ) {
        let all = entries(bodies);
        let before = view(&all);
        let labels: Vec<Label> = before.labels.iter().collect();
        let (mut all, _) = compacted(all, room(budget), "Sum.");
        let after = view(&all);
        prop_assert!(!before.awaits_model || after.awaits_model, "{:?} became {:?}", before.items, after.items);
        prop_assert!(labels.into_iter().all(|label| after.labels.contains(label)));
        let next = all.last().unwrap().seq + 1;
        let more = (next..).zip(more).map(|(seq, body)| TranscriptEntry { seq, body, ..all[0].clone() });
        let more: Vec<TranscriptEntry> = more.collect();
        all.extend(more);
        for step in [all.clone(), compacted(all, room(budget), "Again.").0] {
            let view = view(&step);
            for wire in WireKind::ALL {
                if !view.awaits_model {
                    continue;
                }
                let encoded = encode(wire, &request(view.items.clone(), MODEL), &Quirks::default());
                let encoded = encoded.map_err(|error| TestCaseError::fail(format!("{wire}: {error}")))?;
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                check(wire, &body).map_err(|problem| TestCaseError::fail(format!("{wire}: {problem} in {body}")))?;
            }
        }
    }
}
