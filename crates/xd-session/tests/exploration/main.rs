//! The whole protocol explored: a reference model in every state that it can reach, faults of the
//! model that must be found, and the real session in step with it.
//!
//! `model`, `facts` and `steps` are the model, written from the statements of the contract and not
//! from the code. `properties` says what must hold of every history. `scopes` bounds each search,
//! `search` carries it out. `in_step` drives a real session with the same facts; `found` keeps what that has
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

// CONTRACT S1, D1, D9, D10, D11, D12, D13, D14, E1, E2
#[test]
fn d11_d12_d13_d14_confirms_in_flight_in_every_state() {
    let states = holds::<3>(&scopes::confirms(1).without_person());
    assert!(states >= 100_000, "only {states} states");
}

// CONTRACT E1, E3, F2
#[test]
fn e3_f2_restarts_and_stale_applies_in_every_state() {
    let states = holds::<2>(&scopes::restarts().without_person());
    assert!(states >= 100_000, "only {states} states");
}

// CONTRACT S2, G1, G3, G4, G5, G6, G7, G8, G12; case 1, case 69
#[test]
fn g4_g5_g6_g7_g8_g12_turns_of_every_kind_in_every_state() {
    let one = holds::<1>(&scopes::turns().without_person());
    let two = holds::<2>(&scopes::heads().without_person().within(3, 1, 1));
    assert!(one + two >= 100_000, "only {one} and {two} states");
}

// CONTRACT D1, G1, G10, Q2, Q3, Q4, Q6
#[test]
fn q2_q3_q4_g10_directives_in_every_state() {
    let states = holds::<1>(&scopes::directives());
    assert!(states >= 100_000, "only {states} states");
}

/// The same with a person beside the loop and a wider budget: 26 million states.
#[test]
#[ignore = "minutes and gigabytes: the nightly script runs it in release"]
fn the_same_searches_drawn_wide() {
    holds::<3>(&scopes::confirms(3).most(WIDE));
    holds::<2>(&scopes::restarts().most(WIDE));
    holds::<1>(&scopes::turns().most(WIDE));
    holds::<2>(&scopes::heads().most(WIDE));
}

const WIDE: usize = 20_000_000;

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
    let confirms = || scopes::confirms(1).without_person();
    let turns = || scopes::turns().without_person();
    let restarts = || scopes::restarts().without_person();
    finds::<2>(M::TakesWhatIsTaken, confirms(), P::D11OneApply);
    finds::<2>(M::RejectsWhatIsTaken, confirms(), P::D11ApplyOrReject);
    finds::<2>(M::AppliesAgain, confirms(), P::D11OneApply);
    finds::<2>(M::DroppedGoBack, confirms(), P::D12TakenRuns);
    finds::<2>(M::DroppedAreCut, confirms(), P::D12TakenRuns);
    finds::<2>(M::BareMeansTheNewest, confirms(), P::D14BareNeverCrosses);
    finds::<2>(M::SecondBareRuns, confirms(), P::D14BareNeverCrosses);
    finds::<2>(M::BoundaryKeepsWhatIsTaken, confirms(), P::E1OwnSessionOnly);
    finds::<2>(M::LateFailuresReturn, confirms(), P::D13LateChangesNothing);
    finds::<2>(M::FailuresConsume, confirms(), P::D9FailedStaysPending);
    finds::<2>(M::StaleAppliesWrite, restarts(), P::F2StaleWritesNothing);
    finds::<2>(M::RestartOffersAll, restarts(), P::E3RestartLosesNothing);
    finds::<2>(M::RestartForgets, restarts(), P::E3RestartLosesNothing);
    finds::<1>(M::LateRepliesRun, turns(), P::D13LateChangesNothing);
    finds::<1>(M::FailuresDoNotLift, turns(), P::G1ArmedExactly);
    finds::<1>(M::SilentTurnsAreFree, turns(), P::G7WithinBudget);
    finds::<1>(M::AbortedTurnsSpend, turns(), P::G12VoidSpendsNothing);
    finds::<1>(M::MixedBatchesRun, turns(), P::G5OnlyCompliantRuns);
    finds::<1>(M::SkippedGetNoResult, turns(), P::G5OneResultACall);
    finds::<1>(M::LooksAreEndless, turns(), P::G7WithinBudget);
    finds::<1>(M::ForceSticks, turns(), P::G5ForceOnlyAfterDetour);
    finds::<1>(M::RemindsAgain, turns(), P::G3OneReminder);
    finds::<1>(M::CompactionVoids, turns(), P::E1OwnSessionOnly);
    finds::<1>(M::ProseIsParsed, scopes::heads().without_person(), P::D1NoEffectWithoutConfirm);
}
