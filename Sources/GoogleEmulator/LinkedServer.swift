/// The URLs of the authorization server that people's accounts are linked with, as they are typed into
/// Google's console.
public struct LinkedServer: Sendable, Equatable {
    /// Also the `iss` of its security event tokens.
    public var issuer: String
    public var authorizationURL: String
    public var tokenURL: String
    public var revocationURL: String
    public var introspectionURL: String
    public var appFlipURL: String
    /// Takes Google's security event tokens.
    public var securityEventsURL: String
    /// Says where the keys of the server's security event tokens are.
    public var riscConfigurationURL: String

    /// The URLs of siwa with this issuer.
    public init(issuer: String) {
        self.issuer = issuer
        authorizationURL = "\(issuer)/oauth/authorize"
        tokenURL = "\(issuer)/oauth/token"
        revocationURL = "\(issuer)/oauth/revoke"
        introspectionURL = "\(issuer)/oauth/introspect"
        appFlipURL = "\(issuer)/v1/oauth/app-flip"
        securityEventsURL = "\(issuer)/v1/google/security-events"
        riscConfigurationURL = "\(issuer)/.well-known/risc-configuration"
    }
}
