/// Statements of a request about the app that it comes from.
public struct AppEvidence: Sendable {
    /// `nil` without a proof.
    public var proof: PostedProof?
    /// Version of the app. Any client can say any version.
    public var appVersion: String?

    public init(proof: PostedProof? = nil, appVersion: String? = nil) {
        (self.proof, self.appVersion) = (proof, appVersion)
    }
}
