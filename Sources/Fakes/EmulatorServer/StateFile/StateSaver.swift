package import Logging

/// Writes a state file, one write at a time. Callers that arrive during a write share the next write.
package actor StateSaver {
    private let write: @Sendable () throws -> Void
    private let logger: Logger
    private var running: Task<Void, any Error>?
    private var next: Task<Void, any Error>?

    /// - Parameter write: Writes the state as of the moment of the call.
    package init(logger: Logger, write: @escaping @Sendable () throws -> Void) {
        (self.logger, self.write) = (logger, write)
    }

    /// All changes before the call are in the file when this returns. Throws the error of the write.
    package func save() async throws {
        if let next { return try await next.value }
        // An unstructured task, because the cancellation of one caller must not cancel the write for the
        // others.
        let task = Task {
            // Errors of the previous write are reported to its own callers.
            _ = try? await running?.value
            try writeOnce()
        }
        next = task
        try await task.value
    }

    private func writeOnce() throws {
        // Later changes may come too late for this write.
        (running, next) = (next, nil)
        do {
            try write()
        } catch {
            logger.error("the state file cannot be written", metadata: ["error": "\(error)"])
            throw error
        }
    }
}
