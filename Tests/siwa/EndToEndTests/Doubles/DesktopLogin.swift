import Foundation
import TestSupport
import Testing

/// `siwa login` in a terminal of its own, with a browser that hands the URL to the test.
struct DesktopLogin: Sendable {
    let directory: TemporaryDirectory
    private let opened: String

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        opened = directory.path(of: "opened")
        let program = directory.path(of: "browser")
        try "#!/bin/sh\nprintf '%s' \"$1\" > '\(opened).part' && mv '\(opened).part' '\(opened)'\n".write(
            toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    }

    /// Runs a command line that begins with `siwa`, and returns its output.
    ///
    /// - Parameters:
    ///   - isDevice: True if the command opens no URL, and prints one with a code.
    ///   - browse: Function that receives the URL.
    func run(
        _ line: Substring, isDevice: Bool = false, _ browse: ((String) async throws -> Void)? = nil
    ) async throws -> (status: Int32, printed: String) {
        let files = ["output", "error"].map { kind in
            URL(fileURLWithPath: directory.path(of: "login-\(UUID().uuidString).\(kind)"))
        }
        let process = try ServiceProcess.start(
            line.split(separator: " ").dropFirst().map(String.init),
            [
                "PATH": "/usr/bin:/bin", "HOME": directory.path, "BROWSER": directory.path(of: "browser"),
            ], in: directory, output: files[0], error: files[1])
        defer { if process.isRunning { process.terminate() } }
        if let browse {
            if isDevice {
                try await browse(try await printedURL(in: files[0]))
            } else {
                try await eventually { FileManager.default.fileExists(atPath: opened) }
                let url = try String(contentsOfFile: opened, encoding: .utf8)
                try FileManager.default.removeItem(atPath: opened)
                try await browse(url)
            }
        }
        try await eventually { !process.isRunning }
        let printed = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        return (process.terminationStatus, printed.joined())
    }

    /// Waits for the URL with the code of a device.
    private func printedURL(in output: URL) async throws -> String {
        func url() throws -> String? {
            try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
                .first { $0.contains("?user_code=") && $0.hasPrefix("  ") }
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        try await eventually { try url() != nil }
        return try #require(try url())
    }

    /// The kept tokens, as text.
    func kept(in printed: String) throws -> String {
        let line = try #require(printed.split(separator: "\n").first { $0.hasPrefix("  file ") })
        let path = line.dropFirst(6).trimmingCharacters(in: .whitespaces)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        return try String(contentsOfFile: path, encoding: .utf8)
    }
}
