import EmulatorServer
import JOSE

/// The state that survives a restart: links with their tokens, links that were begun, accepted events, and
/// keys. Without it, a restarted server with a database would have grants that Google does not know.
/// Exchanges and faults are lost.
struct GoogleSnapshot: Codable {
    struct Key: Codable {
        let keyID: String
        let pem: String
    }

    let links: LinkBook
    let inbox: EventInbox
    let keys: [Key]

    init(_ world: GoogleState.World) {
        (links, inbox) = (world.links, world.inbox)
        keys = world.keys.map { Key(keyID: $0.keyID, pem: $0.privateKey.pem) }
    }

    /// Throws `.stateFileDamaged` when there is no key, or one cannot be used.
    func signingKeys() throws(GoogleEmulatorError) -> [GoogleKey] {
        let read = keys.compactMap { key in
            (try? RSAPrivateKey(pem: key.pem)).map { GoogleKey(keyID: key.keyID, privateKey: $0) }
        }
        guard !read.isEmpty, read.count == keys.count else {
            throw GoogleEmulatorError(.stateFileDamaged, detail: "a key in it cannot be used")
        }
        return read
    }
}

/// The state file of the fake Google, with the errors of its control API.
struct GoogleFile: Sendable {
    private let file: StateFile<GoogleSnapshot>

    init(path: String) { file = StateFile(path: path, firstWords: "siwa fake Google state 1 ") }

    /// Throws `.stateFileUnwritable` while another process has the file.
    func lock() throws(GoogleEmulatorError) -> StateFileLock {
        do {
            return try file.lock()
        } catch {
            throw GoogleEmulatorError(error)
        }
    }

    /// Returns `nil` when there is no file. Throws `.stateFileDamaged`.
    func read() throws(GoogleEmulatorError) -> GoogleSnapshot? {
        do {
            return try file.read()
        } catch {
            throw GoogleEmulatorError(error)
        }
    }

    /// The state is durable when this returns. Throws `.stateFileUnwritable`.
    func write(_ snapshot: GoogleSnapshot) throws(GoogleEmulatorError) {
        do {
            try file.write(snapshot)
        } catch {
            throw GoogleEmulatorError(error)
        }
    }
}

extension GoogleEmulatorError {
    fileprivate init(_ error: StateFileError) {
        switch error.code {
        case .damaged: self.init(.stateFileDamaged, detail: error.detail)
        case .unwritable, .locked: self.init(.stateFileUnwritable, detail: error.detail)
        }
    }
}
