/// A request that an attested key has signed. Only `AssertionVerifier` creates it.
public struct VerifiedAssertion: Sendable {
    public let appID: AppID
    /// Above the stored counter. It must be stored by one compare-and-set before the request is carried out.
    public let counter: UInt32
    public let extensions: AuthenticatorExtensions

    /// All values must have passed every check.
    init(appID: AppID, counter: UInt32, extensions: AuthenticatorExtensions) {
        (self.appID, self.counter, self.extensions) = (appID, counter, extensions)
    }
}
