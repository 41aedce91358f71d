//! Expected verdicts against the policy: what `openfang policy test` asks.

use openfang_types::api::{PolicyCase, PolicyCases, PolicyReport, PolicyResult, PolicyVerdict};
use openfang_types::taint::{ChosenHost, JudgedCall, Labels, Verdict, WordedBy, verdict};
use openfang_types::tool::ToolTraits;

use super::DirectCalls;
use super::policy::is_known;
use crate::{Caller, KernelError};

impl DirectCalls {
    /// Judges every case, for this caller. Nothing is called.
    pub(crate) fn judge_cases(&self, caller: &Caller, cases: &PolicyCases) -> Result<PolicyReport, KernelError> {
        let mut results = Vec::with_capacity(cases.cases.len());
        for (number, case) in cases.cases.iter().enumerate() {
            let (verdict, why) = self.judge_case(caller, case)?;
            results.push(PolicyResult {
                case: number + 1,
                tool: case.tool.clone(),
                agent: case.agent.clone(),
                expected: case.expect,
                verdict,
                why,
            });
        }
        let different = results.iter().filter(|result| result.expected != result.verdict).count();
        Ok(PolicyReport { results, different })
    }

    fn judge_case(&self, caller: &Caller, case: &PolicyCase) -> Result<(PolicyVerdict, Option<String>), KernelError> {
        let settings = self.settings.current();
        let agent = case.agent.as_ref().map(|name| settings.agent(&caller.principal, name)).transpose()?;
        let known = self.pipeline.catalog().get(&case.tool).filter(|tool| match &agent {
            Some(agent) => is_known(caller, &agent.manifest, &tool.traits) && agent_may(agent, &tool.traits),
            None => caller.principal.may_use(&tool.traits, None),
        });
        let Some(tool) = known else { return Ok((PolicyVerdict::Unknown, None)) };
        Ok(match verdict_of(case, &tool.traits) {
            Verdict::Allow => (PolicyVerdict::Allow, None),
            Verdict::Ask(reason) => {
                (PolicyVerdict::Ask, Some(format!("{}: the context carries {}", reason.words(), reason.label())))
            }
            Verdict::Refuse(label) => (PolicyVerdict::Refuse, Some(format!("the context carries {label}"))),
        })
    }
}

fn agent_may(agent: &crate::settings::agents::Agent, tool: &ToolTraits) -> bool {
    openfang_runtime::pipeline::capability::agent_covers(&agent.manifest.capabilities, tool)
}

fn verdict_of(case: &PolicyCase, tool: &ToolTraits) -> Verdict {
    let mut labels = Labels::none();
    case.labels.iter().for_each(|label| labels.add(*label, "the case"));
    verdict(&JudgedCall {
        decided_with: &labels,
        carried: &labels,
        sink: tool.sink,
        destination: None,
        is_destructive: tool.annotations.destructive_hint,
        worded_by: if case.user_worded { WordedBy::User } else { WordedBy::Anybody },
        host: if case.known_host { ChosenHost::Known } else { ChosenHost::Unknown },
    })
}
