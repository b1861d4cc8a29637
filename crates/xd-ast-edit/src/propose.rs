//! A call over files: find, read, rewrite on several threads, and put one change set together.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use xd_changeset::{ByteEdit, ChangeSet, Content, ReadError, Root};

use crate::engine::{Edit, Rewritten, rewrite_for};
use crate::files::{Files, Job, Programs, Search, collect};
use crate::language::Lang;
use crate::op::{Op, OpError, Program, check_ops};
use crate::refusal::Refusal;
use crate::request::{Control, Limits, Progress, ProposeError, Request};
use crate::summary::{Cap, Counts, FileCount, Issue, IssueKind, LeftOut, LostComment, Summary};

/// Matching and comparing recurse as deep as the engine's bound; nothing recurses deeper.
const STACK: usize = 64 * 1024 * 1024;
/// At most this many dropped comments are kept with their text.
const COMMENTS_KEPT: usize = 100;

/// Changes to stage, with what there is to say about them.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The changes; never empty.
    pub change_set: ChangeSet,
    /// Counts and remarks.
    pub summary: Summary,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Something to stage.
    Proposal(Proposal),
    /// Nothing: no match, or nothing that would change (`CONTRACT S6`). Stage nothing.
    NoReplacements(Summary),
}

/// Rewrites the files that `request` names below `root`, and writes nothing.
///
/// Blocks until done or cancelled; the work is on threads of its own, so that a caller's stack and
/// runtime do not matter. The same files give the same outcome on any number of threads.
///
/// # Errors
/// See [`ProposeError`]: everything that can be refused is refused here (`CONTRACT S7`).
pub fn propose(
    root: &Root,
    request: &Request,
    limits: &Limits,
    control: &Control<'_>,
) -> Result<Outcome, ProposeError> {
    check_ops(&request.ops)?;
    let only = request.lang.as_deref().map(Lang::named).transpose()?;
    let programs = Programs::new(&request.ops);
    let searched = Search { root, only, programs: &programs, limits, control };
    let Files { jobs, langs, no_language, unnameable } = collect(&searched, &request.paths)?;
    let mut summary = Summary {
        by_op: vec![0; request.ops.len()],
        lang: only.map(Lang::name),
        ..Summary::default()
    };
    let issues = |kind: IssueKind| move |path| Issue { path, kind: kind.clone() };
    summary.issues.extend(no_language.into_iter().map(issues(IssueKind::NoLanguage)));
    summary.issues.extend(unnameable.into_iter().map(issues(IssueKind::NameNotUtf8)));
    check_programs(&programs, &langs, &request.ops, &mut summary)?;
    let seen = search(&searched, &jobs, summary.searched)?;
    let mut builder = ChangeSet::builder(root);
    for (index, found) in seen {
        let job = &jobs[index];
        let (content, rewritten) = match found {
            Found::Nothing => continue,
            Found::Issue(kind) => {
                summary.issues.push(Issue { path: job.path.clone(), kind });
                continue;
            }
            Found::Refused(refusal) => {
                return Err(ProposeError::File { path: job.path.clone(), refusal });
            }
            Found::Rewritten(content, rewritten) => (content, rewritten),
        };
        let room = limits.replacements - summary.counts.replacements;
        let rewritten = if rewritten.replacements > room {
            again(programs.get(job.lang), job, &content, room)?
        } else {
            rewritten
        };
        if rewritten.replacements > 0 && summary.counts.files == limits.files {
            summary.cap = Some(Cap::Files(limits.files));
            break;
        }
        let capped = rewritten.capped;
        take(&mut summary, job, &rewritten);
        if rewritten.replacements > 0 {
            builder.edit_from(
                &job.path,
                content,
                rewritten.edits.into_iter().map(byte_edit).collect(),
            );
        }
        if capped {
            summary.cap = Some(Cap::Replacements(limits.replacements));
            break;
        }
    }
    summary.issues.sort_by(|a, b| a.path.cmp(&b.path));
    if summary.counts.replacements == 0 {
        return Ok(Outcome::NoReplacements(summary));
    }
    if (control.cancelled)() {
        return Err(ProposeError::Cancelled);
    }
    let change_set = builder.build()?;
    Ok(Outcome::Proposal(Proposal { change_set, summary }))
}

fn byte_edit(edit: Edit) -> ByteEdit {
    ByteEdit::new(edit.range, edit.text)
}

