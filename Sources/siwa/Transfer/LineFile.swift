import Foundation
import StrictJSON

/// A file of JSON objects, one per line, to which lines are appended as work is done. Only its owner can read
/// it, because it holds personal data.
final class LineFile {
    struct Unusable: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) \(reason)" }
    }

    let path: String
    private let handle: FileHandle

    /// Opens or creates the file, and removes an incomplete last line that a crash has left. Throws
    /// `Unusable`.
    init(appendingTo path: String) throws {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unusable(path: path, reason: "cannot be written") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let content = try handle.readToEnd() ?? Data()
        let whole = content.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < content.count { try handle.truncate(atOffset: UInt64(whole)) }
    }

    /// Appends lines. They are durable when this returns.
    func append(_ lines: [JSONObject]) throws {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        for line in lines { bytes += JSONValue.object(line).serialized() + [UInt8(ascii: "\n")] }
        try handle.write(contentsOf: Data(bytes))
        try handle.synchronize()
    }

    /// Returns the complete lines of a file, and no lines when there is no file. Throws `Unusable` for a line
    /// that is not a JSON object.
    static func read(_ path: String) throws(Unusable) -> [JSONObject] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try numberedLines(of: path).map(\.object)
    }

    /// Returns the lines of a file with their numbers, without blank lines. Windows line ends are accepted.
    ///
    /// - Parameter isEnded: The file is complete. Then a last line without a line end is not ignored as the
    ///   remainder of a crash: it is read when it is valid, and otherwise the file was truncated.
    /// - Throws: `Unusable` for a line that is not a JSON object.
    static func numberedLines(
        of path: String, isEnded: Bool = false
    ) throws(Unusable) -> [(number: Int, object: JSONObject)] {
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Unusable(path: path, reason: "cannot be read")
        }
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The text after the last line end.
        let rest = lines.popLast() ?? Data()
        let isCutOff = isEnded && !isBlank(rest)
        if isCutOff { lines.append(rest) }
        var objects: [(number: Int, object: JSONObject)] = []
        for (index, line) in lines.enumerated() where !isBlank(line) {
            guard let object = try? JSONValue(parsing: Array(line)).object else {
                throw Unusable(
                    path: path,
                    reason: isCutOff && index == lines.count - 1
                        ? "is truncated in line \(index + 1); copy it again or prepare it again"
                        : "has a line \(index + 1) that is not a JSON object")
            }
            objects.append((index + 1, object))
        }
        return objects
    }

    private static func isBlank(_ line: Data) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }

    /// Replaces the file with these lines, or removes it when there are none.
    static func replace(_ path: String, with lines: [JSONObject]) throws {
        try? FileManager.default.removeItem(atPath: path)
        if !lines.isEmpty { try LineFile(appendingTo: path).append(lines) }
    }
}
