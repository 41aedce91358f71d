//! What one's own results lost, as resources: `openfang://results/{id}`.

use openfang_mcp::McpError;
use openfang_mcp::content::ResourceContents;
use openfang_types::ids::ResultId;

use super::DoorError;
use super::host::KernelHost;
use crate::Caller;

const RESULTS: &str = "openfang://results/";
/// The template of their uris.
pub(super) const TEMPLATE: &str = "openfang://results/{id}";

/// The result that a uri points at. Each has one spelling.
pub(super) fn id_of(uri: &str) -> Option<ResultId> {
    let id = uri.strip_prefix(RESULTS)?;
    id.parse::<ResultId>().ok().filter(|parsed| parsed.to_string() == id)
}

pub(super) async fn read(
    host: &KernelHost,
    caller: &Caller,
    (uri, id): (&str, ResultId),
) -> Result<ResourceContents, McpError> {
    match host.result(caller, id).await {
        Ok(kept) => Ok(ResourceContents::text(uri, kept.form.media_type(), &kept.content)),
        // Another's, unknown and expired ones look the same.
        Err(DoorError::Unknown) => Err(McpError::unknown_resource(uri)),
        Err(error) => Err(error.into()),
    }
}
