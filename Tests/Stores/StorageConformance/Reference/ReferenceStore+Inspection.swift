public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Synchronization

extension ReferenceStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        state.withLock { $0.oauth.codes[digest] }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        state.withLock { $0.oauth.devices[digest] }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        state.withLock { state in
            var grants: [OAuthClientID: Int] = [:]
            var families: [OAuthClientID: Int] = [:]
            for grant in state.oauth.grants.values.prefix(most) {
                grants[grant.oauthClientID, default: 0] += 1
            }
            for family in state.oauth.families.values.prefix(most) {
                guard let grant = state.oauth.grants[family.grantID] else { continue }
                families[grant.oauthClientID, default: 0] += 1
            }
            return ClientUsage(grants: grants, families: families, lookedAt: most)
        }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        func isEarlier(_ event: GoogleEventPosition, than other: GoogleEventPosition) -> Bool {
            guard event.receivedAt == other.receivedAt else { return event.receivedAt < other.receivedAt }
            return event.jti.utf8.lexicographicallyPrecedes(other.jti.utf8)
        }
        return state.withLock { state in
            let events = state.oauth.googleEvents.values.map {
                ReceivedGoogleEvent(jti: $0.jti, payload: $0.payload, receivedAt: $0.receivedAt)
            }
            return Array(
                events.filter { isEarlier($0.position, than: position ?? .newest) }
                    .sorted { isEarlier($1.position, than: $0.position) }.prefix(limit))
        }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        state.withLock { state in
            let scan = scope == .all ? limit + 1 : max(limit + 1, InboxPage.longestScan)
            let rows = state.inbox.reversed().filter { row in number.map { row.number < $0 } ?? true }
            return InboxPage(Array(rows.prefix(scan)), scan: scan, limit: limit, visibleTo: scope)
        }
    }
}
