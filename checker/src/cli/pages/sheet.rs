//! What pages without a script have in common: they are one file each, ask for nothing, and open anywhere.

use barcheck_counterexamples::html_text;

/// How a page of barcheck says that it is one.
pub(super) const GENERATOR: &str = "<meta name=\"generator\" content=\"barcheck\">";

const STYLE: &str = include_str!("sheet.css");

/// A page with this title, in text, and this body, in HTML.
pub(super) fn sheet(title: &str, body: &str) -> String {
    let title = html_text(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{GENERATOR}\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// A verdict, or what stands for one, as a badge of a kind.
pub(super) fn badge(kind: &str, text: &str) -> String {
    format!("<span class=\"badge {kind}\">{}</span>", html_text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_asks_for_nothing_and_its_title_is_text() {
        let page = sheet("</title><script>", "");
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"));
        for mention in ["https:", "src=", "@import", "url(", "<script"] {
            assert!(!page.contains(mention), "{mention}");
        }
        assert!(!STYLE.contains('<'));
    }
}
