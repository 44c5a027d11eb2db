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

    /// All changes before the call are in the file when this returns. Throws `.stateFileUnwritable`.
    func save() async throws {
        if let next { return try await next.value }
        // An unstructured task, because the cancellation of one caller must not cancel the write for the
        // others.
        let task = Task {
            // Errors of the previous write are reported to its own callers.
            _ = try? await running?.value
            try write()
        }
        next = task
        try await task.value
    }

    private func write() throws {
        // Later changes may come too late for this write.
        (running, next) = (next, nil)
        do {
            try file.write(state.world.withLock { WorldSnapshot($0) })
        } catch {
            logger.error("the state file cannot be written", metadata: ["error": "\(error)"])
            throw error
        }
    }
}
