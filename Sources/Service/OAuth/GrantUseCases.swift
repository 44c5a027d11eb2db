public import AppleAccounts
public import AuthorizationServer
import Commits
import SignIn

/// Use cases for an app's backend: lists and ends an account's grants.
public struct GrantUseCases: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// A grant and its client; the client is `nil` if it is no longer configured.
    public struct Listed: Sendable {
        public let grant: GrantRecord
        public let client: OAuthClient?
    }

    /// Returns an account's grants for the apps that the caller has access to, the oldest grant first.
    ///
    /// - Throws: `AccountRefusal` with the code `account_not_found`; `StorageError`.
    public func grants(of id: String, allowed: AppScope) async throws -> [Listed] {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        return try await server.dependencies.store.grants(of: account.id)
            .filter { allowed.allows($0.clientID) }
            .sorted { ($0.createdAt, $0.id.uniqueID) < ($1.createdAt, $1.id.uniqueID) }
            .map { Listed(grant: $0, client: server.settings.clients[$0.oauthClientID]) }
    }

    /// Ends a grant and all of its tokens, because the user has unlinked the client in the app.
    ///
    /// - Throws: `GrantNotFound`; `AccountRefusal` with the code `account_not_found`; `StorageError`,
    ///   `OverloadedError`.
    public func end(_ grantID: String, of id: String, allowed: AppScope) async throws {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        guard let grantID = GrantID(grantID) else { throw GrantNotFound() }
        let command = EndGrantCommand(
            grantID: grantID, accountID: account.id, scope: allowed, reason: .unlinked,
            moment: server.now())
        do {
            _ = try await server.dependencies.commits.submit(command)
        } catch is GrantRefusal {
            // To the caller, a grant for an inaccessible app looks like a missing grant.
            throw GrantNotFound()
        }
    }

    /// Ends all of an account's grants for the apps that the caller has access to. Does nothing if the
    /// account has no grants.
    ///
    /// - Throws: `AccountRefusal` with the code `account_not_found`; `StorageError`, `OverloadedError`.
    public func endAll(of id: String, allowed: AppScope) async throws {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        _ = try await server.dependencies.commits.submit(
            EndGrantsCommand(
                accountID: account.id, scope: allowed, reason: .unlinked, moment: server.now()))
    }

    /// Signs a user out everywhere. The service reports Google's ended tokens to Google.
    ///
    /// - Parameter endsGoogleLinks: True if the user's links with Google end too. By default they remain,
    ///   because a user who signs out of the app expects Google's devices to keep working.
    /// - Throws: `CallerForbidden`; `AccountRefusal` with the code `account_not_found`; `StorageError`,
    ///   `OverloadedError`.
    public func signOut(_ id: String, endsGoogleLinks: Bool, allowed: AppScope) async throws -> Account {
        let google = server.settings.clients.clients.filter { $0.googleLinking != nil }.map(\.id)
        return try await server.dependencies.signIn.signOut(
            id: id, keeping: endsGoogleLinks ? [] : Set(google), allowed: allowed)
    }
}

/// The account does not have this grant, or the caller may not see the grant.
public struct GrantNotFound: Error, Sendable, Equatable {}
