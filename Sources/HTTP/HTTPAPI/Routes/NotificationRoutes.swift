public import AppleAccounts
import AppleIdentity
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON
import Synchronization

/// The route that receives Apple's notifications.
final class NotificationRoutes: Sendable {
    let useCases: SignInUseCases
    private let verifications: VerificationMetrics
    private let receipts: NotificationMetrics
    private let arrivals: ArrivalLog?

    init(
        useCases: SignInUseCases, verifications: VerificationMetrics, receipts: NotificationMetrics,
        arrivals: ArrivalLog?
    ) {
        (self.useCases, self.verifications, self.receipts) = (useCases, verifications, receipts)
        self.arrivals = arrivals
    }

    /// Handles `POST /v1/apple/notifications`.
    ///
    /// Responds only after the notification has been committed to the database.
    func receive(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let payload = try AppleNotification(parsing: request.body).payload
        let requestID = request.requestID
        let notification = try arrivals.watching(.apple, token: payload, requestID: requestID) {
            try verifications.counting(.notification, in: request.trace) {
                try useCases.receiveNotification(payload: payload)
            }
        }
        return notification.map { [receipts, arrivals] notified in
            receipts.count(notified.receipt, notified.changes)
            if notified.receipt == .duplicate {
                arrivals?.note(
                    .apple, notified.receipt.rawValue, isRefused: false, token: payload, requestID: requestID)
            }
            return .json(.ok, notified.receipt)
        }
    }
}

/// Counts Apple's notifications by result, and measures the time since the last notification.
struct NotificationMetrics: Sendable {
    private let counters: CaseCounters<NotificationReceipt>
    private let events: CaseCounters<AppleEventKind>
    private let revocations: CounterCell
    private let last: LastNotification
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - last: The time of the last notification received by any replica.
    ///   - now: Returns the current time in milliseconds since 1970.
    init(_ registry: MetricsRegistry, last: LastNotification, now: @escaping @Sendable () -> Int64) {
        (self.last, self.now) = (last, now)
        let age = registry.gauge(
            "siwa_notification_age_seconds",
            help: "Since the last verified notification of Apple's, or since the first start without any.")
        // Prevents a negative age after the clock was set back.
        registry.beforeReading { age.set(max(0, now() - last.moment.milliseconds) / 1000) }
        counters = CaseCounters(registry)
        events = CaseCounters(registry)
        revocations = registry.counter(
            "siwa_apple_notified_revocations_total",
            help: "Events of Apple's notifications that revoked a credential.")
    }

    /// - Parameter changes: The changes that the notification requests.
    func count(_ receipt: NotificationReceipt, _ changes: [NotifiedEvent.Change]) {
        counters.count(receipt)
        last.note(Moment(milliseconds: now()))
        // A repeated notification changes nothing, so its events are not counted again.
        guard receipt != .duplicate else { return }
        for change in changes {
            let kind = AppleEventKind(change)
            events.count(kind)
            // A notification counts as a revocation only if it was applied. A late notification does not
            // count, nor does a notification of a change that a daily check has already found.
            if receipt == .applied, kind.isRevocation { revocations.increment(by: 1) }
        }
    }
}

/// The kind of event in a notification from Apple, used as a metric label.
enum AppleEventKind: String, CountedCase {
    static let series = CountedSeries(
        "siwa_apple_events_total", label: "kind", help: "Events of Apple's notifications by kind.")

    /// The user has stopped using the app.
    case consentRevoked = "consent_revoked"
    /// The user has deleted the account at Apple.
    case accountDeleted = "account_deleted"
    case emailForwarding = "email_forwarding"
    case unknown

    var isRevocation: Bool {
        switch self {
        case .consentRevoked, .accountDeleted: true
        case .emailForwarding, .unknown: false
        }
    }

    init(_ change: NotifiedEvent.Change) {
        switch change {
        case .consentRevoked: self = .consentRevoked
        case .appleAccountDeleted: self = .accountDeleted
        case .emailForwarding: self = .emailForwarding
        case .unknown: self = .unknown
        }
    }
}

extension NotificationReceipt: CountedCase {
    static let series = CountedSeries(
        "siwa_notifications_total", label: "result", help: "Verified notifications by result.")
}

/// Time of the last verified notification from Apple that is known to this process. The process gets the time
/// from its own requests, and from the database for other replicas and earlier processes.
public final class LastNotification: Sendable {
    private let milliseconds: Atomic<Int64>

    /// - Parameter moment: Time of the last notification. Before the first notification, the time at which
    ///   the service could first receive one.
    public init(_ moment: Moment) {
        milliseconds = Atomic(moment.milliseconds)
    }

    public var moment: Moment { Moment(milliseconds: milliseconds.load(ordering: .relaxed)) }

    /// Updates the time. Ignores an earlier time.
    public func note(_ moment: Moment) {
        milliseconds.max(moment.milliseconds, ordering: .relaxed)
    }
}
