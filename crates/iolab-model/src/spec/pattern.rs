//! The patterns of `--benchmark_filter`: the common part of regular expressions (characters, `.`,
//! classes, groups, `|`, `*`, `+`, `?`, `^`, `$`). Own code: it is all that the flag is used for,
//! and an engine would be the largest dependency of the program.

use super::SpecError;

/// A pattern; it matches where it is found anywhere in a text.
#[derive(Clone, Debug)]
pub struct Pattern {
    branches: Vec<Vec<Node>>,
    negated: bool,
}

#[derive(Clone, Debug)]
enum Node {
    Char(char),
    Any,
    Class { ranges: Vec<(char, char)>, negated: bool },
    Start,
    End,
    Group(Vec<Vec<Node>>),
    Repeat { node: Box<Node>, least: usize, most: usize },
}

/// Deeper nesting is refused: it would be no pattern that a person wrote.
const DEEPEST: usize = 50;
/// So many steps are tried; a pattern that needs more is taken as not found.
const STEPS: usize = 1_000_000;

impl Pattern {
    /// Reads a pattern. `all` is everything, as in Google Benchmark; a `-` before it turns it round.
    ///
    /// # Errors
    /// Where it is no pattern, and why.
    pub fn parse(text: &str) -> Result<Pattern, SpecError> {
        let (negated, body) = match text.strip_prefix('-') {
            Some(body) => (true, body),
            None => (false, text),
        };
        let body = if body == "all" { "." } else { body };
        let chars: Vec<char> = body.chars().collect();
        let mut parser = Parser { chars: &chars, at: 0, depth: 0 };
        let branches = parser.branches().and_then(|found| match parser.at < chars.len() {
            true => Err("a ) without its ("),
            false => Ok(found),
        });
        let branches = branches.map_err(|why| {
            let usual = "as in read/.*block:4096 or ^(read|pread)$";
            SpecError::new(text, text.len() - body.len().min(text.len()), why, usual)
        })?;
        Ok(Pattern { branches, negated })
    }

    /// Whether a text is wanted.
    pub fn matches(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        let mut steps = 0;
        let mut found = |start: usize| {
            let mut matcher = Matcher { text: &chars, steps: &mut steps };
            self.branches.iter().any(|b| matcher.sequence(b, start, &mut |_, _| true))
        };
        (0..=chars.len()).any(&mut found) != self.negated
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn branches(&mut self) -> Parsed<Vec<Vec<Node>>> {
        let mut all = vec![Vec::new()];
        while let Some(c) = self.chars.get(self.at).copied().filter(|c| *c != ')') {
            self.at += 1;
            if c == '|' {
                all.push(Vec::new());
                continue;
            }
            let node = self.atom(c)?;
            let node = self.repeated(node);
            if let Some(last) = all.last_mut() {
                last.push(node);
            }
        }
        Ok(all)
    }

    fn atom(&mut self, c: char) -> Parsed<Node> {
        Ok(match c {
            '.' => Node::Any,
            '^' => Node::Start,
            '$' => Node::End,
            '(' => self.group()?,
            '[' => self.class()?,
            '\\' => escape(self.next().ok_or("nothing after the \\")?),
            '*' | '+' | '?' => return Err("nothing to repeat"),
            c => Node::Char(c),
        })
    }

    fn group(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too deep");
        }
        let branches = self.branches()?;
        self.depth -= 1;
        match self.next() {
            Some(')') => Ok(Node::Group(branches)),
            _ => Err("a ( without its )"),
        }
    }

    fn repeated(&mut self, node: Node) -> Node {
        let (least, most) = match self.chars.get(self.at) {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            _ => return node,
        };
        self.at += 1;
        Node::Repeat { node: Box::new(node), least, most }
    }

    fn class(&mut self) -> Parsed<Node> {
        let open = "a [ without its ]";
        let negated = self.chars.get(self.at) == Some(&'^');
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        loop {
            let mut first = self.next().ok_or(open)?;
            if first == ']' && !ranges.is_empty() {
                return Ok(Node::Class { ranges, negated });
            }
            if first == '\\' {
                first = self.next().ok_or(open)?;
            }
            let dash = self.chars.get(self.at) == Some(&'-');
            match self.chars.get(self.at + 1).filter(|c| dash && **c != ']') {
                Some(last) if *last >= first => {
                    ranges.push((first, *last));
                    self.at += 2;
                }
                Some(_) => return Err("a range that runs backwards"),
                None => ranges.push((first, first)),
            }
        }
    }
}

