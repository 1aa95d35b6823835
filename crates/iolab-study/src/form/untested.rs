//! `untested`: said by the study and beyond the product; `needs` says what is missing.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::ruling::Ruled;
use crate::saying::Saying;

pub(super) const FORM: Form = Form {
    word: "untested",
    keys: &[],
    read: |keys| match keys.needs()?.also.is_some() {
        true => Ok(Arc::new(Untested)),
        false => Err(keys.table.refuse_key(
            "kind",
            "it does not say what it would take",
            "write needs = { also = \"…\" }",
        )),
    },
};

#[derive(Debug)]
struct Untested;

impl Test for Untested {
    fn judge(&self, _: &Bench<'_>) -> Ruled {
        Err("iolab has no test for it".to_owned())
    }

    fn said(&self, _: &Saying) -> String {
        "nothing is tested".to_owned()
    }
}