/// What the compiled operations have to say. One that means nothing in any language found is refused.
fn check_programs(
    programs: &Programs<'_>,
    langs: &BTreeMap<&'static str, (Lang, usize)>,
    ops: &[Op],
    summary: &mut Summary,
) -> Result<(), ProposeError> {
    let mut failures: Vec<Vec<(Lang, OpError)>> = vec![Vec::new(); ops.len()];
    for (name, (lang, count)) in langs {
        let program = programs.get(*lang);
        // Files of a language that no operation is for are not searched.
        if !program.is_empty() || !program.failures().is_empty() {
            summary.searched += count;
        }
        for (op, error) in program.failures() {
            failures[*op].push((*lang, error.clone()));
            summary.left_out.push(LeftOut {
                op: *op,
                lang: name,
                files: *count,
                reason: error.to_string(),
            });
        }
        for op in program.regrowing() {
            if !summary.regrowing.contains(&op) {
                summary.regrowing.push(op);
            }
        }
    }
    summary.regrowing.sort_unstable();
    summary.left_out.sort_by_key(|left| left.op);
    for (op, failures) in failures.into_iter().enumerate() {
        let asked =
            langs.values().filter(|(lang, _)| ops[op].language().is_none_or(|own| own == *lang));
        if !failures.is_empty() && failures.len() == asked.count() {
            return Err(ProposeError::Op { op, pat: ops[op].title(), failures });
        }
    }
    Ok(())
}

/// What one file came to.
#[derive(Debug)]
enum Found {
    Nothing,
    Issue(IssueKind),
    Refused(Refusal),
    Rewritten(Content, Rewritten),
}

