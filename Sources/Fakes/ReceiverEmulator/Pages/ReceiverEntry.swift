/// One receiver on the page: its URL, what the service says about it, and its faults.
struct ReceiverEntry {
    private struct Option {
        let kind: String
        let name: String
        let isChosen: Bool
    }

    private let id: String
    private let title: String
    /// `nil` when the service sends nothing to it.
    private let url: String?
    private let checks: String
    private let status: String?
    private let fault: String?
    /// Connections without an answer; `nil` for none.
    private let dropped: Int?
    private let options: [Option]
    private let seconds: Int64
    private let shortest = ReceiverFault.delays.lowerBound
    private let longest = ReceiverFault.delays.upperBound

    init(_ receiver: EmulatedReceiver, in world: ReceiverState.World, status: String?) {
        (id, title, self.status) = (receiver.rawValue, receiver.title, status)
        (url, checks) = (world.urls[receiver], Self.checks(of: receiver))
        let fault = world.faults[receiver]
        (self.fault, seconds) = (fault?.words, (fault ?? ReceiverFault(.slow)).seconds)
        dropped = world.dropped[receiver].flatMap { $0 > 0 ? $0 : nil }
        let isSecure = url?.hasPrefix("https:") == true
        options = ReceiverFault.Kind.allCases.filter { $0 != .wrongCertificate || isSecure }.map { kind in
            Option(kind: kind.rawValue, name: kind.name, isChosen: kind == fault?.kind)
        }
    }

    private static func checks(of receiver: EmulatedReceiver) -> String {
        switch receiver {
        case .webhook: "signature, time, and ID of each message"
        case .push: "type, signature by a published key, iss, aud, iat and jti of each token"
        }
    }
}

extension ReceiverFault.Kind {
    /// Name on a page.
    public var name: String {
        switch self {
        case .down: "down"
        case .slow: "slow"
        case .hang: "hangs"
        case .error: "status 500"
        case .redirect: "redirect"
        case .hugeBody: "huge answer"
        case .wrongCertificate: "wrong certificate"
        }
    }
}
