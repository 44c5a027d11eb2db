public import AppleAccounts
public import AuthorizationServer
public import Cryptography

extension SQLiteAccountStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        try await reader.read { try $0.oauth().code(withDigest: digest) }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await reader.read { try $0.oauth().device(withDigest: digest) }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        try await reader.read { try $0.oauth().inspection.clientUsage(lookingAt: most) }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        try await reader.read { try $0.oauth().inspection.googleEvents(before: position, limit: limit) }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        try await reader.read {
            try $0.oauth().inspection.notifications(before: number, limit: limit, visibleTo: scope)
        }
    }
}
