import Foundation
import JOSE
import Testing

/// `siwa dev` prints lines to paste. Here they are pasted.
@Suite struct WalkthroughTests {
    @Test func `the printed walk-through works line by line`() async throws {
        try await TemporaryDirectory.with { directory in
            let printed = URL(fileURLWithPath: "\(directory.path)/printed.txt")
            let log = URL(fileURLWithPath: "\(directory.path)/log.txt")
            let process = try ServiceProcess.start(
                ["dev", "--port", "0", "--emulator-port", "0"],
                ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path],
                in: directory, output: printed, error: log)
            defer { process.terminate() }
            try await eventually {
                try String(contentsOf: printed, encoding: .utf8).contains("Everything that happened")
            }
            // All of it was written at once.
            let lines = try String(contentsOf: printed, encoding: .utf8).split(separator: "\n").filter {
                line in
                line.hasPrefix("#") || line.hasPrefix("curl") || line.contains("=")
            }
            let answers = try await Self.paste(lines.joined(separator: "\n"), in: directory)
            let json = answers.compactMap {
                try? JSONValue(parsing: Array($0.utf8), limits: JSONLimits(depth: 8, members: 64))
            }
            let signedIn = json.first { $0["account"] != nil }
            #expect(signedIn?["is_new_account"]?.bool == true)
            #expect(json.compactMap { $0["state"]?.string } == ["authorized", "revoked"])
            #expect(json.contains { $0["code"]?.string == "credential_revoked" })
            #expect(json.last?["events"]?.array?.count == 3)
            #expect(!answers.contains { $0.contains("rror:") })
        }
    }

    /// The lines that the shell answers.
    private static func paste(_ script: String, in directory: TemporaryDirectory) async throws -> [Substring]
    {
        let output = URL(fileURLWithPath: "\(directory.path)/pasted.txt")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.standardInput = FileHandle.nullDevice
        let handle = try FileHandle(forWritingTo: output)
        shell.standardOutput = handle
        shell.standardError = handle
        try shell.run()
        while shell.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        return try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
    }
}
