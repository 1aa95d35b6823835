//! What a cell needs of the machine: whether it can be had, or why not and what to do.

use super::Facts;
use crate::catalog::{Capability, Factor, Level, Levels, Part, bytes_text};

/// Why a cell cannot be measured here, whatever its file; nothing where it can.
pub(super) fn missing(levels: &Levels, part: Option<&Part>, facts: &Facts) -> Option<String> {
    unavailable(levels, facts)
        .or_else(|| no_direct(levels, part))
        .or_else(|| unaligned(levels, facts))
        .or_else(|| too_much_to_lock(levels, part, facts))
}

/// Parts go by their name, levels that other factors have too as `factor=level`.
fn unavailable(levels: &Levels, facts: &Facts) -> Option<String> {
    levels.iter().find_map(|(factor, level)| match level {
        Level::Word(word) => {
            let level = format!("{factor}={word}");
            let by_name = facts.unavailable.get(word).map(|why| format!("{word}: {why}"));
            by_name.or_else(|| facts.unavailable.get(&level).map(|why| format!("{level}: {why}")))
        }
        _ => None,
    })
}

fn is_direct(levels: &Levels) -> bool {
    levels.is_on(Factor::Direct)
}

fn no_direct(levels: &Levels, part: Option<&Part>) -> Option<String> {
    let part = part.filter(|part| is_direct(levels) && !part.ignores.contains(&Factor::Direct))?;
    let can = part.can(Capability::Direct);
    (!can).then(|| format!("{} cannot bypass the page cache; take --direct=off", part.id))
}

fn unaligned(levels: &Levels, facts: &Facts) -> Option<String> {
    let (unit, block) = (facts.direct_alignment_bytes?, levels.number(Factor::Block)?);
    (is_direct(levels) && unit > 0 && !block.is_multiple_of(unit)).then(|| {
        format!(
            "direct I/O moves multiples of {unit} bytes here, and a block of {block} is none; \
             take such a --block"
        )
    })
}

/// Buffers that are registered with the kernel are locked in memory: one for each request of each
/// thread, and two pages of the ring itself are charged in some kernels.
fn too_much_to_lock(levels: &Levels, part: Option<&Part>, facts: &Facts) -> Option<String> {
    let part = part.filter(|part| part.can(Capability::Locks))?;
    let limit = facts.greatest_locked_bytes?;
    let count = |factor| levels.number(factor).unwrap_or(1);
    let page = facts.page_bytes.max(1);
    let buffer = levels.number(Factor::Block)?.checked_next_multiple_of(page)?;
    let needed =
        buffer.saturating_mul(count(Factor::QueueDepth)).saturating_mul(count(Factor::Threads));
    (needed > limit).then(|| {
        format!(
            "{} locks {} of buffers, and the limit is {}; raise it (ulimit -l), or take a smaller \
             --queue-depth or --block",
            part.id,
            bytes_text(needed),
            bytes_text(limit)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::missing;
    use crate::catalog::{Capability, Factor, Level, Levels, Part, PartKind};
    use crate::plan::Facts;

    fn part(capabilities: &'static [Capability], ignores: &'static [Factor]) -> Part {
        let (id, kind, summary, needs) = ("x", PartKind::Method, "", "");
        Part::new(kind, id, summary).with(capabilities).ignoring(ignores).needing(needs)
    }

    fn direct(block: u64) -> Levels {
        Levels::new()
            .with(Factor::Block, Level::Number(block))
            .with(Factor::Direct, Level::word("on"))
    }

    #[test]
    fn what_the_machine_refuses_is_found_by_name_and_by_level() {
        let mut facts = Facts::default();
        facts.unavailable.insert("direct=on".into(), "not here; elsewhere".into());
        let able = part(&[Capability::Direct], &[]);
        let why = missing(&direct(4096), Some(&able), &facts).unwrap();
        assert_eq!(why, "direct=on: not here; elsewhere");
        facts.unavailable = [("x".to_owned(), "no x".to_owned())].into();
        let levels = Levels::new().with(Factor::Method, Level::word("x"));
        assert_eq!(missing(&levels, Some(&able), &facts).unwrap(), "x: no x");
        assert_eq!(missing(&direct(4096), Some(&able), &facts), None);
    }

    #[test]
    fn direct_needs_a_method_that_can_and_a_block_that_fits() {
        let facts = Facts { direct_alignment_bytes: Some(512), ..Facts::default() };
        let (able, unable) = (part(&[Capability::Direct], &[]), part(&[], &[]));
        assert_eq!(missing(&direct(1024), Some(&able), &facts), None);
        assert!(missing(&direct(1000), Some(&able), &facts).unwrap().contains("multiples of 512"));
        let why = missing(&direct(1024), Some(&unable), &facts).unwrap();
        assert!(why.contains("cannot bypass"), "{why}");
        let indifferent = part(&[], &[Factor::Direct]);
        assert_eq!(missing(&direct(1024), Some(&indifferent), &facts), None);
    }

    #[test]
    fn buffers_beyond_the_limit_of_locked_memory_are_refused() {
        let limit = Some(8 << 20);
        let facts = Facts { greatest_locked_bytes: limit, page_bytes: 4096, ..Facts::default() };
        let locks = part(&[Capability::Locks], &[]);
        let levels = |block, depth| {
            Levels::new()
                .with(Factor::Block, Level::Number(block))
                .with(Factor::QueueDepth, Level::Number(depth))
        };
        assert_eq!(missing(&levels(1 << 20, 8), Some(&locks), &facts), None);
        let why = missing(&levels(1 << 20, 9), Some(&locks), &facts).unwrap();
        assert!(why.contains("9 MiB") && why.contains("ulimit -l"), "{why}");
        assert!(missing(&levels(1, 4096), Some(&locks), &facts).is_some(), "a page for each");
        assert_eq!(missing(&levels(1 << 20, 9), Some(&part(&[], &[])), &facts), None);
    }
}
