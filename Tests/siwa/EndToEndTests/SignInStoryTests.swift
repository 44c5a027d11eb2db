import AppleEmulator
import StrictJSON
import Testing

/// The use of an app by one user, from the first sign-in to the end. Only Apple is simulated.
@Suite struct SignInStoryTests {
    @Test func `a user signs in, revokes the consent, and signs in again`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            let token = try system.apple.mint(Self.recipe(user))
            let first = try await system.backend.signIn(token.identityToken)
            #expect(first.status == 201)
            #expect(first["account"]?["sub"]?.string == user.subject)
            #expect(try await system.backend.credential(user.subject)["state"]?.string == "authorized")

            try await system.change(.revokeConsent, of: user)
            let revoked = try await system.backend.credential(user.subject)
            #expect(revoked["state"]?.string == "revoked")
            #expect(revoked["reason"]?.string == "consent_revoked")
            // The old token is signed and not expired, but older than the revocation.
            #expect(try await system.backend.signIn(token.identityToken).code == "credential_revoked")

            // Token times are in seconds: the new token must be from a later second.
            var recipe = Self.recipe(user)
            recipe.times.offset = 1
            let again = try await system.backend.signIn(try system.apple.mint(recipe).identityToken)
            #expect(again.status == 200)
            #expect(again["account"]?["id"] == first["account"]?["id"])
            #expect(again["credential"]?["state"]?.string == "authorized")

            let types = try await system.backend.get("/v1/events")["events"]?.array?.map {
                $0["type"]?.string
            }
            #expect(
                types == [
                    "account_created", "credential_authorized", "credential_revoked", "credential_authorized",
                ])
        }
    }

    @Test func `name, relay address and its forwarding state are stored`() async throws {
        try await WholeSystem.with { system in
            var newUser = UserRecipe()
            newUser.firstName = "Jane"
            newUser.hidesEmail = true
            let user = try system.apple.makeUser(newUser)
            let minted = try system.apple.mint(Self.recipe(user))
            let profile = JSONValue.object(
                JSONObject([("name", .object(JSONObject([("firstName", .string("Jane"))])))]))
            let first = try await system.backend.signIn(minted.identityToken, [("user", profile)])
            #expect(first["account"]?["first_name"]?.string == "Jane")
            #expect(first["account"]?["is_private_email"]?.bool == true)
            #expect(first["account"]?["email_forwarding"]?.string == "unknown")
            try await system.change(.disableForwarding, of: user)
            #expect(try await system.backend.account(user.subject)["email_forwarding"]?.string == "disabled")
            try await system.change(.enableForwarding, of: user)
            #expect(try await system.backend.account(user.subject)["email_forwarding"]?.string == "enabled")
        }
    }

    @Test func `a deleted Apple Account ends every credential`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            _ = try await system.backend.signIn(try system.apple.mint(Self.recipe(user)).identityToken)
            try await system.change(.deleteAccount, of: user)
            let credential = try await system.backend.credential(user.subject)
            #expect(credential["state"]?.string == "revoked")
            #expect(credential["reason"]?.string == "apple_account_deleted")
        }
    }

    @Test func `a notification that arrives before its sign-in is not lost`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            let token = try system.apple.mint(Self.recipe(user))
            try await system.change(.revokeConsent, of: user)
            #expect(try await system.backend.credential(user.subject)["state"]?.string == "revoked")
            #expect(try await system.backend.signIn(token.identityToken).code == "credential_revoked")
        }
    }

    @Test func `a nonce of the service can be used for one sign-in`() async throws {
        try await WholeSystem.with { system in
            let minted = try await system.backend.post("/v1/nonces")
            let nonce = try #require(minted["nonce"]?.string)
            var recipe = IdentityTokenRecipe()
            recipe.nonce = minted["nonce_sha256"]?.string
            let token = try system.apple.mint(recipe).identityToken
            #expect(try await system.backend.signIn(token, [("nonce", .string(nonce))]).status == 201)
            #expect(try await system.backend.signIn(token, [("nonce", .string(nonce))]).code == "nonce_used")
        }
    }

    static func recipe(_ user: EmulatedUser) -> IdentityTokenRecipe {
        var recipe = IdentityTokenRecipe()
        recipe.subject = user.subject
        return recipe
    }
}

extension WholeSystem {
    /// A change of the user's account at Apple, with its notifications.
    func change(_ change: AccountChange, of user: EmulatedUser) async throws {
        var recipe = NotificationRecipe()
        recipe.subject = user.subject
        let (_, notifications) = try apple.change(change, notifying: recipe)
        for notification in notifications {
            let response = try await backend.notify(notification.payload)
            #expect(response.status == 200)
        }
    }
}
