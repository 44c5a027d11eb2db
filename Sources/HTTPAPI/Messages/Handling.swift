import SignIn

/// How a route goes on with a call.
///
/// Most calls are answered from memory: they never leave their event loop, and cost neither a task nor a hop. A sign-in
/// waits for the disk and for nothing else: it costs a hop, and no task.
enum Handling {
    /// Makes the answer, on the connection's event loop, or throws what becomes one.
    typealias Outcome = @Sendable () throws -> Answer

    case answered(Answer)
    /// Has something to commit, and is told whom to call with what comes of it.
    case committing((@escaping @Sendable (@escaping Outcome) -> Void) -> Submission)
    case awaiting(@Sendable () async throws -> Answer)
}
