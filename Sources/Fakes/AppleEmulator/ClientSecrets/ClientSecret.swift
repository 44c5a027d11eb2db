public import EmulatorServer
import Encodings
import JOSE
import StrictJSON
import Synchronization

/// A client secret from a request: a JWT in compact serialization, parsed but not yet verified.
struct ClientSecret {
    /// Maximum length in bytes. Real client secrets are about 300 bytes long.
    private static let longest = 4096

    let keyID: String
    let claims: JSONObject
    let signature: [UInt8]
    let signedBytes: [UInt8]

    /// Parses a client secret. Throws `invalid_client` unless the text is an ES256 token with a key ID.
    init(_ compact: String) throws(OAuthError) {
        let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard compact.utf8.count <= Self.longest, segments.count == 3,
            let header = Self.object(segments[0]), let claims = Self.object(segments[1]),
            let signature = Base64URL.decode(String(segments[2]))
        else {
            throw OAuthError(.invalidClient, "client_secret is not a signed JWT")
        }
        guard header["alg"] == .string("ES256") else {
            throw OAuthError(.invalidClient, "client_secret: alg must be ES256")
        }
        guard header["crit"] == nil else {
            throw OAuthError(.invalidClient, "client_secret: crit is not supported")
        }
        guard let keyID = header["kid"]?.string else {
            throw OAuthError(.invalidClient, "client_secret: the header has no kid")
        }
        (self.keyID, self.claims, self.signature) = (keyID, claims, signature)
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    private static func object(_ segment: Substring) -> JSONObject? {
        guard let bytes = Base64URL.decode(String(segment)) else { return nil }
        return try? JSONValue(parsing: bytes).object
    }
}

/// Verifies that a client secret authenticates a client ID (Apple, "Creating a client secret").
///
/// Every error is `invalid_client`, as at Apple. Unlike Apple, the emulator adds a description of the cause,
/// which no program may depend on.
struct ClientSecretCheck {
    /// Maximum time from now to `exp` in seconds: six months.
    static let longestLife: Int64 = 15_777_000

    let clientID: String
    /// The teams that may authenticate as the client ID: its owner and, during a transfer, its former owner.
    let teamIDs: [String]
    let keys: ClientKeyRing
    /// Current time in seconds since 1970.
    let now: Int64

    /// Returns the team that signed the secret. Throws `invalid_client` if the secret is not valid.
    func check(_ secret: ClientSecret) throws(OAuthError) -> String {
        let claims = secret.claims
        guard let issuer = claims["iss"]?.string, let teamID = teamIDs.first(where: issuer.isByteEqual(to:))
        else {
            throw refusal("iss is not the team that the client_id belongs to")
        }
        guard claims["sub"]?.string?.isByteEqual(to: clientID) == true else {
            throw refusal("sub is not the client_id")
        }
        guard claims["aud"] == .string(IdentityTokenClaims.issuer) else {
            throw refusal("aud is not \(IdentityTokenClaims.issuer)")
        }
        // `iat` is checked only if present, because Apple accepts secrets without `iat`.
        if let claim = claims["iat"] {
            guard let issuedAt = claim.integer else { throw refusal("iat is not an integer") }
            guard issuedAt <= now else { throw refusal("iat is in the future") }
        }
        guard let expiresAt = claims["exp"]?.integer else { throw refusal("exp is not an integer") }
        guard expiresAt > now else { throw refusal("it has expired") }
        guard expiresAt <= now + Self.longestLife else {
            throw refusal("exp is more than \(Self.longestLife) s ahead")
        }
        guard let key = keys.key(secret.keyID, of: teamID) else {
            throw refusal("the team has no key with this kid")
        }
        guard key.publicKey.isValidSignature(secret.signature, for: secret.signedBytes[...]) else {
            throw refusal("the signature is not by this key, or not in the raw form of 64 bytes")
        }
        return teamID
    }

    private func refusal(_ cause: String) -> OAuthError {
        OAuthError(.invalidClient, "client_secret: \(cause)")
    }
}

extension EmulatorState {
    public var clientKeys: [ClientKey] { world.withLock { $0.clientKeys.keys } }

    /// Registers a key. The team's other keys remain valid. Throws `.keyExists` and `.tooManyKeys`.
    public func addClientKey(_ key: ClientKey) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.clientKeys.add(key) }
    }

    /// Removes a key, so that client secrets signed with it are refused. Throws `.keyNotFound`.
    public func removeClientKey(_ keyID: String, of teamID: String) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.clientKeys.remove(keyID, of: teamID) }
    }

    /// Signs a client secret, for manual calls. Throws `.keyNotFound` if no private key is known, and
    /// `.tokenUnsignable`.
    public func sign(_ recipe: ClientSecretRecipe) throws(EmulatorError) -> String {
        let (key, teamID, clientID) = try world.withLock { world throws(EmulatorError) in
            let clientID = recipe.clientID ?? world.apps[0].primaryClientID
            let teamID = recipe.teamID ?? world.app(of: clientID)?.teamID ?? world.apps[0].teamID
            let named = recipe.keyID.flatMap { world.clientKeys.key($0, of: teamID) }
            let key = recipe.keyID == nil ? world.clientKeys.signingKey(of: teamID) : named
            guard let key, key.privateKeyPEM != nil else {
                throw EmulatorError(.keyNotFound, detail: "the private key of this team is not known")
            }
            return (key, teamID, clientID)
        }
        let (issuedAt, expiresAt) = recipe.times.resolved(nowMilliseconds: now)
        let claims = JSONObject([
            ("iss", .string(teamID)), ("iat", .integer(issuedAt)), ("exp", .integer(expiresAt)),
            ("aud", .string(IdentityTokenClaims.issuer)), ("sub", .string(clientID)),
        ])
        do {
            return try JWTSigner.sign(
                claims: claims, keyID: key.keyID, algorithm: .ES256, key: key.privateKeyPEM ?? "")
        } catch {
            throw EmulatorError(.tokenUnsignable, detail: "libjwt failed: \(error.detail)")
        }
    }
}

/// The content of a client secret that the emulator signs. With the default values, the client secret is
/// accepted.
public struct ClientSecretRecipe: Sendable {
    /// Client ID. Default: the first app's primary client ID.
    public var clientID: String?
    /// Team ID. Default: the team that owns the client ID.
    public var teamID: String?
    /// Key ID. Default: the team's newest key whose private key is known.
    public var keyID: String?
    public var times = TokenTimes()

    public init() {
        times.lifetime = 3600
    }
}
