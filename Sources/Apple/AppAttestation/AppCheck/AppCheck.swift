/// App Check of this process: the policies, and the counts of what they decided.
public struct AppCheck: Sendable {
    public let policies: AppCheckPolicies
    public let counts: AppCheckCounts

    public init(_ policies: AppCheckPolicies = .none) {
        self.policies = policies
        counts = AppCheckCounts(of: policies)
    }

    /// Judges a request and counts it. Does nothing without a policy, and when its mode is `off`.
    ///
    /// - Parameters:
    ///   - policy: A policy of `policies`.
    ///   - appVersion: The member `app_version` of the request.
    ///   - now: Seconds since 1970.
    /// - Throws: The refusal of enforced mode.
    public func judge(
        _ proof: AppCheckProof, by policy: AppCheckPolicy?, appVersion: String?, at now: Int64
    ) throws(AppCheckRefusal) {
        guard let policy, let decision = policy.decision(on: proof, appVersion: appVersion) else { return }
        counts.add(decision.kind, for: policy.target, at: now)
        if let refusal = decision.refusal { throw refusal }
    }
}
