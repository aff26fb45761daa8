//! How many bytes the copies of all programs complete, taken together.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{Measurer, not_known};
use super::document::Role;
use super::elsewhere::{self, Elsewhere, Shares};
use super::landings::landings;
use super::leaders;
use super::shares::{Open, fill, lengths};
use super::structure::Stop;
use super::tree::{Assumption, Statements};
use crate::common::span::Span;

/// Of copies and of announcements of a program that do not say how many bytes, by their numbers, these.
type Bytes = (BTreeMap<usize, i64>, BTreeMap<usize, i64>);

/// The bytes of all programs, and where copies stand that are not only taken to share what is announced in
/// equal parts.
pub(super) type Measured = (Vec<Bytes>, BTreeSet<Span>);

/// Gives every copy its bytes; what is assumed with that is added to `assumes`.
///
/// # Errors
///
/// It is not known of a copy.
pub(super) fn measure(
    programs: &mut [Statements],
    roles: &[Role],
    maps: &BTreeMap<Span, u32>,
    assumes: &mut BTreeSet<Assumption>,
) -> Result<(), Stop> {
    let (all, _) = measured(programs, roles, maps, assumes)?;
    for (statements, (found, announced)) in programs.iter_mut().zip(&all) {
        fill(statements, &mut (0, 0), (found, announced));
    }
    Ok(())
}

/// The bytes of all copies of programs that do not say them.
///
/// # Errors
///
/// They are not known of a copy.
pub(super) fn measured(
    programs: &[Statements],
    roles: &[Role],
    maps: &BTreeMap<Span, u32>,
    assumes: &mut BTreeSet<Assumption>,
) -> Result<Measured, Stop> {
    let mut measurers = Vec::new();
    let landings = landings(programs, roles);
    let beside = leaders::beside(programs, roles);
    for (statements, (together, beside)) in programs.iter().zip(landings.into_iter().zip(beside)) {
        let mut measurer = Measurer::new(maps, together, beside);
        let mut open = Vec::new();
        measurer.list(statements, &mut open)?;
        measurer.closed.extend(open);
        measurers.push(measurer);
    }
    let copies: Vec<Vec<Elsewhere>> = measurers.iter().map(|measurer| measurer.elsewhere.clone()).collect();
    let copies: Vec<&[Elsewhere]> = copies.iter().map(Vec::as_slice).collect();
    let mut announced: Vec<&mut Vec<Open>> = measurers.iter_mut().map(|one| &mut one.closed).collect();
    elsewhere::join(&mut announced, roles, &copies);
    let lengths = lengths(measurers.iter().map(|measurer| measurer.closed.as_slice()));
    for measurer in &mut measurers {
        for one in std::mem::take(&mut measurer.closed) {
            measurer.close(&one, &lengths)?;
        }
        assumes.extend(&measurer.assumes);
    }
    let shares = Shares::of(programs, roles, &copies);
    for program in 0..programs.len() {
        // What the same warps do in other groups: their copies have been counted together.
        let with = |role: &&Role| role.parts.iter().any(|part| part.program == program);
        let siblings: BTreeSet<usize> =
            roles.iter().filter(with).flat_map(|role| &role.parts).map(|part| part.program).collect();
        for copy in std::mem::take(&mut measurers[program].elsewhere) {
            let span = copy.span;
            let mut bytes = siblings.iter().filter_map(|other| measurers[*other].by_place.get(&span));
            let mut of_others = measurers.iter().filter_map(|other| other.by_place.get(&span));
            let of_siblings = bytes.next().or_else(|| of_others.next()).copied();
            let bytes = of_siblings.or_else(|| lengths.of(copy.source)).or_else(|| shares.share(&copy));
            let bytes = bytes.ok_or_else(|| not_known(span))?;
            assumes.extend(of_siblings.is_none().then_some(Assumption::Theirs(span)));
            measurers[program].found.insert(copy.number, bytes);
        }
    }
    let certain = measurers.iter_mut().flat_map(|measurer| std::mem::take(&mut measurer.certain)).collect();
    Ok((measurers.into_iter().map(|measurer| (measurer.found, measurer.announced)).collect(), certain))
}
