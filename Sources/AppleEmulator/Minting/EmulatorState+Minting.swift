import JOSE
import Synchronization

extension EmulatorState {
    /// Mints as if the user had just signed in. Throws `.userNotFound`, `.noSigningKey` and
    /// `.tokenUnsignable`.
    public func mint(_ recipe: IdentityTokenRecipe) throws(EmulatorError) -> MintedIdentityToken {
        let now = now
        let (issuedAt, expiresAt) = recipe.times.resolved(nowMilliseconds: now)
        let authenticatedAt = recipe.authenticatedAt ?? issuedAt
        let code = recipe.authorizationCode.value(prefix: "c")
        let basis = try world.withLock { world throws(EmulatorError) in
            try world.beginMinting(recipe, code: code, authenticatedAt: authenticatedAt, now: now)
        }
        let claims = IdentityTokenClaims(
            basis: basis, nonce: recipe.nonce, authorizationCode: code,
            accessToken: recipe.accessToken.value(prefix: "a"), issuedAt: issuedAt, expiresAt: expiresAt,
            authenticatedAt: authenticatedAt)
        let token = try sign(claims.object, with: basis.keys, forgery: recipe.forgery)
        let tellsUser = recipe.includesUser ?? basis.isFirstAuthorization
        return MintedIdentityToken(
            identityToken: token, subject: basis.identity.subject, clientID: basis.clientID,
            nonce: recipe.nonce,
            authorizationCode: claims.authorizationCode, accessToken: claims.accessToken,
            user: tellsUser ? FirstTimeUser(basis.user, shownTo: basis.identity) : nil)
    }

    /// Throws `.userNotFound`, `.noSigningKey` and `.tokenUnsignable`.
    public func mint(_ recipe: NotificationRecipe) throws(EmulatorError) -> MintedNotification {
        let basis = try world.withLock { world throws(EmulatorError) in try world.beginMinting(recipe) }
        let claims = NotificationClaims(recipe: recipe, basis: basis, nowMilliseconds: now)
        let payload = try sign(claims.object, with: basis.keys, forgery: recipe.forgery)
        return MintedNotification(type: basis.type, clientID: basis.clientID, payload: payload)
    }

    /// Does what the user asked Apple for, and builds the notifications that follow: one per app concerned.
    ///
    /// `recipe` names the user and bends the notifications; its `clientID` narrows them to one app. Throws
    /// `.userNotFound`, `.noSigningKey` and `.tokenUnsignable`.
    public func change(
        _ change: AccountChange, notifying recipe: NotificationRecipe = NotificationRecipe()
    ) throws(EmulatorError) -> (user: EmulatedUser, notifications: [MintedNotification]) {
        let (user, clientIDs) = try world.withLock { world throws(EmulatorError) in
            try world.change(recipe.subject, change, clientID: recipe.clientID)
        }
        var notifications: [MintedNotification] = []
        for clientID in clientIDs {
            var recipe = recipe
            recipe.type = recipe.type ?? change.notificationType.rawValue
            recipe.clientID = clientID
            notifications.append(try mint(recipe))
        }
        return (user, notifications)
    }

    func sign(
        _ claims: JSONObject, with keys: SigningKeys, forgery: Forgery
    ) throws(EmulatorError) -> String {
        try signer.sign(claims, with: keys.key, otherKey: keys.other, forgery: forgery)
    }
}
