//! Plans for several machines that are compared.

use super::tests::{experiment, facts};
use super::{Facts, Plan, PlanError, make};
use crate::catalog::Factor;
use crate::spec::fixture::{PARTS, READ};

fn on_two(this: Facts, nas: Facts) -> Result<Plan, PlanError> {
    let axes = [(Factor::Host, "this,nas"), (Factor::FileSize, "1Mi"), (Factor::Block, "4Ki")];
    let axes = [&axes[..], &[(Factor::Method, "pread,mmap")]].concat();
    let hosts = [("this".to_owned(), this), ("nas".to_owned(), nas)].into();
    make(&experiment(&READ, &axes), &READ, PARTS, &Facts { hosts, ..facts() })
}

/// The file of one machine is not that of another, and what one lacks the other may have.
#[test]
fn each_machine_has_a_file_of_its_own_and_its_own_reasons() {
    let mut nas = facts();
    nas.unavailable.insert("mmap".into(), "not here".into());
    let plan = on_two(facts(), nas).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["this/pread", "this/mmap", "nas/pread", "nas/mmap"]);
    assert_eq!(plan.cells[1].skip, None);
    assert_eq!(plan.cells[3].skip.as_deref(), Some("on nas: mmap: not here"));
    let hosts: Vec<_> = plan.instances.iter().map(|instance| instance.host.as_deref()).collect();
    assert_eq!(hosts, [Some("this"), Some("nas")]);
    assert_eq!(plan.ask, [Factor::Host, Factor::Method]);
    assert!(plan.conditions[0].own_instances, "where their files lie is drawn anew");
}

/// 2 MiB of files were held against the space of one machine, which has but its own.
#[test]
fn the_machine_without_space_is_named() {
    let with = |free_bytes| Facts { free_bytes, ..facts() };
    assert!(on_two(with(3 << 19), with(3 << 19)).is_ok(), "each has room for its own file");
    let error = on_two(facts(), with(1 << 19)).unwrap_err();
    assert!(error.is_refusal());
    let said = error.to_string();
    assert!(said.starts_with("on nas: no space in /work-here: the files need 1 MiB"), "{said}");
}
