/// How a route goes on with a call.
///
/// Most calls are answered from memory: they never leave their event loop, and cost neither a task nor a hop. A sign-in
/// waits for the disk and for nothing else: it costs a hop, and no task.
enum Handling: Sendable {
    /// Makes the answer, on the connection's event loop, or throws what becomes one.
    typealias Outcome = @Sendable () throws -> Answer

    case answered(Answer)
    /// Begins the work, and is told to call back once with what came of it, on any thread.
    case callingBack(@Sendable (@escaping @Sendable (@escaping Outcome) -> Void) -> Void)
    case awaiting(@Sendable () async throws -> Answer)
}
