import Cryptography
import Encodings
import Foundation
import HTTPTypes
package import Hummingbird
package import Logging

/// The file that keeps an emulator's state across restarts: one line with the SHA-256 of the JSON, followed
/// by the JSON.
///
/// Each write replaces the file atomically, so a crash leaves either the old or the new state. Only its owner
/// can read it, because it contains the emulator's private keys and tokens.
package struct StateFile<Snapshot: Codable>: Sendable {
    let path: String
    /// Start of the first line, which names the emulator that wrote the file, and the format.
    private let firstWords: String

    package init(path: String, firstWords: String) {
        (self.path, self.firstWords) = (path, firstWords)
    }

    /// Locks the file against other processes, from before the first read until the last write. Throws
    /// `.stateFileUnwritable` while another process has locked it.
    package func lock() throws(EmulatorError) -> StateFileLock {
        try StateFileLock(beside: path)
    }

    /// Reads the state. Returns `nil` if there is no file. Throws `.stateFileDamaged` if the file is
    /// incomplete or was not written by this emulator.
    package func read() throws(EmulatorError) -> Snapshot? {
        let content: [UInt8]
        do {
            content = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw EmulatorError(.stateFileDamaged, detail: "\(path) cannot be read")
        }
        let head = content.prefix { $0 != UInt8(ascii: "\n") }
        let body = Array(content.dropFirst(head.count + 1))
        guard Array(head) == self.head(of: body) else {
            throw EmulatorError(
                .stateFileDamaged,
                detail:
                    "\(path) is damaged, or not a state file of this emulator; remove it to start with an empty state"
            )
        }
        do {
            return try JSONDecoder().decode(Snapshot.self, from: Data(body))
        } catch {
            throw EmulatorError(
                .stateFileDamaged,
                detail: "\(path) was written by another version; remove it to start with an empty state")
        }
    }

    /// Writes the state durably. Throws `.stateFileUnwritable` if that fails.
    package func write(_ snapshot: Snapshot) throws(EmulatorError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let newPath = "\(path).new"
        do {
            let body = Array(try encoder.encode(snapshot))
            // A file left by a crash is removed instead of reused, because other users may be able to read
            // it, or it may be a link.
            unlink(newPath)
            try PrivateFile.make(at: newPath, content: Data(head(of: body) + [UInt8(ascii: "\n")] + body))
        } catch {
            throw EmulatorError(.stateFileUnwritable, detail: path)
        }
        guard rename(newPath, path) == 0 else { throw EmulatorError(.stateFileUnwritable, detail: path) }
    }

    private func head(of body: [UInt8]) -> [UInt8] {
        Array((firstWords + Hexadecimal.encode(SHA256Digest.hash(body))).utf8)
    }
}

/// Writes a state file, one write at a time. Callers that arrive during a write share the next write.
package actor StateSaver {
    private let write: @Sendable () async throws -> Void
    private let logger: Logger
    private var running: Task<Void, any Error>?
    private var next: Task<Void, any Error>?

    /// - Parameter write: Function that writes the current state.
    package init(logger: Logger, write: @escaping @Sendable () async throws -> Void) {
        (self.logger, self.write) = (logger, write)
    }

    /// Saves the state. When it returns, the file contains all changes made before the call. Throws the error
    /// if the write fails.
    package func save() async throws {
        if let next { return try await next.value }
        // The task is unstructured, because cancelling one caller must not cancel the write for other
        // callers.
        let task = Task {
            // The previous write reports its errors to its own callers.
            _ = try? await running?.value
            try await writeOnce()
        }
        next = task
        try await task.value
    }

    private func writeOnce() async throws {
        // Later changes may miss this write, so their callers must wait for the next write.
        (running, next) = (next, nil)
        do {
            try await write()
        } catch {
            logger.error("the state file cannot be written", metadata: ["error": "\(error)"])
            throw error
        }
    }
}

/// Holds back responses until the state is in the file, so that they remain true after a crash.
package struct SavingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let saver: StateSaver
    private let changingPaths: [String]

    /// - Parameter changingPaths: Path prefixes of GET requests that change the saved state.
    package init(saver: StateSaver, changingPaths: [String]) {
        (self.saver, self.changingPaths) = (saver, changingPaths)
    }

    package func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard changes(request) else { return try await next(request, context) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            // The state may have changed although the request failed: the connection may have been cut
            // afterwards, or a link may have ended because the response at a redirect URI was refused.
            try await saver.save()
            throw error
        }
        try await saver.save()
        return response
    }

    private func changes(_ request: Request) -> Bool {
        guard request.method == .get || request.method == .head else { return true }
        return changingPaths.contains { request.uri.path.hasPrefix($0) }
    }
}
