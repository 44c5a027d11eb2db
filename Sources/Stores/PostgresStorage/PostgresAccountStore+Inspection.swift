public import AppleAccounts
public import AuthorizationServer
public import Cryptography

extension PostgresAccountStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        try await pool.run { try InspectionRows.code(withDigest: digest, in: $0) }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await pool.run { try DeviceRows.find(digest: digest, in: $0) }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        try await pool.run { try InspectionRows.clientUsage(lookingAt: most, in: $0) }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        try await pool.run { try InspectionRows.googleEvents(before: position, limit: limit, in: $0) }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        try await pool.run {
            try InspectionRows.notifications(before: number, limit: limit, visibleTo: scope, in: $0)
        }
    }
}
