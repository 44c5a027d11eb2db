import AppleAccounts
import Console
import Metrics
import SignIn

/// Shows in the metrics if the database accepts commands, and the standbys that its commits wait for.
struct DatabaseGauges: Sendable {
    private struct Standbys: Sendable {
        let required: Meter
        let connected: Meter
        let watched: Watched<StandbyCondition?>
    }

    /// Age from which a number about standbys is unknown. It outlasts the time for which commits that wait for
    /// a lost standby keep all connections from a read.
    static let longestAge = Duration.seconds(120)

    private let isReady: Meter
    /// `nil` on SQLite.
    private let standbys: Standbys?

    /// - Parameter standbys: The same that the console reads; `nil` on SQLite.
    init(standbys: Watched<StandbyCondition?>?, factory: any MetricsFactory = MetricsSystem.factory) {
        func meter(_ name: String, _ help: String) -> Meter {
            (factory as? any DescribedMetricsFactory)?.describeMeter(name, help: help)
            return Meter(label: name, factory: factory)
        }
        isReady = meter("siwa_database_ready", "1 while the database accepts commands.")
        // The database was opened and read.
        isReady.set(1 as Int64)
        self.standbys = standbys.map { watched in
            Standbys(
                required: meter(
                    "siwa_database_standbys_required", "Standbys that a commit on PostgreSQL waits for."),
                connected: meter(
                    "siwa_database_standbys_connected", "Standbys of PostgreSQL that are connected."),
                watched: watched)
        }
        showStandbys()
    }

    /// - Parameter failure: The failure of the last health check.
    func show(_ failure: StorageError?) {
        isReady.set(failure == nil ? 1 : 0 as Int64)
        showStandbys()
    }

    private func showStandbys() {
        guard let standbys else { return }
        let condition = standbys.watched.latest(within: Self.longestAge).flatMap { $0 }
        standbys.required.set(condition.map { Double($0.required) } ?? .nan)
        standbys.connected.set(condition.map { Double($0.connected) } ?? .nan)
    }
}
