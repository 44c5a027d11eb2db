import Foundation
import TestSupport
import Testing

/// `siwa dev` as a process of its own.
struct DevelopmentProcess: Sendable {
    let port: Int
    let applePort: Int
    let googlePort: Int
    let receiverPort: Int

    /// Runs `siwa dev` with a port of the service that is known in advance, as sign-in on the web needs.
    ///
    /// - Parameter port: Port of the service; `nil` for a free port.
    static func with<Result>(
        _ options: [String] = [], port fixed: Int? = nil, in directory: TemporaryDirectory,
        _ body: (DevelopmentProcess) async throws -> Result
    ) async throws -> Result {
        let servicePort = try fixed ?? FreePort.find()
        let printed = URL(fileURLWithPath: "\(directory.path)/printed-\(UUID().uuidString).txt")
        let process = try ServiceProcess.start(
            ["dev", "--port", "\(servicePort)", "--emulator-port", "0"] + options,
            ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: printed,
            error: URL(fileURLWithPath: "\(directory.path)/dev.log"))
        return try await ServiceProcess.stopping(process) {
            try await eventually { try String(contentsOf: printed, encoding: .utf8).contains("Ctrl-C") }
            let text = try String(contentsOf: printed, encoding: .utf8)
            func port(after mark: String) -> Int {
                let digits = text.firstRange(of: mark).map { text[$0.upperBound...].prefix { $0.isNumber } }
                return digits.flatMap { Int($0) } ?? 0
            }
            return try await body(
                DevelopmentProcess(
                    port: servicePort, applePort: port(after: "fake Apple http://127.0.0.1:"),
                    googlePort: port(after: "fake Google http://127.0.0.1:"),
                    receiverPort: port(after: "receivers  http://127.0.0.1:")))
        }
    }
}
