import Cryptography
import Encodings
import Foundation
import HTTPTypes
package import Hummingbird
package import Logging

/// The file that keeps an emulator's state across restarts: a line with the SHA-256 of the JSON, then the
/// JSON.
///
/// The file is replaced atomically, so that a crash leaves the old or the new state. Only its owner can read
/// it, because it contains private keys and tokens, although only of the emulator.
package struct StateFile<Snapshot: Codable>: Sendable {
    let path: String
    /// Beginning of the first line: the emulator that wrote the file, and the format.
    private let firstWords: String

    package init(path: String, firstWords: String) {
        (self.path, self.firstWords) = (path, firstWords)
    }

    /// Keeps other processes away from the file, from before it is read until the state is written for the
    /// last time. Throws `.stateFileUnwritable` while another process has it.
    package func lock() throws(EmulatorError) -> StateFileLock {
        try StateFileLock(beside: path)
    }

    /// Returns `nil` when there is no file. Throws `.stateFileDamaged` for a file that is incomplete or not written by
    /// this emulator.
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

    /// The state is durable when this returns. Throws `.stateFileUnwritable`.
    package func write(_ snapshot: Snapshot) throws(EmulatorError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let newPath = "\(path).new"
        do {
            let body = Array(try encoder.encode(snapshot))
            // A file that a crash has left is removed, not reused: other users may be able to read it, or it
            // may be a link.
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

/// Sends responses only after the state is in the file, so that they are still true after a crash.
package struct SavingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let saver: StateSaver
    private let changingPaths: [String]

    /// - Parameter changingPaths: Prefixes of the paths whose GET requests change the saved state.
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
            // The state may have changed although the request failed: the connection was cut afterwards, or
            // the response at a redirect URI was refused and ended a link.
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
