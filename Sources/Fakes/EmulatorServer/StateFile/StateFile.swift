import Cryptography
import Encodings
import Foundation
import HTTPTypes
package import Hummingbird
package import Logging

/// The file that stores an emulator's state across restarts: a line with the SHA-256 of the JSON, followed by
/// the JSON.
///
/// Each write replaces the file atomically, so that a crash leaves the old or the new state. Only its owner
/// can read it, because it contains private keys and tokens, although only of the emulator.
package struct StateFile<Snapshot: Codable>: Sendable {
    let path: String
    /// Start of the first line: the emulator that wrote the file, and the format.
    private let firstWords: String

    package init(path: String, firstWords: String) {
        (self.path, self.firstWords) = (path, firstWords)
    }

    /// Excludes other processes from the file, from before the first read until the last write. Throws
    /// `.stateFileUnwritable` while another process has locked the file.
    package func lock() throws(EmulatorError) -> StateFileLock {
        try StateFileLock(beside: path)
    }

    /// Reads the state. Returns `nil` if there is no file. Throws `.stateFileDamaged` for a file that is
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

    /// Writes the state. It is durable when the call returns. Throws `.stateFileUnwritable`.
    package func write(_ snapshot: Snapshot) throws(EmulatorError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let newPath = "\(path).new"
        do {
            let body = Array(try encoder.encode(snapshot))
            // Removes a file that a crash has left, instead of reusing it: other users may be able to read
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

/// Writes a state file, with one write at a time. Callers that arrive during a write share the next write.
package actor StateSaver {
    private let write: @Sendable () throws -> Void
    private let logger: Logger
    private var running: Task<Void, any Error>?
    private var next: Task<Void, any Error>?

    /// - Parameter write: Writes the current state.
    package init(logger: Logger, write: @escaping @Sendable () throws -> Void) {
        (self.logger, self.write) = (logger, write)
    }

    /// Saves the state. All changes before the call are in the file when it returns. Throws the error of the
    /// write.
    package func save() async throws {
        if let next { return try await next.value }
        // The task is unstructured, because the cancellation of one caller must not cancel the write for
        // other callers.
        let task = Task {
            // The previous write reports its errors to its own callers.
            _ = try? await running?.value
            try writeOnce()
        }
        next = task
        try await task.value
    }

    private func writeOnce() throws {
        // This write may not include later changes.
        (running, next) = (next, nil)
        do {
            try write()
        } catch {
            logger.error("the state file cannot be written", metadata: ["error": "\(error)"])
            throw error
        }
    }
}

/// Sends responses only after the state is in the file, so that they remain true after a crash.
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
