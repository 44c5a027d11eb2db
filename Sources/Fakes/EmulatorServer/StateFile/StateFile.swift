import Cryptography
import Encodings
import Foundation

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
