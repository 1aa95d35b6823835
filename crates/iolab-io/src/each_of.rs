//! What the items of a list say of themselves, as a list of its own.

/// One field of each item of a constant list, in its order, as a constant: `each_of!(ALL.part)`.
macro_rules! each_of {
    ($all:ident . $field:ident) => {{
        let mut fields = [$all[0].$field; $all.len()];
        let mut at = 0;
        while at < $all.len() {
            fields[at] = $all[at].$field;
            at += 1;
        }
        fields
    }};
}
