//! Who the ranks of a job are.

use std::collections::BTreeMap;

/// Who the ranks are: the machine of each, and the start of that machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// By rank.
    pub hosts: Vec<(String, String)>,
}

impl Crew {
    /// A rank in words.
    pub fn name(&self, number: usize) -> String {
        let host = self.hosts.get(number).map_or("?", |(host, _)| host.as_str());
        format!("rank {number} on {host}")
    }

    /// The machine of each rank, as the number of the first rank that is on it.
    pub fn machines(&self) -> Vec<usize> {
        let first = |host| self.hosts.iter().position(|other| other == host).unwrap_or(0);
        self.hosts.iter().map(first).collect()
    }

    /// The machines in the order of their ranks: `node1*4,node2*4`.
    pub fn words(&self) -> String {
        let mut rows: Vec<(&str, usize)> = Vec::new();
        for (host, _) in &self.hosts {
            match rows.last_mut() {
                Some((last, count)) if last == host => *count += 1,
                _ => rows.push((host, 1)),
            }
        }
        let rows: Vec<String> = rows
            .iter()
            .map(|(host, count)| format!("{}*{count}", host.replace([',', '*'], "_")))
            .collect();
        rows.join(",")
    }

    /// The greatest number of ranks on one machine.
    pub fn most_on_one(&self) -> u64 {
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        self.hosts.iter().for_each(|host| *counts.entry(host).or_default() += 1);
        counts.values().copied().max().unwrap_or(1).max(1)
    }

    /// Whether two of them are on one machine.
    pub fn is_one_machine(&self, one: usize, other: usize) -> bool {
        self.hosts.get(one) == self.hosts.get(other)
    }
}
