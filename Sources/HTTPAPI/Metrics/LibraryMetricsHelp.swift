/// What the metrics mean that are counted through swift-metrics, which has no place for that.
enum LibraryMetricsHelp {
    static func text(for name: String) -> String {
        texts[name] ?? "Counted by a library; its documentation says what."
    }

    private static let texts = [
        "siwa_storage_commits_total": "Transactions of the group commit by result.",
        "siwa_storage_commands_total": "Commands in these transactions by result.",
        "siwa_storage_commit_seconds": "From the beginning of a transaction to its commit.",
        "siwa_apple_checks_total": "Daily checks of refresh tokens at Apple by result.",
        "siwa_apple_exchanges_total": "Exchanges of authorization codes at Apple by result.",
        "siwa_apple_revocations_total": "Revocations of erased accounts' tokens at Apple by result.",
    ]
}
