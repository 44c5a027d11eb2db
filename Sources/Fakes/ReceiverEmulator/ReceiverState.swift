public import EmulatorServer
import HTTPTypes
import ServiceLifecycle
import Synchronization

/// The state of the fake receivers. All methods are thread-safe.
public final class ReceiverState: Sendable {
    struct World {
        var sender = EventSender()
        var log = MessageLog()
        var faults: [EmulatedReceiver: ReceiverFault] = [:]
        /// Receiver URLs, set once the service is configured with them.
        var urls: [EmulatedReceiver: String] = [:]
        /// Number of requests to each receiver whose connection was closed without a response.
        var dropped: [EmulatedReceiver: Int] = [:]
        /// Number of requests that followed a redirect. The service must not follow redirects.
        var followed = 0
    }

    let checks: MessageChecks
    let hasTLS: Bool
    let clock: EmulatorClock
    private let world = Mutex(World())

    init(checks: MessageChecks, hasTLS: Bool, clock: EmulatorClock) {
        (self.checks, self.hasTLS, self.clock) = (checks, hasTLS, clock)
    }

    /// Reads or changes the whole state under one lock. `body` must be fast.
    func update<Result>(_ body: (inout sending World) -> sending Result) -> sending Result {
        world.withLock(body)
    }

    /// Sets the service that sends events, and the receiver URLs configured there. The service sends no
    /// events to receivers without a URL.
    public func connect(to sender: EventSender, urls: [EmulatedReceiver: String]) {
        update { ($0.sender, $0.urls) = (sender, urls) }
    }

    /// Fetches the service's keys in advance, so that its first token does not have to wait until the service
    /// has generated them.
    public func fetchKeys() async {
        guard let url = update({ $0.sender.keysURL }) else { return }
        _ = await checks.keys.key("", at: url)
    }

    /// The latest messages, oldest first.
    public var messages: [ReceivedMessage] { update { $0.log.messages } }

    /// The faults that are currently set.
    public var faults: [EmulatedReceiver: ReceiverFault] { update { $0.faults } }

    /// URLs of the receivers that the service sends events to.
    public var urls: [EmulatedReceiver: String] { update { $0.urls } }

    /// Sets a receiver's fault. Throws `.faultIneffective` for a certificate fault of a receiver without TLS.
    public func setFault(_ fault: ReceiverFault, of receiver: EmulatedReceiver) throws(EmulatorError) {
        let isSecure = hasTLS && update { $0.urls[receiver]?.hasPrefix("https:") ?? true }
        guard fault.kind != .wrongCertificate || isSecure else {
            throw EmulatorError(
                .faultIneffective, detail: "wrong_certificate is for a receiver with an https URL")
        }
        update { $0.faults[receiver] = fault }
    }

    /// Ends a fault, and makes the service send the waiting events immediately.
    public func recover(_ receiver: EmulatedReceiver) async {
        let sender = update { world in
            world.faults[receiver] = nil
            return world.sender
        }
        await sender.resume(receiver.rawValue)
    }

    /// Returns the fault that applies to the next request, if any, and counts the request.
    func takeFault(of receiver: EmulatedReceiver) -> ReceiverFault? {
        update { world in
            guard let fault = world.faults[receiver] else { return nil }
            if let remaining = fault.remainingRequests {
                world.faults[receiver]?.remainingRequests = remaining - 1
                if remaining <= 1 { world.faults[receiver] = nil }
            }
            return fault
        }
    }

    /// True while TLS connections must receive the wrong certificate. All receivers share one server.
    var showsWrongCertificate: Bool {
        update { world in world.faults.values.contains { $0.kind == .wrongCertificate } }
    }

    /// Waits out a fault's delay. A shutdown ends the wait.
    func wait(_ milliseconds: Int64) async {
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(milliseconds) }
    }
}

/// The receivers, one for each of the service's delivery methods. The raw value is the receiver's name, and
/// the last part of its URL.
public enum EmulatedReceiver: String, Sendable, CaseIterable {
    /// Receives webhooks in the Standard Webhooks format.
    case webhook
    /// Receives security event tokens by push (RFC 8935).
    case push

    /// Title on the page.
    var title: String {
        switch self {
        case .webhook: "Webhook"
        case .push: "Security event tokens"
        }
    }

    /// Response status for an accepted message (RFC 8935 §2.2).
    var takenStatus: Int {
        switch self {
        case .webhook: 204
        case .push: 202
        }
    }
}

/// Error codes of the fake receivers.
extension EmulatorError.Code {
    public static let receiverNotFound = Self("receiver_not_found", .notFound)
    /// The fault would have no effect, because there is no TLS server.
    public static let faultIneffective = Self("fault_ineffective", .conflict)

    static let ofReceivers = [receiverNotFound, faultIneffective]
}