fn escape(c: char) -> Node {
    let class = |ranges: &[(char, char)]| Node::Class { ranges: ranges.to_vec(), negated: false };
    match c {
        'd' => class(&[('0', '9')]),
        'w' => class(&[('0', '9'), ('a', 'z'), ('A', 'Z'), ('_', '_')]),
        's' => class(&[(' ', ' '), ('\t', '\r')]),
        c => Node::Char(c),
    }
}

struct Matcher<'a> {
    text: &'a [char],
    steps: &'a mut usize,
}

/// What comes after: is asked with the place that was reached.
type After<'a> = &'a mut dyn FnMut(&mut Matcher<'_>, usize) -> bool;

impl Matcher<'_> {
    fn sequence(&mut self, nodes: &[Node], at: usize, after: After<'_>) -> bool {
        *self.steps += 1;
        if *self.steps > STEPS {
            return false;
        }
        match nodes.split_first() {
            None => after(self, at),
            Some((Node::Repeat { node, least, most }, rest)) => {
                self.repeat(node, (*least, *most), at, &mut |m, at| m.sequence(rest, at, after))
            }
            Some((node, rest)) => self.one(node, at, &mut |m, at| m.sequence(rest, at, after)),
        }
    }

    fn repeat(&mut self, node: &Node, bounds: (usize, usize), at: usize, after: After<'_>) -> bool {
        *self.steps += 1;
        if *self.steps > STEPS {
            return false;
        }
        let (least, most) = bounds;
        let fewer = (least.saturating_sub(1), most.saturating_sub(1));
        let more = most > 0
            && self.one(node, at, &mut |m, next| {
                // What took nothing would go on for ever.
                next > at && m.repeat(node, fewer, next, after)
            });
        more || (least == 0 && after(self, at))
    }

    fn one(&mut self, node: &Node, at: usize, after: After<'_>) -> bool {
        let here = self.text.get(at).copied();
        let taken = match node {
            Node::Start => return at == 0 && after(self, at),
            Node::End => return at == self.text.len() && after(self, at),
            Node::Group(branches) => return branches.iter().any(|b| self.sequence(b, at, after)),
            Node::Repeat { .. } => return self.sequence(std::slice::from_ref(node), at, after),
            Node::Char(c) => here == Some(*c),
            Node::Any => here.is_some(),
            Node::Class { ranges, negated } => here.is_some_and(|c| {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }),
        };
        taken && after(self, at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use proptest::prelude::*;

    #[test]
    fn the_common_part_of_regular_expressions() {
        for (pattern, text, found) in [
            ("all", "anything", true),
            (".", "x", true),
            ("", "x", true),
            ("read", "syscall/read/x", true),
            ("^read", "pread", false),
            ("^read/(pread|mmap)/", "read/mmap/block:1", true),
            ("^read/(pread|mmap)/", "read/readv/block:1", false),
            ("block:4096$", "read/block:4096", true),
            ("block:40*96", "block:496", true),
            ("block:40+96", "block:496", false),
            ("threads:[2-4]$", "threads:3", true),
            ("threads:[^2-4]$", "threads:3", false),
            ("a.c", "abc", true),
            ("a\\.c", "abc", false),
            ("(ab)+c", "ababc", true),
            ("(a?)*b", "aaab", true),
            ("\\d+", "x12", true),
            ("-read", "read", false),
            ("-read", "write", true),
            ("[]]", "]", true),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(text), found, "{pattern} {text}");
        }
        for wrong in ["(", ")", "[a", "*", "a(b", "\\", "[z-a]"] {
            assert!(Pattern::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_made_to_hang_ends() {
        let text = "a".repeat(60);
        assert!(!Pattern::parse("(a|aa)+(a*)*b").unwrap().matches(&text));
        assert!(Pattern::parse(&"(".repeat(1000)).is_err());
    }

    proptest! {
        #[test]
        fn plain_words_are_found_as_they_are(word in "[a-z]{1,8}", before in "[a-z]{0,8}", any in ".{0,40}") {
            let text = before + &word;
            prop_assert!(Pattern::parse(&word).unwrap().matches(&text));
            let _ = Pattern::parse(&any).map(|p| p.matches("aab(c)"));
        }
    }
}
