import AppleAccounts

/// Counts Apple's notifications by result.
struct NotificationMetrics: Sendable {
    private let cells: [NotificationReceipt: CounterCell]

    init(_ registry: MetricsRegistry) {
        cells = Dictionary(
            uniqueKeysWithValues: NotificationReceipt.allCases.map { receipt in
                let cell = registry.counter(
                    "siwa_notifications_total", [("result", receipt.rawValue)],
                    help: "Verified notifications by result.")
                return (receipt, cell)
            })
    }

    func count(_ receipt: NotificationReceipt) {
        cells[receipt]?.increment(by: 1)
    }
}
