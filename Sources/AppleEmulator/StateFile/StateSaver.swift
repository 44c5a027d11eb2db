import Logging
import Synchronization

/// Writes the state file, one write at a time. Callers that come during a write share the next one.
actor StateSaver {
    private let state: EmulatorState
    private let file: StateFile
    private let logger: Logger
    private var running: Task<Void, any Error>?
    private var next: Task<Void, any Error>?

    init(state: EmulatorState, file: StateFile, logger: Logger) {
        (self.state, self.file, self.logger) = (state, file, logger)
    }

    /// Everything that was done before the call is in the file when it returns. Throws `.stateFileUnwritable`.
    func save() async throws {
        if let next { return try await next.value }
        // A task of its own, because a caller that hangs up must not cancel the write for the others.
        let task = Task {
            // What became of the write before is its callers' business.
            _ = try? await running?.value
            try write()
        }
        next = task
        try await task.value
    }

    private func write() throws {
        // From here on a caller's change may come too late for this write.
        (running, next) = (next, nil)
        do {
            try file.write(state.world.withLock { WorldSnapshot($0) })
        } catch {
            logger.error("the state file cannot be written", metadata: ["error": "\(error)"])
            throw error
        }
    }
}
