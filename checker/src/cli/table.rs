//! Tables of text for people.

use super::output::Palette;

/// Columns side by side, the last one ragged. The first row is the heading; every row has as many cells.
/// `paint` colours the cell of a column.
pub(crate) fn table<R: AsRef<[String]>>(
    rows: &[R],
    palette: Palette,
    paint: impl Fn(usize, &str) -> String,
) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let length = |row: &R, column: usize| row.as_ref().get(column).map_or(0, |cell| cell.chars().count());
    let width = |column: usize| rows.iter().map(|row| length(row, column)).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.as_ref().iter().enumerate() {
            // Colours have no width, so the padding comes after them.
            line.push_str(&if number == 0 { palette.faint(cell) } else { paint(column, cell) });
            if column + 1 < columns {
                line.push_str(&" ".repeat(widths[column] - cell.chars().count() + 2));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
