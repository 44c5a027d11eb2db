/// How a route goes on with a call.
///
/// Most calls are answered from memory: they never leave their event loop, and cost neither a task nor a hop.
enum Handling: Sendable {
    case answered(Answer)
    case awaiting(@Sendable () async throws -> Answer)
}
