//! Limits of the web tools.

use std::time::Duration;

/// Bytes that `web_fetch` takes of a response, unless `web.fetch_bytes` says otherwise.
pub const FETCHED_MAX_BYTES: u64 = 5 * 1024 * 1024;
/// The largest value of `web.fetch_bytes` in the configuration.
pub const FETCH_BYTES_CEILING: u64 = 64 * 1024 * 1024;
/// Calls to the web that one owner may have under way.
pub const WEB_CALLS_PER_OWNER: usize = 4;
/// How long one fetch may take, redirects and body included.
pub const WEB_FETCH_TOTAL: Duration = Duration::from_secs(30);
/// Headers that a caller of `web_fetch` may send.
pub const WEB_HEADERS: usize = 16;
/// The value of such a header.
pub const WEB_HEADER_MAX_BYTES: usize = 4 * 1024;
/// The body that a caller of `web_fetch` may send.
pub const WEB_BODY_MAX_BYTES: usize = 1024 * 1024;
/// The `User-Agent` of the web tools.
pub const WEB_USER_AGENT_MAX_BYTES: usize = 256;
/// Markdown that is made of one page.
pub const WEB_TEXT_MAX_BYTES: usize = 5 * 1024 * 1024;
/// Elements within elements that the Markdown of a page reflects.
pub const WEB_OPEN_ELEMENTS: usize = 128;
/// Links and images of one page that keep their targets.
pub const WEB_LINKS: usize = 20_000;
/// The target of a link.
pub const WEB_LINK_MAX_BYTES: usize = 2 * 1024;
/// From this size on JSON is returned as it came: a document takes many times its size when it is parsed.
pub const WEB_JSON_INDENTED_BYTES: usize = 256 * 1024;
/// What a label says of the host that a page came from.
pub const WEB_HOST_SHOWN_BYTES: usize = 253;
/// The title of a page.
pub const WEB_TITLE_CHARS: usize = 300;
/// The largest number at which a numbered list begins.
pub const WEB_LIST_NUMBER_MAX: u32 = 1_000_000;
/// How long a search provider may take.
pub const SEARCH_TOTAL: Duration = Duration::from_secs(15);
/// How long a provider is left alone that takes this server for a robot.
pub const SEARCH_PAUSE: Duration = Duration::from_secs(600);
/// What is read of the answer of a search provider.
pub const SEARCH_ANSWER_MAX_BYTES: u64 = 2 * 1024 * 1024;
/// The query of a search.
pub const SEARCH_QUERY_MAX_BYTES: usize = 2 * 1024;
/// Results of a search, unless the caller says otherwise.
pub const SEARCH_RESULTS: usize = 5;
/// Results that a caller may ask for.
pub const SEARCH_RESULTS_MAX: usize = 20;
/// Results that are read of a page of results.
pub const SEARCH_HITS_READ: usize = 100;
/// The title of a result.
pub const SEARCH_TITLE_CHARS: usize = 300;
/// The snippet of a result.
pub const SEARCH_SNIPPET_CHARS: usize = 1_000;
