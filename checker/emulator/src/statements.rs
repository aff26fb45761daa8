//! A module in PTX as a list of statements, blocks and labels.

/// A piece of a module, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Open,
    Close,
    Label(String),
    Statement(String),
}

/// Lines that are a directive without a semicolon.
const LINES: [&str; 6] = [".loc", ".file", ".version", ".target", ".address_size", ".section"];

/// Cuts a module into pieces.
pub fn pieces(text: &str) -> Vec<(usize, Piece)> {
    let text = without_comments(text);
    let mut pieces = Vec::new();
    let (mut buffer, mut line, mut begun, mut depth) = (String::new(), 1, 1, 0);
    let characters: Vec<char> = text.chars().collect();
    let mut in_string = false;
    for (at, character) in characters.iter().copied().enumerate() {
        if buffer.trim().is_empty() {
            buffer.clear();
            begun = line;
        }
        in_string ^= character == '"';
        let is_header = [".visible", ".entry", ".func", ".weak", ".extern", ".section", ".common"]
            .iter()
            .any(|word| buffer.starts_with(word));
        match character {
            '\n' => {
                line += 1;
                if LINES.iter().any(|directive| buffer.trim().starts_with(directive)) {
                    buffer.clear();
                } else {
                    buffer.push(' ');
                }
            }
            _ if in_string => buffer.push(character),
            '{' if buffer.is_empty() || is_header && depth == 0 => {
                if !buffer.is_empty() {
                    pieces.push((begun, Piece::Statement(std::mem::take(&mut buffer))));
                }
                pieces.push((line, Piece::Open));
            }
            '{' => {
                depth += 1;
                buffer.push('{');
            }
            '}' if depth > 0 => {
                depth -= 1;
                buffer.push('}');
            }
            '}' => {
                buffer.clear();
                pieces.push((line, Piece::Close));
            }
            ';' => pieces.push((begun, Piece::Statement(std::mem::take(&mut buffer).trim().to_owned()))),
            ':' if is_label(&buffer) && characters.get(at + 1) != Some(&':') => {
                pieces.push((begun, Piece::Label(std::mem::take(&mut buffer).trim().to_owned())));
            }
            _ => buffer.push(character),
        }
    }
    pieces
}

fn is_label(buffer: &str) -> bool {
    let buffer = buffer.trim();
    !buffer.is_empty() && buffer.chars().all(|c| c.is_ascii_alphanumeric() || "_$%".contains(c))
}

/// Comments become blanks, lines stay.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find(['/', '"']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
            kept.extend(rest[..length].chars().filter(|c| *c == '\n'));
            length
        } else {
            let text = rest.strip_prefix('"');
            let length = text.and_then(|text| text.find('"')).map_or(1, |end| end + 2);
            kept.push_str(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    kept.push_str(rest);
    kept
}

/// Parts between commas, but for those in brackets.
pub fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(character);
        }
    }
    let trimmed = parts.iter().map(|part| part.trim().to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}
