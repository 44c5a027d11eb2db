/// App Check of all targets. It does not change while the service runs.
public struct AppCheckPolicies: Sendable {
    /// In the order of the configuration, those with the mode `off` too.
    public let all: [AppCheckPolicy]
    private let indexByTarget: [AppCheckTarget: Int]
    /// True if the requests of some app are judged by its bundle ID.
    public let judgesApps: Bool

    /// Without targets: nothing is judged.
    public static let none = AppCheckPolicies([])

    /// - Parameter policies: Of distinct targets; of equal targets the first remains.
    public init(_ policies: [AppCheckPolicy]) {
        var index: [AppCheckTarget: Int] = [:]
        var kept: [AppCheckPolicy] = []
        for policy in policies where index[policy.target] == nil {
            index[policy.target] = kept.count
            kept.append(policy)
        }
        (all, indexByTarget) = (kept, index)
        judgesApps = kept.contains { $0.target.kind == .app && $0.mode != .off }
    }

    public subscript(target: AppCheckTarget) -> AppCheckPolicy? { indexByTarget[target].map { all[$0] } }

    /// Returns the policy of a bundle ID, which is the `aud` of the app's identity tokens.
    public func ofApp(_ bundleID: String) -> AppCheckPolicy? { self[.app(bundleID: bundleID)] }

    /// Returns the policies of these bundle IDs, and of the OAuth clients that belong to them.
    public func of(bundleIDs: Set<String>) -> [AppCheckPolicy] {
        all.filter { bundleIDs.contains($0.appID.bundleID) }
    }

    /// Returns the strictest policy of bundle IDs of one app; `nil` where none of them is judged.
    public func strictest(of bundleIDs: [String]) -> AppCheckPolicy? {
        bundleIDs.compactMap { ofApp($0) }.filter { $0.mode != .off }.max { $0.mode < $1.mode }
    }

    public func ofOAuthClient(_ id: String) -> AppCheckPolicy? { self[.oauthClient(id: id)] }
}
