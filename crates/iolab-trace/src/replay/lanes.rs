//! Threads of a trace as threads of a replay. Those that were never there at the same time share one:
//! a script that starts a thousand programs, one after the other, needs two.

use std::collections::{BTreeSet, HashMap};

use super::order::{Ordered, Point};
use super::step::{Action, Step};

/// The steps of each thread of the replay, and how many events they tell one another.
pub(super) fn lanes(ordered: Ordered, team: u32) -> (Vec<Vec<Step>>, u32) {
    let lane_of = assign(&ordered, team as usize);
    let awaited = needed(&ordered, &lane_of);
    let events: HashMap<Point, u32> =
        awaited.iter().enumerate().map(|(number, point)| (*point, number as u32)).collect();
    let count = lane_of.iter().copied().max().map_or(0, |last| last + 1);
    let mut lanes: Vec<Vec<Step>> = vec![Vec::new(); count];
    let mut threads: Vec<usize> = (0..ordered.acts.len()).collect();
    // Those of one lane follow one another.
    threads.sort_by_key(|thread| ordered.places[*thread].first().copied());
    let mut known: HashMap<(usize, u32), u32> = HashMap::new();
    for thread in threads {
        let lane = lane_of[thread];
        for (number, act) in ordered.acts[thread].iter().enumerate() {
            let point = (thread as u32, number as u32);
            let waits = if events.is_empty() { None } else { ordered.waits.get(&point) };
            for wait in waits.into_iter().flatten() {
                let newer = known.get(&(lane, wait.0)).is_none_or(|seen| *seen < wait.1);
                if let (true, Some(event)) = (newer, events.get(wait)) {
                    known.insert((lane, wait.0), wait.1);
                    lanes[lane].push(event_step(Action::Await, *event, act.step.call));
                }
            }
            lanes[lane].push(act.step);
            let told = (thread as u32, number as u32 + 1);
            let event = if events.is_empty() { None } else { events.get(&told) };
            if let Some(event) = event {
                lanes[lane].push(event_step(Action::Signal, *event, act.step.call));
            }
        }
    }
    lanes.retain(|lane| !lane.is_empty());
    (lanes, events.len() as u32)
}

fn event_step(action: Action, event: u32, call: u32) -> Step {
    Step { other: event, ..Step::new(action, call) }
}

/// The points that another lane waits for. The latest of a thread stands for those before it.
fn needed(ordered: &Ordered, lane_of: &[usize]) -> BTreeSet<Point> {
    let mut all = BTreeSet::new();
    for (point, waits) in &ordered.waits {
        let lane = lane_of[point.0 as usize];
        all.extend(waits.iter().filter(|wait| lane_of[wait.0 as usize] != lane));
    }
    all
}

/// The lane of each thread: the first that is free when it begins. Those of a team are all there until
/// the last of them ends.
fn assign(ordered: &Ordered, team: usize) -> Vec<usize> {
    let teams = ordered.places.chunks(team).enumerate();
    let together = teams.filter_map(|(number, places)| {
        let first = places.iter().filter_map(|places| places.first()).min()?;
        let last = places.iter().filter_map(|places| places.last()).max()?;
        let members = places.iter().enumerate().filter(|(_, places)| !places.is_empty());
        Some(members.map(move |(member, _)| (*first, *last, number * team + member)))
    });
    let mut threads: Vec<(u32, u32, usize)> = together.flatten().collect();
    threads.sort_unstable();
    let mut lane_of = vec![0; ordered.places.len()];
    let mut ends: Vec<u32> = Vec::new();
    for (first, last, thread) in threads {
        let free = ends.iter().position(|end| *end < first);
        let lane = free.unwrap_or(ends.len());
        if free.is_none() {
            ends.push(last);
        }
        ends[lane] = last;
        lane_of[thread] = lane;
    }
    lane_of
}
