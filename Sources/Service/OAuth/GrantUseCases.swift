public import AppleAccounts
public import AuthorizationServer
import Commits
import SignIn

/// Use cases for an app's backend: listing and ending the grants of an account.
public struct GrantUseCases: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// A grant, and its client from the configuration; `nil` for a client that is not configured any more.
    public struct Listed: Sendable {
        public let grant: GrantRecord
        public let client: OAuthClient?
    }

    /// Returns the grants of an account for the apps that the caller may see, the oldest first.
    ///
    /// - Throws: `AccountRefusal` `account_not_found`, `StorageError`.
    public func grants(of id: String, allowed: AppScope) async throws -> [Listed] {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        return try await server.dependencies.store.grants(of: account.id)
            .filter { allowed.allows($0.clientID) }
            .sorted { ($0.createdAt, $0.id.uniqueID) < ($1.createdAt, $1.id.uniqueID) }
            .map { Listed(grant: $0, client: server.settings.clients[$0.oauthClientID]) }
    }

    /// Ends a grant with all of its tokens, because the user has unlinked in the app.
    ///
    /// - Throws: `GrantNotFound`; `AccountRefusal` `account_not_found`; `StorageError`, `OverloadedError`.
    public func end(_ grantID: String, of id: String, allowed: AppScope) async throws {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        guard let grantID = GrantID(grantID) else { throw GrantNotFound() }
        let command = EndGrantCommand(
            grantID: grantID, accountID: account.id, scope: allowed, reason: .unlinked,
            moment: server.now())
        do {
            _ = try await server.dependencies.commits.submit(command)
        } catch is GrantRefusal {
            // A grant of an app that the caller may not see does not exist for the caller.
            throw GrantNotFound()
        }
    }

    /// Ends all grants of an account for the apps that the caller
    /// may see. Returns normally if the account has no grants.
    ///
    /// - Throws: `AccountRefusal` `account_not_found`; `StorageError`, `OverloadedError`.
    public func endAll(of id: String, allowed: AppScope) async throws {
        let account = try await server.dependencies.signIn.account(id: id, allowed: allowed)
        _ = try await server.dependencies.commits.submit(
            EndGrantsCommand(
                accountID: account.id, scope: allowed, reason: .unlinked, moment: server.now()))
    }

    /// Signs a user out everywhere. Reports ended tokens of Google to Google.
    ///
    /// - Parameter endsGoogleLinks: True if the links with Google end too. They stay otherwise, because a user
    ///   who signs out of the app expects Google's devices to work on.
    /// - Throws: `CallerForbidden`; `AccountRefusal` `account_not_found`; `StorageError`, `OverloadedError`.
    public func signOut(_ id: String, endsGoogleLinks: Bool, allowed: AppScope) async throws -> Account {
        let google = server.settings.clients.clients.filter { $0.googleLinking != nil }.map(\.id)
        return try await server.dependencies.signIn.signOut(
            id: id, keeping: endsGoogleLinks ? [] : Set(google), allowed: allowed)
    }
}

/// The account has no such grant, or the caller may not see it.
public struct GrantNotFound: Error, Sendable, Equatable {}
