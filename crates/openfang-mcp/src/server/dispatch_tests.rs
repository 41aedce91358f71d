//! Which methods there are for what is offered.

use super::*;

#[test]
fn a_method_of_what_is_not_offered_is_unknown() {
    let methods =
        ["tools/call", "prompts/list", "resources/templates/list", "completion/complete", "logging/setLevel", "ping"];
    let offered = |offers| -> Vec<&str> { methods.into_iter().filter(|method| is_offered(method, offers)).collect() };

    assert_eq!(offered(Offers::default()), ["ping"]);
    assert_eq!(offered(Offers { tools: true, ..Offers::default() }), ["tools/call", "ping"]);
    assert_eq!(offered(Offers { prompts: true, ..Offers::default() }), ["prompts/list", "ping"]);
    assert_eq!(offered(Offers { resources: true, ..Offers::default() }), ["resources/templates/list", "ping"]);
    assert_eq!(offered(Offers { completions: true, ..Offers::default() }), ["completion/complete", "ping"]);
    assert_eq!(offered(Offers { logging: true, ..Offers::default() }), ["logging/setLevel", "ping"]);
}