/// Looks at the files on several threads. The answer is sorted and holds every file up to the one
/// that ends the call: a refusal, or the one that fills the limits.
fn search(
    searched: &Search<'_>,
    jobs: &[Job],
    files: usize,
) -> Result<Vec<(usize, Found)>, ProposeError> {
    let Search { root, programs, limits, control, .. } = *searched;
    let next = AtomicUsize::new(0);
    let end = AtomicUsize::new(jobs.len());
    let replaced = AtomicUsize::new(0);
    let changed = AtomicUsize::new(0);
    // The other files were done with when they were found.
    let seen = AtomicUsize::new(files.saturating_sub(jobs.len()));
    let results = Mutex::new(Vec::new());
    // Once said, a cancellation stays: what a parse that was given up answers must not be taken.
    let stopped = AtomicBool::new(false);
    let stop = || {
        let now = stopped.load(Ordering::Relaxed) || (control.cancelled)();
        if now {
            stopped.store(true, Ordering::Relaxed);
        }
        now
    };
    let work = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= end.load(Ordering::Relaxed) || stop() {
                break;
            }
            let job = &jobs[index];
            let found = look(root, job, programs.get(job.lang), limits, &stop);
            if let Found::Rewritten(_, rewritten) = &found
                && rewritten.replacements > 0
            {
                let files = changed.fetch_add(1, Ordering::Relaxed) + 1;
                let all = replaced.fetch_add(rewritten.replacements, Ordering::Relaxed)
                    + rewritten.replacements;
                // Every earlier file is taken already, so the limits fill no later than here.
                if files > limits.files || all > limits.replacements {
                    end.fetch_min(next.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            if matches!(found, Found::Refused(_)) {
                end.fetch_min(index + 1, Ordering::Relaxed);
            }
            if !matches!(found, Found::Nothing) {
                mine.push((index, found));
            }
            (control.progress)(Progress {
                files,
                seen: seen.fetch_add(1, Ordering::Relaxed) + 1,
                matched: changed.load(Ordering::Relaxed),
            });
        }
        results.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    let threads = limits.threads_used();
    std::thread::scope(|scope| {
        for number in 0..threads.min(jobs.len()).max(1) {
            let spawned = std::thread::Builder::new()
                .name("xd-ast-edit".to_owned())
                .stack_size(STACK)
                .spawn_scoped(scope, work);
            // One thread is enough; without any there is no way to work safely on deep input.
            if let Err(error) = spawned
                && number == 0
            {
                let kind = IssueKind::Unreadable {
                    reason: format!("no thread could be started: {error}"),
                };
                let all = (0..jobs.len()).map(|index| (index, Found::Issue(kind.clone())));
                results.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
                break;
            }
        }
    });
    if stop() {
        return Err(ProposeError::Cancelled);
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    Ok(results)
}

/// Reads one file and rewrites it.
fn look(
    root: &Root,
    job: &Job,
    program: &Program,
    limits: &Limits,
    stop: &dyn Fn() -> bool,
) -> Found {
    match root.metadata(&job.path) {
        Ok(metadata) if metadata.len > limits.file_bytes => {
            return Found::Issue(IssueKind::TooLarge { bytes: metadata.len });
        }
        Ok(_) => {}
        Err(error) => return Found::Issue(unreadable(error)),
    }
    let content = match root.read(&job.path) {
        Ok(content) => content,
        Err(error) => return Found::Issue(unreadable(error)),
    };
    let source = match content.bytes() {
        Err(error) => return Found::Issue(IssueKind::Unreadable { reason: error.to_string() }),
        Ok(bytes) if !program.may_match(&bytes) => return Found::Nothing,
        Ok(bytes) if memchr::memchr(0, &bytes[..bytes.len().min(8 * 1024)]).is_some() => {
            return Found::Issue(IssueKind::Binary);
        }
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Err(error) => return Found::Issue(IssueKind::NotUtf8 { byte: error.valid_up_to() }),
            Ok(source) => rewritten(program, job, source, limits.replacements, stop),
        },
    };
    match source {
        Err(kind) => Found::Issue(kind),
        Ok(Err(Refusal::SourceDoesNotParse { line, column })) => {
            Found::Issue(IssueKind::DoesNotParse { line, column })
        }
        Ok(Err(Refusal::TooDeep { depth, .. })) => Found::Issue(IssueKind::TooDeep { depth }),
        Ok(Err(
            refusal @ (Refusal::Overlap { .. }
            | Refusal::ResultDoesNotParse { .. }
            | Refusal::ReadOtherwise { .. }
            | Refusal::Hidden { .. }
            | Refusal::StringMoved { .. }
            | Refusal::Uncaptured { .. }
            | Refusal::Unbound { .. }),
        )) => Found::Refused(refusal),
        Ok(Ok(rewritten)) if rewritten.replacements + rewritten.unchanged == 0 => Found::Nothing,
        Ok(Ok(rewritten)) => Found::Rewritten(content, rewritten),
    }
}

/// Why a file cannot be read, in words that stand behind its name and do not repeat it.
fn unreadable(error: ReadError) -> IssueKind {
    let reason = match error {
        ReadError::NotFound(_) => "it is gone".to_owned(),
        ReadError::WrongKind { is, .. } => format!("it is {is}"),
        ReadError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    IssueKind::Unreadable { reason }
}

/// Runs the engine; a fault in a grammar or matcher costs the file, not the process.
fn rewritten(
    program: &Program,
    job: &Job,
    source: &str,
    limit: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Result<Rewritten, Refusal>, IssueKind> {
    let path = job.path.as_str();
    let run = || rewrite_for(program, source, limit, |op| op.is_for(path), stop);
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| IssueKind::ParserFailed)
}

/// The file on which the limit of replacements falls, once more with what is left of it.
fn again(
    program: &Program,
    job: &Job,
    content: &Content,
    room: usize,
) -> Result<Rewritten, ProposeError> {
    let file = |refusal| ProposeError::File { path: job.path.clone(), refusal };
    let Some(source) = content.as_utf8() else { return Ok(Rewritten::default()) };
    std::thread::scope(|scope| {
        let run = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || rewritten(program, job, source, room, &|| false));
        match run.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(Ok(result))) => result.map_err(file),
            Ok(Ok(Err(_)) | Err(_)) | Err(_) => {
                Ok(Rewritten { capped: true, ..Rewritten::default() })
            }
        }
    })
}

/// Adds one file to the summary.
fn take(summary: &mut Summary, job: &Job, rewritten: &Rewritten) {
    summary.unchanged += rewritten.unchanged;
    summary.nested += rewritten.nested;
    summary.regrown += rewritten.regrown;
    summary.lost += rewritten.dropped;
    for comment in &rewritten.dropped_comments {
        if summary.lost_comments.len() < COMMENTS_KEPT {
            summary.lost_comments.push(LostComment {
                path: job.path.clone(),
                line: comment.line,
                text: comment.text.clone(),
            });
        }
    }
    if rewritten.replacements == 0 {
        return;
    }
    let Counts { replacements, files } = summary.counts;
    summary.counts =
        Counts { replacements: replacements + rewritten.replacements, files: files + 1 };
    for op in &rewritten.regrowing {
        if let Err(at) = summary.regrowing.binary_search(op) {
            summary.regrowing.insert(at, *op);
        }
    }
    for (all, more) in summary.by_op.iter_mut().zip(&rewritten.by_op) {
        *all += more;
    }
    summary.files.push(FileCount {
        path: job.path.clone(),
        lang: job.lang.name(),
        replacements: rewritten.replacements,
    });
}
