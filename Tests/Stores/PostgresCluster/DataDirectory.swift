import TestSupport

/// A data directory made by `initdb`. Each cluster starts on a copy, because `initdb` takes ten times as
/// long.
struct DataDirectory: Sendable {
    let path: String
    /// Removes the directory when this process has ended.
    private let watchdog: Watchdog

    /// The data directory of this process, made on first use.
    static let template = Task { try await make() }

    private static func make() async throws -> DataDirectory {
        let directory = try PostgresCluster.makeDirectory()
        let watchdog = try Watchdog(directory: directory)
        try await Command(
            path: ServerPrograms.path("initdb"),
            arguments: [
                "--pgdata=\(directory)/data", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C", "--no-sync", "--no-instructions",
            ], asServer: true
        ).run()
        return DataDirectory(path: "\(directory)/data", watchdog: watchdog)
    }
}
