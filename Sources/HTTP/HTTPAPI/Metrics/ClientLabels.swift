import AppleAccounts
import AuthorizationServer

/// The values of the label `client` of metrics of OAuth: the IDs of the first 20 configured clients, `other` for
/// further clients, and `none` for requests that name no configured client.
///
/// An ID that is not configured never becomes a label, so that requests cannot add series.
struct ClientLabels: Sendable {
    /// Clients that have a label of their own.
    static let most = 20
    static let other = "other"
    static let none = "none"

    /// All labels, each once.
    let all: [String]
    private let own: Set<String>

    init(_ clients: [OAuthClient]) { self.init(ids: clients.map(\.id.rawValue)) }

    /// - Parameter ids: Distinct, in the order of the configuration.
    init(ids: [String]) {
        let first = ids.prefix(Self.most).filter { $0 != Self.other && $0 != Self.none }
        own = Set(first)
        all = first + (ids.count > first.count ? [Self.other] : []) + [Self.none]
    }

    /// - Parameter id: The ID of a configured client, or `nil`.
    func label(of id: String?) -> String {
        guard let id else { return Self.none }
        return own.contains(id) ? id : Self.other
    }
}
