public import EmulatorServer
import JOSE
import StrictJSON
import Synchronization

extension EmulatorState {
    public var clientKeys: [ClientKey] { world.withLock { $0.clientKeys.keys } }

    /// Registers a key. The team's other keys stay valid. Throws `.keyExists` and `.tooManyKeys`.
    public func addClientKey(_ key: ClientKey) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.clientKeys.add(key) }
    }

    /// Removes a key: client secrets signed with it are then refused. Throws `.keyNotFound`.
    public func removeClientKey(_ keyID: String, of teamID: String) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.clientKeys.remove(keyID, of: teamID) }
    }

    /// Signs a client secret, for manual calls. Throws `.keyNotFound` without a private key, and
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

/// The content of a client secret that the emulator signs. The default gives an accepted client secret.
public struct ClientSecretRecipe: Sendable {
    /// Default: the primary client ID of the first app.
    public var clientID: String?
    /// Default: the owner of the client ID.
    public var teamID: String?
    /// Default: the team's newest key whose private key is known.
    public var keyID: String?
    public var times = TokenTimes()

    public init() {
        times.lifetime = 3600
    }
}
