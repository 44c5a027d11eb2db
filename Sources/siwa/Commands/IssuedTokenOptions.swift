import AppleAccounts
import ArgumentParser
import AuthorizationServer
import Inspection

/// The options of `siwa verify` for tokens that this service has issued.
struct IssuedTokenOptions: ParsableArguments {
    @Option(help: "The issuer of the token, as its service has it: SIWA_PUBLIC_URL or oauth.issuer.")
    var issuer: String?

    @Flag(
        name: .customLong("database"),
        help:
            "Look the token family up in the database of this machine's configuration. A SQLite file that the service has open cannot be read."
    )
    var readsDatabase = false

    var isEmpty: Bool { issuer == nil && !readsDatabase }

    /// Throws `ValidationError` for an option that is missing, or for another kind.
    func check(_ kind: IssuedTokenKind) throws {
        switch kind {
        case .refreshToken, .authorizationCode, .deviceCode, .userCode:
            if issuer != nil {
                throw ValidationError("A \(kind.rawValue) names no issuer; leave --issuer out.")
            }
        case .accessToken, .idToken, .securityEvent:
            if issuer == nil { throw ValidationError("Give --issuer, the issuer of the token.") }
        }
        if readsDatabase, !kind.checks.contains(.family), !kind.checks.contains(.code) {
            throw ValidationError("--database is for access tokens, refresh tokens and codes.")
        }
    }

    /// The key set of the issuer.
    var keySetURL: String? {
        guard let issuer else { return nil }
        return issuer.hasSuffix("/") ? "\(issuer)oauth/jwks.json" : "\(issuer)/oauth/jwks.json"
    }
}
