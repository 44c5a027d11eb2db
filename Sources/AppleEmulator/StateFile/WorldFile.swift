import EmulatorServer

/// The state file of the fake Apple, with the errors of its control API.
struct WorldFile: Sendable {
    private let file: StateFile<WorldSnapshot>

    init(path: String) { file = StateFile(path: path, firstWords: "siwa emulator state 1 ") }

    /// Throws `.stateFileUnwritable` while another process has the file.
    func lock() throws(EmulatorError) -> StateFileLock {
        do {
            return try file.lock()
        } catch {
            throw EmulatorError(error)
        }
    }

    /// Returns `nil` when there is no file. Throws `.stateFileDamaged`.
    func read() throws(EmulatorError) -> WorldSnapshot? {
        do {
            return try file.read()
        } catch {
            throw EmulatorError(error)
        }
    }

    /// The state is durable when this returns. Throws `.stateFileUnwritable`.
    func write(_ snapshot: WorldSnapshot) throws(EmulatorError) {
        do {
            try file.write(snapshot)
        } catch {
            throw EmulatorError(error)
        }
    }
}

extension EmulatorError {
    fileprivate init(_ error: StateFileError) {
        switch error.code {
        case .damaged: self.init(.stateFileDamaged, detail: error.detail)
        case .unwritable, .locked: self.init(.stateFileUnwritable, detail: error.detail)
        }
    }
}
