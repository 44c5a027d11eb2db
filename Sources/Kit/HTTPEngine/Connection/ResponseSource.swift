/// The source of the response to a request that the interface has taken on.
///
/// Most requests are answered from memory: they never leave their event loop, and need neither a task nor a
/// change of thread.
package enum ResponseSource: Sendable {
    case response(HTTPResponse)
    case command(GatheredCommand)
    /// Everything else. Runs in a task.
    case work(@Sendable () async -> WorkResult)
}

/// The end of the work for a request.
package enum WorkResult: Sendable {
    case response(HTTPResponse)
    case command(GatheredCommand)
}

/// A command that the interface submits together with the commands of other requests, at the end of a round of
/// the event loop.
package struct GatheredCommand: Sendable {
    /// Called once, on any thread, when the command is done. The response is made on the event loop.
    package typealias Completion = @Sendable (_ response: @escaping @Sendable () -> HTTPResponse) -> Void

    /// Adds the command to the commands that `HTTPInterface.submitGathered` submits. Called on the event loop.
    let gather: @Sendable (@escaping Completion) -> Void

    package init(_ gather: @escaping @Sendable (@escaping Completion) -> Void) {
        self.gather = gather
    }
}
