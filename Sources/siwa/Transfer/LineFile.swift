import Foundation
import StrictJSON

/// A file of JSON objects, one on each line, to which lines are added as work gets done. Only its owner may read it: it
/// holds personal data.
final class LineFile {
    struct Unusable: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) \(reason)" }
    }

    let path: String
    private let handle: FileHandle

    /// Opens or makes it, and cuts off a last line that a crash has left half written. Throws `Unusable`.
    init(appendingTo path: String) throws {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unusable(path: path, reason: "cannot be written") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let content = try handle.readToEnd() ?? Data()
        let whole = content.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < content.count { try handle.truncate(atOffset: UInt64(whole)) }
    }

    /// Durable when it returns.
    func append(_ lines: [JSONObject]) throws {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        for line in lines { bytes += JSONValue.object(line).serialized() + [UInt8(ascii: "\n")] }
        try handle.write(contentsOf: Data(bytes))
        try handle.synchronize()
    }

    /// The whole lines of a file; none when there is no file. Throws `Unusable` for a line that is no JSON object.
    static func read(_ path: String) throws(Unusable) -> [JSONObject] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try numberedLines(of: path).map(\.object)
    }

    /// The lines of a file, as editors count them, without those that are blank. They may end as on Windows.
    ///
    /// - Parameter isEnded: Nobody is adding to it any more. Then a last line without its end is not what a crash has left
    ///   half written: it counts when it is whole, and otherwise the file was cut off.
    /// - Throws: `Unusable` for a line that is no JSON object.
    static func numberedLines(
        of path: String, isEnded: Bool = false
    ) throws(Unusable) -> [(number: Int, object: JSONObject)] {
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Unusable(path: path, reason: "cannot be read")
        }
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // What is behind the last end of a line.
        let rest = lines.popLast() ?? Data()
        let isCutOff = isEnded && !isBlank(rest)
        if isCutOff { lines.append(rest) }
        var objects: [(number: Int, object: JSONObject)] = []
        for (index, line) in lines.enumerated() where !isBlank(line) {
            guard let object = try? JSONValue(parsing: Array(line)).object else {
                throw Unusable(
                    path: path,
                    reason: isCutOff && index == lines.count - 1
                        ? "was cut off in line \(index + 1); copy or prepare it again"
                        : "has a line \(index + 1) that is no JSON object")
            }
            objects.append((index + 1, object))
        }
        return objects
    }

    private static func isBlank(_ line: Data) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }

    /// Puts these lines in the place of the file, or takes the file away when there are none.
    static func replace(_ path: String, with lines: [JSONObject]) throws {
        try? FileManager.default.removeItem(atPath: path)
        if !lines.isEmpty { try LineFile(appendingTo: path).append(lines) }
    }
}
