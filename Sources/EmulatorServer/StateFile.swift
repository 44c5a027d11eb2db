import Cryptography
import Encodings
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file that keeps an emulator's state across restarts: one line with the SHA-256 of the rest, then JSON.
///
/// It is replaced atomically, so that a crash leaves the old or the new state. Only its owner can read it,
/// because it contains private keys and tokens, although only of the emulator.
package struct StateFile<Snapshot: Codable>: Sendable {
    let path: String
    /// Of the first line: which emulator wrote the file, and in which format.
    private let firstWords: String

    package init(path: String, firstWords: String) {
        (self.path, self.firstWords) = (path, firstWords)
    }

    /// Keeps other processes away from the file, from before it is read until the state is written for the
    /// last time. Throws `.locked`.
    package func lock() throws(StateFileError) -> StateFileLock {
        try StateFileLock(beside: path)
    }

    /// Returns `nil` when there is no file. Throws `.damaged` for a file that is incomplete or not written by
    /// this emulator.
    package func read() throws(StateFileError) -> Snapshot? {
        let content: [UInt8]
        do {
            content = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw StateFileError(.damaged, detail: "\(path) cannot be read")
        }
        let head = content.prefix { $0 != UInt8(ascii: "\n") }
        let body = Array(content.dropFirst(head.count + 1))
        guard Array(head) == self.head(of: body) else {
            throw StateFileError(
                .damaged,
                detail:
                    "\(path) is damaged, or not a state file of this emulator; remove it to start with an empty state"
            )
        }
        do {
            return try JSONDecoder().decode(Snapshot.self, from: Data(body))
        } catch {
            throw StateFileError(
                .damaged,
                detail: "\(path) was written by another version; remove it to start with an empty state")
        }
    }

    /// The state is durable when this returns. Throws `.unwritable`.
    package func write(_ snapshot: Snapshot) throws(StateFileError) {
        let refusal = StateFileError(.unwritable, detail: path)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let body = try? Array(encoder.encode(snapshot)) else { throw refusal }
        let content = head(of: body) + [UInt8(ascii: "\n")] + body
        let newPath = "\(path).new"
        // A file that a crash has left is removed and not written to: it may be readable by others, or be a
        // link.
        unlink(newPath)
        let file = open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw refusal }
        let isWritten = content.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Self.write(file, rest)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return fsync(file) == 0
        }
        guard close(file) == 0, isWritten, rename(newPath, path) == 0 else { throw refusal }
    }

    private static func write(_ file: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        let part = UnsafeRawBufferPointer(rebasing: bytes)
        #if canImport(Glibc)
            return Glibc.write(file, part.baseAddress, part.count)
        #elseif canImport(Musl)
            return Musl.write(file, part.baseAddress, part.count)
        #else
            return Darwin.write(file, part.baseAddress, part.count)
        #endif
    }

    private func head(of body: [UInt8]) -> [UInt8] {
        Array((firstWords + Hexadecimal.encode(SHA256Digest.hash(body))).utf8)
    }
}

/// Why a state file cannot be used.
package struct StateFileError: Error, CustomStringConvertible {
    package enum Code: Sendable {
        /// It is incomplete, or was not written by this emulator.
        case damaged
        case unwritable
        /// Another process has it.
        case locked
    }

    package let code: Code
    /// Names the file, and says what to do.
    package let detail: String

    init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }

    package var description: String { detail }
}
