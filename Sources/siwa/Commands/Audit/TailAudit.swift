import AppleAccounts
import ArgumentParser
import Foundation

/// `siwa audit tail`
struct TailAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the newest rows of the audit log, the oldest of them first.")

    @Option(name: .shortAndLong, help: "The number of rows, 1,000 at most.")
    var lines = 10

    @Flag(name: .shortAndLong, help: "Go on with new rows until the command is interrupted.")
    var follow = false

    func validate() throws {
        guard (0...1000).contains(lines) else { throw ValidationError("--lines must be 0 to 1000.") }
    }

    func run() async throws {
        try await Audit.reading { inspection, _ in
            var last = try await inspection.auditChain().head.sequence
            let newest = try await inspection.auditRows(before: last + 1, of: nil, limit: max(lines, 1))
            try Self.write(newest.prefix(lines).reversed())
            guard follow else { return }
            while !Task.isCancelled {
                let rows = try await inspection.auditRows(after: last, limit: 1000)
                try Self.write(rows)
                last = rows.last?.sequence ?? last
                if rows.isEmpty { try await Task.sleep(for: .milliseconds(500)) }
            }
        }
    }

    /// Writes at once: `print` would keep lines back from a file or a pipe.
    private static func write(_ rows: some Sequence<AuditRow>) throws {
        let text = rows.map { $0.line + "\n" }.joined()
        if !text.isEmpty { try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
    }
}
