public import EmulatorServer
public import StrictJSON
import Synchronization

extension EmulatorState {
    /// Mints an identity token as if the user had just signed in. Throws `.userNotFound`, `.noSigningKey`,
    /// `.memberIneffective`, `.tokenUnsignable` and `.keyGenerationFailed`.
    public func mint(_ recipe: IdentityTokenRecipe) async throws(EmulatorError) -> MintedIdentityToken {
        let now = now
        let (issuedAt, expiresAt) = recipe.times.resolved(nowMilliseconds: now)
        let authenticatedAt = recipe.authenticatedAt ?? issuedAt
        let code = recipe.authorizationCode.value(prefix: "c")
        let accessToken = recipe.accessToken.value(prefix: "a")
        let claims = try world.withLock { world throws(EmulatorError) in
            let basis = try world.basis(of: recipe, now: now)
            let claims = IdentityTokenClaims(
                basis: basis, nonce: recipe.nonce, authorizationCode: code, accessToken: accessToken,
                issuedAt: issuedAt, expiresAt: expiresAt, authenticatedAt: authenticatedAt)
            try recipe.forgery.checkEffect(on: claims.object, hasNamedKey: basis.keys.isNamed)
            try world.note(recipe, from: basis, code: code, authenticatedAt: authenticatedAt, now: now)
            return claims
        }
        let basis = claims.basis
        let token = try await sign(claims.object, with: basis.keys, forgery: recipe.forgery)
        let tellsUser = recipe.includesUser ?? basis.isFirstAuthorization
        return MintedIdentityToken(
            identityToken: token, subject: basis.identity.subject, clientID: basis.clientID,
            nonce: recipe.nonce,
            authorizationCode: claims.authorizationCode, accessToken: claims.accessToken,
            user: tellsUser ? FirstTimeUser(basis.user, shownTo: basis.identity) : nil)
    }

    /// Mints a notification. Throws `.userNotFound`, `.noSigningKey`, `.memberIneffective`,
    /// `.tokenUnsignable` and `.keyGenerationFailed`.
    public func mint(_ recipe: NotificationRecipe) async throws(EmulatorError) -> MintedNotification {
        let now = now
        let claims = try world.withLock { world throws(EmulatorError) in
            let basis = try world.basis(of: recipe)
            let claims = NotificationClaims(recipe: recipe, basis: basis, nowMilliseconds: now)
            try claims.checkEffect()
            world.counters.notifications += 1
            return claims
        }
        let basis = claims.basis
        let payload = try await sign(claims.object, with: basis.keys, forgery: recipe.forgery)
        return MintedNotification(
            type: basis.type, clientID: basis.clientID, subject: basis.identity.subject, payload: payload)
    }

    /// Changes a user's account, and mints a notification for each affected app.
    ///
    /// `recipe` names the user and can change the notifications; its `clientID` limits them to one app.
    /// Throws `.userNotFound`, `.noSigningKey`, `.memberIneffective`, `.tokenUnsignable` and
    /// `.keyGenerationFailed`.
    public func change(
        _ change: AccountChange, notifying recipe: NotificationRecipe = NotificationRecipe()
    ) async throws(EmulatorError) -> (user: EmulatedUser, notifications: [MintedNotification]) {
        var recipe = recipe
        recipe.type = recipe.type ?? change.notificationType.rawValue
        let (now, checked) = (self.now, recipe)
        let (user, clientIDs) = try world.withLock { world throws(EmulatorError) in
            // Checks the recipe first, so that a refused request changes nothing.
            let basis = try world.basis(of: checked)
            try NotificationClaims(recipe: checked, basis: basis, nowMilliseconds: now).checkEffect()
            return try world.change(checked.subject, change, clientID: checked.clientID)
        }
        var notifications: [MintedNotification] = []
        for clientID in clientIDs {
            recipe.clientID = clientID
            notifications.append(try await mint(recipe))
        }
        return (user, notifications)
    }

    func sign(
        _ claims: JSONObject, with keys: SigningKeys, forgery: Forgery
    ) async throws(EmulatorError) -> String {
        try await signer.sign(claims, with: keys.key, otherKey: keys.other, forgery: forgery)
    }
}

/// An identity token, and the other values that a client receives with it.
public struct MintedIdentityToken: Sendable {
    public let identityToken: String
    public let subject: String
    public let clientID: String
    public let nonce: String?
    public let authorizationCode: String?
    public let accessToken: String?
    /// Apple's unsigned `user` object, which clients receive only at the first authorization.
    public let user: FirstTimeUser?
}

/// The unsigned `user` object that Apple sends to the client at the first authorization.
public struct FirstTimeUser: Sendable, Equatable {
    public internal(set) var firstName: String?
    public internal(set) var lastName: String?
    public internal(set) var email: String?

    init(_ user: EmulatedUser, shownTo identity: TeamIdentity) {
        (firstName, lastName, email) = (user.firstName, user.lastName, user.shownEmail(to: identity))
    }
}

extension MintedIdentityToken: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("identity_token") { $0.identityToken }
        member("sub") { $0.subject }
        member("client_id") { $0.clientID }
        member("nonce") { $0.nonce }
        member("authorization_code") { $0.authorizationCode }
        member("access_token") { $0.accessToken }
        member("user", "Only at the first authorization.") { $0.user }
    }
}

/// The body of a sign-in request to this project's service.
public struct SignInBody: JSONBody {
    private let token: MintedIdentityToken
    private let clientID: String?

    /// - Parameter clientID: The app that the service must use instead of its first app.
    public init(_ token: MintedIdentityToken, clientID: String? = nil) {
        (self.token, self.clientID) = (token, clientID)
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("identity_token") { $0.token.identityToken }
        member("authorization_code") { $0.token.authorizationCode }
        member("user", "Only at the first authorization.") { $0.token.user }
        member("client_id") { $0.clientID }
    }
}

/// The object with Apple's member names, because clients forward it unchanged.
extension FirstTimeUser: JSONBody {
    private var hasName: Bool { firstName != nil || lastName != nil }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("name") { $0.hasName ? PersonName(first: $0.firstName, last: $0.lastName) : nil }
        member("email", "The address that the user shares.") { $0.email }
    }
}

private struct PersonName: JSONBody {
    let first: String?
    let last: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("firstName") { $0.first }
        member("lastName") { $0.last }
    }
}
