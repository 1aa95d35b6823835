//! Names as the program wrote them, made absolute. They are labels: nobody opens them.

/// `name` below `directory`, without `.`, `..` and double slashes; what leads above the root stays
/// at it. Without a directory a relative name stays relative.
pub(super) fn absolute(directory: Option<&[u8]>, name: &[u8]) -> Vec<u8> {
    let from_root = name.starts_with(b"/") || directory.is_some();
    let below = match name.starts_with(b"/") {
        true => &b""[..],
        false => directory.unwrap_or_default(),
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in below.split(|b| *b == b'/').chain(name.split(|b| *b == b'/')) {
        match part {
            b"" | b"." => (),
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut whole = Vec::with_capacity(below.len() + name.len() + 2);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 || from_root {
            whole.push(b'/');
        }
        whole.extend_from_slice(part);
    }
    match (whole.is_empty(), from_root) {
        (true, true) => b"/".to_vec(),
        (true, false) => b".".to_vec(),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn names_are_absolute_and_never_above_the_root() {
        assert_eq!(absolute(Some(b"/a/b"), b"../c//./d"), b"/a/c/d");
        assert_eq!(absolute(Some(b"/a"), b"/x/"), b"/x");
        assert_eq!(absolute(Some(b"/"), b"../../etc"), b"/etc");
        assert_eq!(absolute(None, b"../../x"), b"x");
        assert_eq!(absolute(None, b"."), b".");
        assert_eq!(absolute(Some(b"/"), b""), b"/");
    }
}
