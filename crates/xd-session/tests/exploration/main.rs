//! The whole protocol explored: a reference model in every state that it can reach, faults of the
//! model that must be found, and the real session in step with it.
//!
//! `model`, `facts` and `steps` are the model, written from the statements of the contract and not
//! from the code. `properties` says what must hold of every history. `scopes` says what happens in
//! each search, `search` carries it out; one scope has everything at once, the others what it has
//! no room for. `in_step` drives a real session with the same facts; `found` keeps what that has
//! found.

#![allow(clippy::print_stdout, reason = "a search says how far it came")]
#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

mod facts;
mod found;
mod in_step;
mod model;
mod mutation;
mod properties;
mod real;
mod scopes;
mod search;
mod steps;

use mutation::Mutation;
use properties::Property;
use scopes::Scope;
use search::{Broken, Explored, explore};

/// Explores `scope` and answers the number of states.
#[track_caller]
fn holds<const A: usize>(scope: &Scope) -> usize {
    match explore::<A>(scope) {
        Ok(Explored { states, steps, depth }) => {
            println!(
                "{}: {states} states, {steps} steps, {depth} deep, {A} actions, all properties hold",
                scope.name
            );
            states
        }
        Err(Broken { property, trace }) => {
            panic!("{}: {property:?} does not hold after {trace:#?}", scope.name)
        }
    }
}

/// One search in which there is everything at once: three staged actions, two confirms in flight,
/// callers that go away at every await, boundaries, restarts, failing applies, turns of every kind,
/// an armed gate, a provider that refuses to force; each of them at every point and as often as it
/// likes.
// CONTRACT S1, S2, D1, D9, D10, D11, D12, D13, D14, E1, E2, E3, G1, G3, G4, G5, G6, G7, G8, G9, G12
// case 1, case 69
#[test]
fn d11_d12_d13_d14_e1_e3_g5_g7_g8_g9_all_of_it_at_once_in_every_state() {
    let states = holds::<3>(&scopes::combined());
    assert!(states >= 1_000_000, "only {states} states");
}

/// The same with a longer budget and reminders lost to a compaction, for two heads.
// CONTRACT G3, G4, G5, G6, G7, G8, G9, G12
#[test]
fn g3_g7_all_of_it_at_length_on_two_heads_in_every_state() {
    let states = holds::<2>(&scopes::combined_at_length());
    assert!(states >= 100_000, "only {states} states");
}

// CONTRACT E1, E3, F2
#[test]
fn e3_f2_restarts_and_stale_applies_in_every_state() {
    holds::<2>(&scopes::restarts().without_person());
}

// CONTRACT S2, G1, G3, G4, G5, G6, G7, G8, G9, G12; case 1, case 69
#[test]
fn g4_g5_g6_g7_g8_g12_turns_of_every_kind_within_the_whole_budget() {
    let states = holds::<1>(&scopes::turns().without_person());
    assert!(states >= 100_000, "only {states} states");
}

// CONTRACT G7, G9, G11, G12
#[test]
fn g9_providers_that_refuse_in_every_state() {
    holds::<1>(&scopes::providers());
}

// CONTRACT D1, G1, G10, Q2, Q3, Q4, Q6
#[test]
fn q2_q3_q4_g10_directives_in_every_state() {
    let states = holds::<1>(&scopes::directives());
    assert!(states >= 100_000, "only {states} states");
}

/// All of it at once with a person beside the loop, and the others drawn wider.
#[test]
#[ignore = "minutes: the nightly script runs it in release"]
fn the_same_searches_drawn_wide() {
    holds::<3>(&scopes::combined().beside_a_person().most(WIDE));
    holds::<3>(&scopes::confirms(3).most(WIDE));
    holds::<2>(&scopes::restarts().most(WIDE));
    holds::<1>(&scopes::turns().most(WIDE));
}

const WIDE: usize = 60_000_000;

