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

    public func googleEvents(before moment: Moment?, limit: Int) async throws -> [ReceivedGoogleEvent] {
        state.withLock { state in
            state.oauth.googleEvents.values
                .filter { event in moment.map { event.receivedAt < $0 } ?? true }
                .sorted { $0.receivedAt > $1.receivedAt }.prefix(limit)
                .map {
                    ReceivedGoogleEvent(jti: $0.jti, payload: $0.payload, receivedAt: $0.receivedAt)
                }
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
