import AppleAccounts
import Testing

@testable import HTTPAPI

@Suite struct NotificationMetricsTests {
    @Test(arguments: [
        (NotificationReceipt.applied, 1), (.unchanged, 0), (.duplicate, 0), (.unknownType, 0),
    ])
    func `a revocation counts once, if it revoked a credential`(receipt: NotificationReceipt, count: Double) {
        let registry = MetricsRegistry()
        let metrics = NotificationMetrics(registry, last: LastNotification(Moment(milliseconds: 0))) { 0 }
        metrics.count(receipt, [.consentRevoked, .unknown])
        let readings = registry.readings(of: "siwa_apple_notified_revocations_total")
        #expect(readings.map(\.value) == [count])
    }
}