/// Gives the model `mutation` and expects that `property` is what finds it.
#[track_caller]
fn finds<const A: usize>(mutation: Mutation, scope: Scope, property: Property) {
    match explore::<A>(&scope.with(mutation)) {
        Ok(Explored { states, .. }) => panic!("{mutation:?} was not found in {states} states"),
        Err(broken) => {
            println!("{mutation:?}: {:?} after {} steps", broken.property, broken.trace.len());
            assert_eq!(broken.property, property, "{mutation:?}: {:#?}", broken.trace);
        }
    }
}

/// The checker can fail: every fault of the model is found, and by the property that forbids it.
#[test]
fn every_fault_of_the_model_is_found() {
    use {Mutation as M, Property as P};
    let all = scopes::combined;
    let turns = || scopes::turns().without_person();
    finds::<3>(M::TakesWhatIsTaken, all(), P::D11OneApply);
    finds::<3>(M::RejectsWhatIsTaken, all(), P::D11ApplyOrReject);
    finds::<3>(M::AppliesAgain, all(), P::D11OneApply);
    finds::<3>(M::DroppedGoBack, all(), P::D12TakenRuns);
    finds::<3>(M::DroppedAreCut, all(), P::D12TakenRuns);
    finds::<3>(M::BareMeansTheNewest, all(), P::D14BareNeverCrosses);
    finds::<3>(M::SecondBareRuns, all(), P::D14BareNeverCrosses);
    finds::<3>(M::BoundaryKeepsWhatIsTaken, all(), P::E1OwnSessionOnly);
    finds::<3>(M::LateFailuresReturn, all(), P::D13LateChangesNothing);
    finds::<3>(M::LateRepliesRun, all(), P::D13LateChangesNothing);
    finds::<3>(M::LateDetoursRun, all(), P::D13LateChangesNothing);
    finds::<3>(M::OldBatchesStage, all(), P::D13LateChangesNothing);
    finds::<3>(M::FailuresConsume, all(), P::D9FailedStaysPending);
    finds::<3>(M::FailuresDoNotLift, all(), P::G1ArmedExactly);
    finds::<3>(M::RestartOffersAll, all(), P::E3RestartLosesNothing);
    finds::<3>(M::RestartForgets, all(), P::E3RestartLosesNothing);
    finds::<3>(M::AbortedTurnsSpend, all(), P::G12VoidSpendsNothing);
    finds::<3>(M::MixedBatchesRun, all(), P::G5OnlyCompliantRuns);
    finds::<3>(M::SkippedGetNoResult, all(), P::G5OneResultACall);
    finds::<3>(M::SilentTurnsAreFree, all(), P::G7WithinBudget);
    finds::<3>(M::LooksAreEndless, all(), P::G7WithinBudget);
    finds::<3>(M::LooksStageForFree, all(), P::G7WithinBudget);
    finds::<3>(M::RemindsAgain, all(), P::G3OneReminder);
    finds::<1>(M::ProseIsParsed, scopes::stubborn(), P::D1NoEffectWithoutConfirm);
    finds::<3>(M::RefusalsAreIgnored, all(), P::G9PinnedAsAllowed);
    finds::<3>(M::RefusalsForgetTheBudget, all(), P::G12VoidSpendsNothing);
    finds::<3>(M::RefusedTurnsSpend, all(), P::G12VoidSpendsNothing);
    finds::<3>(M::RefusalsEndWithTheSession, all(), P::G9PinnedAsAllowed);
    finds::<2>(M::CompactionVoids, scopes::combined_at_length(), P::E1OwnSessionOnly);
    finds::<2>(M::StaleAppliesWrite, scopes::restarts(), P::F2StaleWritesNothing);
    finds::<1>(M::ForceSticks, turns(), P::G5ForceOnlyAfterDetour);
    finds::<1>(M::RefusalsAreOfAll, scopes::providers(), P::G9PinnedAsAllowed);
    finds::<1>(M::PinsWhoeverIsAsked, scopes::providers(), P::G9PinnedAsAllowed);
}
