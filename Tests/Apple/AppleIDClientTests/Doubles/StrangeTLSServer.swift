import Foundation
import Synchronization
import TestSupport
import Testing

/// `openssl s_server` on a free port, with a self-signed certificate.
final class StrangeTLSServer {
    let port: Int
    private let process = Process()
    private let directory: TemporaryDirectory
    private let output = Output()

    /// Its output, which contains the TLS alerts of clients.
    var text: String { output.text.withLock { $0 } }

    init() async throws {
        directory = try TemporaryDirectory()
        let (key, certificate) = (directory.path(of: "key.pem"), directory.path(of: "certificate.pem"))
        let making = try await ProgramRun.named(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-keyout", key,
                "-out", certificate,
            ])
        #expect(making.status == 0, "\(making.output)")
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "0", "-key", key, "-cert", certificate, "-www",
        ]
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.launchAlone()
        var said = ""
        var found: Int?
        while found == nil {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            said += String(decoding: data, as: UTF8.self)
            let line = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first { $0.hasPrefix("ACCEPT") }
            found = line?.split(separator: ":").last.flatMap { Int($0) }
        }
        port = try #require(found, "openssl s_server said: \(said)")
        let output = self.output
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
            } else {
                output.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
            }
        }
    }

    private final class Output: Sendable {
        let text = Mutex("")
    }

    deinit {
        // Not SIGTERM: the process inherits the ignored SIGTERM of the services under test.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
