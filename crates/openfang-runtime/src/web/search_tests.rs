//! Answers of each provider in the shape that its documentation shows, and answers that try to do harm.

use openfang_types::config::SearchProvider;

use super::{SearchHit, clean, duckduckgo, json};

fn read(provider: SearchProvider, answer: &str) -> Vec<SearchHit> {
    let hits = match provider {
        SearchProvider::DuckDuckGo => duckduckgo::read(answer),
        SearchProvider::SearxNg | SearchProvider::Brave | SearchProvider::Tavily => {
            json::read(provider, answer.as_bytes())
        }
    };
    hits.unwrap().into_iter().filter_map(clean).collect()
}

#[test]
fn every_provider_comes_to_one_shape() {
    let rows = [
        (
            SearchProvider::SearxNg,
            r#"{"query":"q","number_of_results":0,"results":[{"url":"https://a.example/x","title":"A  page","content":"Some\ntext","engine":"x","publishedDate":"2026-01-02","score":1.5}],"answers":[],"unresponsive_engines":[]}"#,
            Some("2026-01-02"),
        ),
        (
            SearchProvider::Brave,
            r#"{"type":"search","web":{"type":"search","results":[{"title":"A page","url":"https://a.example/x","is_source_local":false,"description":"<strong>Some</strong> text","page_age":"2026-01-02"}],"family_friendly":true}}"#,
            Some("2026-01-02"),
        ),
        (
            SearchProvider::Tavily,
            r#"{"query":"q","answer":null,"images":[],"results":[{"title":"A page","url":"https://a.example/x","content":"Some text","score":0.9,"raw_content":null}],"response_time":1.2}"#,
            None,
        ),
        (
            SearchProvider::DuckDuckGo,
            r#"<html><body><div class="result results_links web-result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx&amp;rut=1">A <b>page</b></a></h2><a class="result__snippet" href="x">Some <b>text</b></a></div></body></html>"#,
            None,
        ),
    ];
    for (provider, answer, date) in rows {
        let hits = read(provider, answer);
        let source = provider.as_str();
        assert_eq!(hits.len(), 1, "{source}");
        assert_eq!((hits[0].title.as_str(), hits[0].url.as_str()), ("A page", "https://a.example/x"), "{source}");
        assert_eq!(hits[0].snippet.replace('*', ""), "Some text", "{source}");
        assert_eq!((hits[0].date.as_deref(), hits[0].source), (date, source));
    }
}

#[test]
fn nothing_found_is_an_answer_and_a_page_for_robots_is_none() {
    assert_eq!(read(SearchProvider::Brave, r#"{"type":"search"}"#), []);
    assert_eq!(read(SearchProvider::SearxNg, r#"{"results":[]}"#), []);
    assert_eq!(read(SearchProvider::DuckDuckGo, "<div class='no-results'>none</div>"), []);
    let refused =
        duckduckgo::read("<script src='/anomaly.js'></script><a class=result__a href='https://x.example/'>x</a>");
    assert!(refused.unwrap_err().pause.is_some());
    assert!(duckduckgo::read("<p>quite another page").unwrap_err().pause.is_none());
}

#[test]
fn answers_that_are_no_search_are_errors_and_never_a_panic() {
    for answer in
        ["", "<html>captcha</html>", "[]", "{}", r#"{"results":7}"#, r#"{"results":[{"title":"no url"}]}"#, "\u{0}"]
    {
        assert!(json::read(SearchProvider::SearxNg, answer.as_bytes()).is_err(), "{answer}");
    }
    let deep = "[".repeat(100_000);
    assert!(json::read(SearchProvider::Tavily, deep.as_bytes()).is_err());
}

#[test]
fn links_that_are_no_links_are_dropped_and_texts_are_cut() {
    let hit = |url: &str| SearchHit {
        title: "t\u{202e}\n".repeat(1_000),
        url: url.to_owned(),
        snippet: "s ".repeat(10_000),
        date: None,
        source: "brave",
    };
    for url in
        ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "", "/relative", "https://user:pw@a.example/"]
    {
        assert_eq!(clean(hit(url)), None, "{url}");
    }
    let kept = clean(hit("https://a.example/")).unwrap();
    assert!(kept.title.chars().count() <= 300 && !kept.title.contains(['\u{202e}', '\n']));
    assert!(kept.snippet.chars().count() <= 1_000);
}
