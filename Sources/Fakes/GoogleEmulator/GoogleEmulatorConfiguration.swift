import EmulatorServer

/// The configuration of the fake Google.
public struct GoogleEmulatorConfiguration: Sendable {
    public var host = "127.0.0.1"
    /// Port; 0 lets the system choose one, which `GoogleEmulatorService.port()` then returns.
    public var port = 0
    /// Host names accepted in addition to loopback names and `host`. Requests with any other `Host` are
    /// refused, because a web page can make its own name resolve to this machine.
    public var hostNames: [String] = []
    /// The project in Google's console, which is part of the redirect URI.
    public var projectID = "fake-project"
    /// Google's client ID at the authorization server.
    public var clientID: String
    public var clientSecret: String
    /// Value of `aud` in Google's own tokens.
    public var googleClientID = "123-fake.apps.googleusercontent.com"
    /// Scopes that Google requests by default.
    public var scopes: [String]
    /// The authorization server. It can also be set later, once its port is known.
    public var server: LinkedServer?
    /// The API key of the app's backend, for introspection and App Flip. Without an API key, introspection
    /// uses Google's own client, and App Flip is not possible.
    public var apiKey: String?
    /// URL of the fake Apple. The emulated iPhone app gets identity tokens from it.
    public var appleURL: String?
    /// The first signing key, unless the state file contains keys. Default: a new key.
    public var key: GoogleKey?
    /// File that keeps links, events and keys across restarts. If it is `nil`, they are kept only in memory.
    public var stateFile: String?

    public init(clientID: String, clientSecret: String, scopes: [String] = []) {
        (self.clientID, self.clientSecret, self.scopes) = (clientID, clientSecret, scopes)
    }

    /// Checks the values. Throws `.configurationInvalid` if a value is out of bounds.
    func check() throws(EmulatorError) {
        try EmulatorListener.check(port: port, hostNames: hostNames)
        let isPath = projectID.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard isPath, (1...64).contains(projectID.utf8.count) else {
            throw EmulatorError(
                .configurationInvalid, detail: "the project must be 1 to 64 of a-z, 0-9 and '-'")
        }
    }
}

/// The authorization server whose accounts Google links, as URLs entered in Google's console.
public struct LinkedServer: Sendable, Equatable {
    /// Issuer, which is also the `iss` of the server's security event tokens.
    public var issuer: String
    public var authorizationURL: String
    public var tokenURL: String
    public var revocationURL: String
    public var introspectionURL: String
    public var appFlipURL: String
    /// URL of the endpoint that receives Google's security event tokens.
    public var securityEventsURL: String
    /// URL of the document that contains the key set's URL for the server's security event tokens.
    public var riscConfigurationURL: String

    /// Creates the URLs for a siwa with this issuer.
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
