public import Foundation

/// Keeps the logs of the services that tests start, in the folder that `SIWA_TEST_LOGS` names, for `scripts/scan-logs`.
/// Without the variable nothing is kept.
public enum KeptLogs {
    public static let variable = "SIWA_TEST_LOGS"

    private static var folder: URL? {
        guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Makes an empty file for the log of a process. Where logs are kept, `place` becomes a link to it.
    public static func makeFile(at place: URL) throws {
        guard let folder else {
            _ = FileManager.default.createFile(atPath: place.path, contents: nil)
            return
        }
        let kept = try newFile(in: folder)
        _ = FileManager.default.createFile(atPath: kept.path, contents: nil)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: kept)
    }

    /// Keeps the log of a service in this process.
    public static func keep(_ text: String) throws {
        guard let folder, !text.isEmpty else { return }
        try Data(text.utf8).write(to: newFile(in: folder))
    }

    private static func newFile(in folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("\(UUID().uuidString).log")
    }
}
